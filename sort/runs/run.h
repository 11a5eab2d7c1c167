// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
//
// A sorted run on disk: blocks of whole records, each with its checksum and first key prefix kept in memory. That finds
// flipped, lost, misplaced and stale blocks, and brackets the splitter selection.
#pragma once

#include <cstdint>
#include <vector>

#include "sort/record_layout.h"

namespace hetsort::sort {

struct SpilledBlock {
  std::uint64_t number = 0;  ///< place in the spill space
  std::uint32_t crc32c = 0;  ///< of the block's records
  Element first_prefix = 0;  ///< of its first record; place 0
};

/// All blocks hold the spill's records_per_block records, the last one what is left.
struct SpilledRun {
  std::vector<SpilledBlock> blocks;
  std::uint64_t records = 0;
  std::uint64_t first_record = 0;  ///< number of its first record in the whole input
};

}  // namespace hetsort::sort
