// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
//
// The sizes of all portions of all streams between two ranks. The sender of the streams sends them before the first
// block.
#pragma once

#include <cstddef>
#include <vector>

#include "comm/communicator.h"
#include "sort/exchange/outgoing_streams.h"
#include "sort/model/wait_point.h"

namespace hetsort::sort {

class SizeTables {
 public:
  SizeTables(comm::Communicator& ranks, int tag) : ranks_(ranks), tag_(tag), waiting_(ranks) {}

  /// Sends sizes_to[r] to each other rank r. Returns the sizes from each rank. `sizes_from`: how many each rank sends.
  /// Collective. Throws: PeerFailed; io::Error for a corrupt message.
  std::vector<std::vector<StreamSize>> swap(std::vector<std::vector<StreamSize>> sizes_to,
                                            const std::vector<std::size_t>& sizes_from, const Progress& progress);
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
