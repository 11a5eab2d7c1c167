// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
//
// How large each part of each stream between two ranks is: told by its sender before the first block.
#pragma once

#include <cstddef>
#include <vector>

#include "comm/communicator.h"
#include "sort/exchange/outgoing_streams.h"
#include "sort/exchange/wait_point.h"

namespace hetsort::sort {

class SizeTables {
 public:
  SizeTables(comm::Communicator& ranks, int tag) : ranks_(ranks), tag_(tag), waiting_(ranks) {}

  /// Sends the sizes of `out` to where the streams go. Returns, for each rank, the sizes of the streams from there:
  /// sizes_from[rank] of them, part by part by the streams' numbers. `out` has the streams to one rank in the order of
  /// their numbers.
  /// Collective. Throws: PeerFailed; io::Error for a corrupt message.
  std::vector<std::vector<StreamSize>> swap(const std::vector<OutgoingStream>& out,
                                            const std::vector<std::size_t>& sizes_from, const Help& help);
  void wake() { waiting_.wake(); }

 private:
  void count_one();
  void one_done();

  comm::Communicator& ranks_;
  int tag_;
  WaitPoint waiting_;
  std::vector<std::vector<StreamSize>> sent_;
  std::vector<std::vector<StreamSize>> received_;
  std::size_t open_ = 0;
};

}  // namespace hetsort::sort
