// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
//
// From the calls of all ranks to sections: computing and files, then communication that one word of MHETA describes.
//
// The calls of all ranks are read from the front. If all ranks have reached the same collective call, it ends a
// section. Otherwise the next messages end one if they form a pattern: to one rank and back (reduction), both ways
// between neighbours, or from each rank to the next, tile by tile (pipeline). All other messages up to the next
// collective call are one all-to-all. Nothing depends on times. Cost: O(calls); a reduction or pipeline looks at each
// message once, an exchange of neighbours at most eight times.
#pragma once

#include <cstdint>
#include <vector>

#include "bench/research/mheta/program.h"
#include "bench/research/trace/call.h"

namespace hetsort::research::trace {

/// What a rank reads from and writes to a file in a section.
struct FileUse {
  std::int32_t file = 0;  ///< number of the file on its rank, in the order of first uses
  std::int64_t bytes_read = 0;
  std::int64_t bytes_written = 0;
  double read_seconds = 0;
  double write_seconds = 0;
  bool by_other_thread = false;
};

/// What a rank does in a section.
struct RankWork {
  double computing = 0;  ///< seconds
  double combining = 0;  ///< seconds between the messages of a reduction, on the rank that gets all values
  std::vector<FileUse> files{};
};
void add_work(RankWork& to, const RankWork& work);

struct TracedSection {
  Communication communication = Communication::kNone;
  std::int64_t message_bytes = 0;  ///< bytes of the longest message; of an all-to-all, those of all messages
  std::int64_t tiles = 1;
  bool ends_iteration = false;
  std::vector<RankWork> ranks;
};

/// Sections of a program. `calls`: those of each rank, each list with kEnd at its end.
/// Throws: std::runtime_error if ranks call collectives in different orders.
std::vector<TracedSection> sections_of(const std::vector<std::vector<Call>>& calls);

}  // namespace hetsort::research::trace
