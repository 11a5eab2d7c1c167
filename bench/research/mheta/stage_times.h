// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
//
// The time that one node computes, reads and writes (Nakazawa 2005, 5.3.1).
//
// T_psi(m) is the disk time of an out-of-core variable m in a stage, N_L = ceil(OCLA / ICLA) its passes, O_r, O_w and
// O_A overheads, T_r and T_w the time for a block, T_A the computing that a read can hide behind:
//   blocking (5.1):  N_L [(O_r + T_r) + (O_w + T_w)]
//   prefetch (5.2, unrolled as in Fig. 5.7):  N_L (O_r + O_A + O_w + T_w) + T_r + (N_L - 1) max(0, T_r - T_A)
// Variables that a stage only reads have O_w = T_w = 0, and those in memory T_psi = 0. Blocks are of equal size, so
// that N_L T_r is the time to read what there is; the thesis counts the last block as if it were full. Each of several
// variables has T_A for itself. The loop of a stage can be over streams that are read, computed and written at the same
// time; the longest counts.
#pragma once

#include <cstdint>

#include "bench/research/mheta/program_model.h"
#include "partition/program_predictor.h"

namespace hetsort::research {

/// Rows of a node.
struct NodeRows {
  double input = 0;
  double output = 0;

  double of(RowSide side) const { return side == RowSide::kInput ? input : output; }
  bool any() const { return input > 0 || output > 0; }
};

/// How a node's memory is divided among the variables for some rows.
struct MemoryDivision {
  std::size_t kept = 0;    ///< number of variables that stay in memory: the first ones of keep_order()
  double passes = 1;       ///< N_L of the other variables: ceil(OCLA / ICLA)
  double spare_bytes = 0;  ///< memory beside the variables that stay
};
/// The heuristic of 5.3.1: memory keeps variables in keep_order() until one does not fit. The others divide the rest in
/// proportion to their sizes, so that all of them need the same number of passes.
MemoryDivision divide_memory(const ProgramModel& model, std::size_t node, const NodeRows& rows);

/// The rows of a node with which it keeps all variables but files in memory.
double in_core_rows(const ProgramModel& model, std::size_t node);

/// Whether the node has the variable on its disk, or a part of it.
inline bool on_disk(const ProgramModel& model, std::size_t variable, const MemoryDivision& memory) {
  return model.keep_place(variable) >= memory.kept;
}

/// A stage on a node.
struct StageOfNode {
  const ProgramStage& stage;
  std::size_t number = 0;  ///< counts over all sections
  std::size_t node = 0;
  double tiles = 1;  ///< tiles of the section; the times are those of one tile
};
/// The times of a stage on a node. T_gamma of the thesis is the sum of computing, reading and writing. Requires: a
/// stage that does not stream.
partition::NodeTimes stage_times(const ProgramModel& model, const StageOfNode& stage, const NodeRows& rows,
                                 const MemoryDivision& memory);

/// The times that a streaming stage takes of processor and disk.
struct StreamLoad {
  double computing = 0;
  double reading = 0;
  double writing = 0;
};
/// The load of a streaming stage. `rows`: rows that the node computes over; `disk`: rows of all nodes that share its
/// disk; `disk_excess`: rows among these that memory does not hold.
StreamLoad stream_load(const ProgramModel& model, const StageOfNode& stage, const NodeRows& rows, const NodeRows& disk,
                       double disk_excess);

/// Rows of the node's excess variable that memory does not hold; 0 if the program has none.
double excess_rows(const ProgramModel& model, std::size_t node, const NodeRows& rows);

}  // namespace hetsort::research
