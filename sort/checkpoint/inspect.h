// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
//
// What a folder holds of checkpoints, for people.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "sort/checkpoint/checkpoint.h"

namespace hetsort::sort {

/// The part of one rank.
struct CheckpointPart {
  int rank = 0;
  std::vector<SortFact> about{};  ///< who began it and what for
  std::vector<SortFact> facts{};  ///< what decides the result
  std::uint64_t runs = 0;
  std::uint64_t run_bytes = 0;     ///< bytes of the records in these runs
  std::uint64_t merged_bytes = 0;  ///< bytes of the output that are written
  std::uint64_t disk_bytes = 0;    ///< disk space of its files in this folder
  bool in_use = false;             ///< a sort works with it
  /// Why the same command would be refused or would find nothing; empty if it would continue.
  std::string obstacle{};
};

/// The parts of all ranks whose journals are in `folder`, in the order of the ranks. Throws: io::Error.
std::vector<CheckpointPart> inspect_checkpoint(const std::string& folder);

}  // namespace hetsort::sort
