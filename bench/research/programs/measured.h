// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
//
// From an instrumented iteration to the two files that `hetsort plan --program` reads (docs/io-aware.md).
#pragma once

#include <string>

#include "bench/research/programs/node.h"

namespace hetsort::research::programs {

/// Writes PREFIX-program.toml: structure and measured costs, and PREFIX-cluster.toml: a node for each rank, with the
/// memory of `memory_bytes` (empty = no limit) and the measured rate of its link. Collective; rank 0 writes.
/// `iterations`: of the whole program. Throws: io::Error.
struct MeasuredFiles {
  std::string prefix;
  std::int64_t iterations = 1;
  std::vector<double> memory_bytes{};
};
void write_measured(Node& node, const MeasuredFiles& files);

}  // namespace hetsort::research::programs
