// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
//
// From the sections of a whole run to those of one iteration, and to the program that MHETA predicts.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "bench/research/mheta/program.h"
#include "bench/research/trace/sections.h"

namespace hetsort::research::trace {

/// The sections of an iteration, with the means of all iterations that were measured.
struct TracedIteration {
  std::vector<TracedSection> sections;
  std::int64_t seen = 1;      ///< number of iterations in the run
  std::int64_t measured = 1;  ///< iterations in the means: all but the first, which warms up
};

/// Finds the iterations: up to each mark; without marks by the repeating pattern of communication that has most of
/// the run's work; without a pattern the whole run is one. An iteration that was found by its pattern ends where all
/// ranks wait, if they do. Requires: at least one section. Throws: std::runtime_error if marked iterations differ.
/// Cost: O(sections), times 1,000 for a pattern.
TracedIteration iteration_of(std::vector<TracedSection> sections);

/// Costs of the machine, of each rank.
struct TracedMachine {
  std::vector<double> send_seconds;     ///< processor seconds of a short message
  std::vector<double> receive_seconds;  ///< processor seconds of a short message
  double latency_seconds = 0;
};

/// A program with one stage for each section, whose files are variables on disk. `rows`: the rows of each rank, at
/// least one. `iterations`: 0 = as many as were seen.
Program program_of(const TracedIteration& iteration, const TracedMachine& machine, const std::vector<double>& rows,
                   std::int64_t iterations);

}  // namespace hetsort::research::trace
