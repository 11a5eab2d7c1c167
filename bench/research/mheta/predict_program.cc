// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
#include "bench/research/mheta/predict_program.h"

#include <algorithm>
#include <cassert>

#include "bench/research/mheta/communication.h"

namespace hetsort::research {
namespace {

bool streams(const ProgramSection& section) {
  return std::ranges::any_of(section.stages, [](const ProgramStage& stage) { return stage.io == IoMode::kStreaming; });
}

/// T_tau = sum of T_gamma over the stages of a section, without those that stream.
partition::NodeTimes stages_of_node(const ProgramModel& model, const SectionOfProgram& of, std::size_t node,
                                    const NodeRows& rows, const MemoryDivision& memory) {
  partition::NodeTimes sum;
  for (std::size_t i = 0; i < of.section.stages.size(); ++i) {
    const ProgramStage& stage = of.section.stages[i];
    if (stage.io == IoMode::kStreaming) continue;
    const partition::NodeTimes one = stage_times(model, {stage, of.first_stage + i, node}, rows, memory);
    sum.computing += one.computing;
    sum.reading += one.reading;
    sum.writing += one.writing;
  }
  return sum;
}

void run_stages(const ProgramModel& model, const SectionOfProgram& of, ProgramClocks& state,
                std::vector<partition::NodeTimes>& times) {
  for (const std::size_t node : state.active) {
    const partition::NodeTimes one = stages_of_node(model, of, node, state.rows[node], state.memory[node]);
    times[node].computing += one.computing;
    times[node].reading += one.reading;
    times[node].writing += one.writing;
    state.clock[node] += one.seconds();
  }
}

void run_section(const ProgramModel& model, const SectionOfProgram& of, ProgramClocks& state,
                 std::vector<partition::NodeTimes>& times) {
  const Communication communication = of.section.communication;
  if (communication != Communication::kPipeline) run_stages(model, of, state, times);
  if (communication != Communication::kAllToAll && streams(of.section)) stream_stages(model, of, state, times);
  switch (communication) {
    case Communication::kNone:
      return;
    case Communication::kNearestNeighbour:
      return exchange_with_neighbours(model, of, state, times);
    case Communication::kReduction:
      return reduce_values(model, of, state, times);
    case Communication::kPipeline:
      return run_pipeline(model, of, state, times);
    case Communication::kAllToAll:
      return exchange_among_all(model, of, state, times);
  }
}

/// Calls `visit` for each section.
template <typename Visit>
void each_section(const Program& program, Visit visit) {
  std::size_t first_stage = 0;
  for (std::size_t number = 0; number < program.sections.size(); ++number) {
    visit(SectionOfProgram{program.sections[number], number, first_stage});
    first_stage += program.sections[number].stages.size();
  }
}

/// Seconds of a node in the communication of a section, without waiting.
double messages_of_node(const ProgramModel& model, const SectionOfProgram& of, std::size_t node,
                        const MemoryDivision& memory) {
  const auto nodes = static_cast<double>(model.nodes());
  const MessageCost cost = message_cost(model, of.section, node, memory);
  const bool first = node == 0;
  const bool last = node + 1 == model.nodes();
  const double neighbours = (first ? 0 : 1) + (last ? 0 : 1);
  const auto tiles = static_cast<double>(of.section.tiles);
  switch (of.section.communication) {
    case Communication::kNearestNeighbour:
      return neighbours * (cost.send + cost.receive);
    case Communication::kReduction:
      if (first) return (nodes - 1) * (cost.send + cost.receive) + model.reduce_seconds(of.number, node);
      return cost.send + cost.receive;
    case Communication::kPipeline:
      return tiles * ((last ? 0 : cost.send) + (first ? 0 : cost.receive));
    default:
      return 0;
  }
}

/// The seconds of a section on a node that never waits: its streaming stages and its messages of an all-to-all.
double alone_in(const ProgramModel& model, const SectionOfProgram& of, std::size_t node, const NodeRows& rows) {
  StreamLoad sum;
  for (std::size_t i = 0; i < of.section.stages.size(); ++i) {
    const ProgramStage& stage = of.section.stages[i];
    if (stage.io != IoMode::kStreaming) continue;
    const StreamLoad one =
        stream_load(model, {stage, of.first_stage + i, node}, rows, rows, excess_rows(model, node, rows));
    sum.computing += one.computing;
    sum.reading += one.reading;
    sum.writing += one.writing;
  }
  double processor = sum.computing;
  double link = 0;
  if (of.section.communication == Communication::kAllToAll) {
    const NodeOverheads& overheads = model.overheads(node);
    const auto all = static_cast<double>(std::max<std::int64_t>(1, model.program().rows));
    const double bytes = of.section.bytes_per_row * rows.input * std::max(0.0, 1 - rows.output / all);
    const auto others = static_cast<double>(model.nodes() - 1);
    processor += bytes * (overheads.message.in + overheads.message.out) + others * (overheads.send + overheads.receive);
    link = bytes * std::max(overheads.link_in, overheads.link_out);
  }
  return std::max({processor, link, sum.reading + sum.writing});
}

}  // namespace

partition::ProgramPrediction predict_program(const ProgramModel& model, std::span<const std::int64_t> input,
                                             std::span<const std::int64_t> output) {
  assert(input.size() == output.size());
  partition::ProgramPrediction prediction;
  prediction.nodes.resize(model.nodes());
  ProgramClocks state;
  state.rows.resize(model.nodes());
  state.memory.resize(model.nodes());
  state.clock.assign(model.nodes(), 0.0);
  state.active.reserve(model.nodes());
  for (std::size_t node = 0; node < model.nodes(); ++node) {
    state.rows[node] = {static_cast<double>(input[node]), static_cast<double>(output[node])};
    if (!state.rows[node].any()) continue;
    state.active.push_back(node);
    state.memory[node] = divide_memory(model, node, state.rows[node]);
  }
  each_section(model.program(), [&](const SectionOfProgram& of) { run_section(model, of, state, prediction.nodes); });
  for (const std::size_t node : state.active)  // T_I(i) = sum of T_sigma(i, j)
    prediction.iteration_seconds = std::max(prediction.iteration_seconds, state.clock[node]);
  prediction.seconds =
      model.start_seconds() + static_cast<double>(model.program().iterations) * prediction.iteration_seconds;
  return prediction;
}

partition::ProgramPrediction predict_program(const ProgramModel& model, std::span<const std::int64_t> rows) {
  return predict_program(model, rows, rows);
}

double node_seconds(const ProgramModel& model, std::size_t node, double rows) {
  if (rows <= 0) return 0;
  const NodeRows own{rows, rows};
  const MemoryDivision memory = divide_memory(model, node, own);
  double seconds = 0;
  each_section(model.program(), [&](const SectionOfProgram& of) {
    // The tiles of a pipeline make more passes of less data.
    const double tiles =
        of.section.communication == Communication::kPipeline ? static_cast<double>(of.section.tiles) : 1.0;
    for (std::size_t i = 0; i < of.section.stages.size(); ++i) {
      const ProgramStage& stage = of.section.stages[i];
      if (stage.io != IoMode::kStreaming)
        seconds += tiles * stage_times(model, {stage, of.first_stage + i, node, tiles}, own, memory).seconds();
    }
    if (of.section.communication == Communication::kAllToAll || streams(of.section))
      seconds += alone_in(model, of, node, own);
    seconds += messages_of_node(model, of, node, memory);
  });
  return seconds;
}

double computing_seconds(const ProgramModel& model, std::size_t node, double rows) {
  if (rows <= 0) return 0;
  double seconds = 0;
  each_section(model.program(), [&](const SectionOfProgram& of) {
    for (std::size_t i = 0; i < of.section.stages.size(); ++i)
      seconds += model.computing(of.first_stage + i, node, rows);
  });
  return seconds;
}

}  // namespace hetsort::research
