// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
//
// The sizes of all portions of all streams between two ranks. The receiver of the streams needs them before the first
// block.
//
// In: on each rank a table for each other rank. Out: the table from each other rank.
// Idea: Bruck, Ho, Kipnis, Upfal and Weathersby, Efficient algorithms for all-to-all communications in multiport
// message-passing systems, 1997. A table for the rank that is d places further travels in rounds. In the round with
// step s, a power of two, it moves s places if d has that bit. All tables that move in a round leave as one message.
// Cost: ceil(log2 ranks) messages a rank, and half of all tables of a rank in each. A message for each pair of ranks
// would wake each rank for each other one, and 1,000 ranks a million times.
#pragma once

#include <cstddef>
#include <functional>
#include <vector>

#include "comm/communicator.h"
#include "sort/exchange/outgoing_streams.h"
#include "sort/model/wait_point.h"

namespace hetsort::sort {

/// Thread safety: one thread, except wake().
class SizeTables {
 public:
  using Tables = std::vector<std::vector<StreamSize>>;  // indexed by rank
  /// The number of sizes in the table from one rank to another; the same on all ranks.
  using Count = std::function<std::size_t(std::size_t from, std::size_t to)>;

  SizeTables(comm::Communicator& ranks, int tag) : ranks_(ranks), tag_(tag), waiting_(ranks) {}

  /// Sends sizes_to[r] to each other rank r. Returns the sizes from each rank; none from this one. Collective. Throws:
  /// PeerFailed; io::Error for a corrupt message. After a throw its messages use this object until drain().
  Tables swap(Tables sizes_to, const Count& count, const Progress& progress);
  void wake() { waiting_.wake(); }

 private:
  struct Round {
    std::size_t step = 0;
    std::vector<StreamSize> sent{};
    std::vector<StreamSize> received{};
    bool has_come = false;
  };

  std::size_t rank_at(std::size_t places) const;
  template <typename Visit>
  void for_each_arriving(const Round& round, const Count& count, const Visit& visit) const;
  void post(Round& round, const Count& count);
  void send(Round& round, const Tables& moving);
  void take(Round& round, const Count& count, const Progress& progress, Tables& moving);

  comm::Communicator& ranks_;
  int tag_;
  WaitPoint waiting_;  // its mutex guards `leaving_` and Round::has_come
  std::vector<Round> rounds_;
  std::size_t leaving_ = 0;  // messages that have not left
};

}  // namespace hetsort::sort
