// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
#include "bench/research/mheta/stage_times.h"

#include <algorithm>
#include <cmath>

namespace hetsort::research {
namespace {

double bytes_of(const ProgramVariable& variable, const NodeRows& rows) {
  return variable.distributed ? variable.bytes * rows.of(variable.side) : variable.bytes;
}

/// Passes over a variable in a tile: a block has at least one row.
double passes_of(const ProgramVariable& variable, const NodeRows& rows, const MemoryDivision& memory, double tiles) {
  const double passes = std::ceil(memory.passes / tiles);
  return std::min(passes, std::max(1.0, variable.distributed ? rows.of(variable.side) : variable.bytes));
}

}  // namespace

MemoryDivision divide_memory(const ProgramModel& model, std::size_t node, const NodeRows& rows) {
  const Program& program = model.program();
  MemoryDivision division{.kept = 0, .passes = 1, .spare_bytes = model.overheads(node).memory_bytes};
  for (const std::size_t variable : model.keep_order()) {
    if (program.variables[variable].storage == Storage::kFile) break;
    const double bytes = bytes_of(program.variables[variable], rows);
    if (bytes > division.spare_bytes) break;
    division.spare_bytes -= bytes;
    ++division.kept;
  }
  double wanted = 0;
  for (std::size_t place = division.kept; place < model.keep_order().size(); ++place) {
    const std::size_t variable = model.keep_order()[place];
    wanted += model.buffers(variable) * bytes_of(program.variables[variable], rows);
  }
  if (wanted > division.spare_bytes)
    division.passes = division.spare_bytes > 0 ? std::ceil(wanted / division.spare_bytes) : kUnlimited;
  return division;
}

double in_core_rows(const ProgramModel& model, std::size_t node) {
  double left = model.overheads(node).memory_bytes;
  double row = 0;
  for (const ProgramVariable& variable : model.program().variables) {
    if (variable.storage == Storage::kFile) continue;
    if (variable.distributed)
      row += variable.bytes;
    else
      left -= variable.bytes;
  }
  return row > 0 ? std::max(0.0, left) / row : kUnlimited;
}

partition::NodeTimes stage_times(const ProgramModel& model, const StageOfNode& of, const NodeRows& rows,
                                 const MemoryDivision& memory) {
  partition::NodeTimes times;
  // T_phi' = T_phi W' / W
  times.computing = model.computing(of.number, of.node, rows.of(of.stage.side)) / of.tiles;
  const auto& variables = model.program().variables;
  if (memory.kept == variables.size()) return times;  // T_psi(m) = 0 for all m
  const NodeOverheads& overheads = model.overheads(of.node);
  const auto amount = [&](const ProgramVariable& variable) {
    return (variable.distributed ? rows.of(variable.side) : 1.0) / of.tiles;
  };
  for (const std::size_t place : of.stage.reads) {
    if (!on_disk(model, place, memory)) continue;
    const double passes = passes_of(variables[place], rows, memory, of.tiles);
    const double reading = amount(variables[place]) * model.read_seconds(place, of.node);  // N_L T_r
    if (of.stage.io == IoMode::kPrefetch) {
      const double seen = std::max(0.0, reading - times.computing);  // N_L max(0, T_r - T_A)
      times.reading += passes * (overheads.read + overheads.prefetch) + reading / passes + (passes - 1) * seen / passes;
    } else {
      times.reading += passes * overheads.read + reading;
    }
  }
  for (const std::size_t place : of.stage.writes) {
    if (!on_disk(model, place, memory)) continue;
    times.writing += passes_of(variables[place], rows, memory, of.tiles) * overheads.write +
                     amount(variables[place]) * model.write_seconds(place, of.node);
  }
  return times;
}

StreamLoad stream_load(const ProgramModel& model, const StageOfNode& of, const NodeRows& rows, const NodeRows& disk,
                       double disk_excess) {
  StreamLoad load;
  load.computing = model.computing(of.number, of.node, rows.of(of.stage.side)) / of.tiles;
  const auto& variables = model.program().variables;
  const auto amount = [&](const ProgramVariable& variable) {
    if (variable.storage == Storage::kExcess) return disk_excess / of.tiles;
    return (variable.distributed ? disk.of(variable.side) : 1.0) / of.tiles;
  };
  for (const std::size_t place : of.stage.reads)
    load.reading += amount(variables[place]) * model.read_seconds(place, of.node);
  for (const std::size_t place : of.stage.writes)
    load.writing += amount(variables[place]) * model.write_seconds(place, of.node);
  return load;
}

double excess_rows(const ProgramModel& model, std::size_t node, const NodeRows& rows) {
  double held = kUnlimited;
  RowSide side = RowSide::kInput;
  for (const ProgramVariable& variable : model.program().variables) {
    if (variable.storage != Storage::kExcess) continue;
    held = std::floor(model.overheads(node).memory_bytes / variable.bytes);
    side = variable.side;
  }
  return std::max(0.0, rows.of(side) - held);
}

}  // namespace hetsort::research
