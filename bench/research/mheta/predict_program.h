// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
//
// MHETA: the time of an iterative program for any distribution of its rows (Nakazawa 2005, chapter 5).
//
// In: a program on a cluster, the rows of each node. Out: for each node the seconds of an iteration in which it
// computes, reads, writes, sends, receives and waits. Every node has a clock. A section advances it by the node's
// stages (stage_times.h) and then by its communication (communication.h). Nodes without rows take no part. Cost:
// O(nodes (stages + tiles)), without messages; the thesis looks at all pairs of nodes.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "bench/research/mheta/stage_times.h"

namespace hetsort::research {

/// Predicts the program with these rows on the nodes. Requires: a number of rows >= 0 for each node.
partition::ProgramPrediction predict_program(const ProgramModel& model, std::span<const std::int64_t> rows);

/// Predicts a program whose all-to-all moves rows: nodes have `input` before it and `output` after it.
/// Requires: both sums are equal.
partition::ProgramPrediction predict_program(const ProgramModel& model, std::span<const std::int64_t> input,
                                             std::span<const std::int64_t> output);

/// Seconds of an iteration on a node if it never waits for others: f_i of chapter 4. Its messages are those that it has
/// if all nodes have rows.
double node_seconds(const ProgramModel& model, std::size_t node, double rows);

/// Seconds of an iteration in which the node computes.
double computing_seconds(const ProgramModel& model, std::size_t node, double rows);

}  // namespace hetsort::research
