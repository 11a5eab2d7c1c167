// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
//
// A sorted run on disk: blocks of whole records. Each block's checksum and first key prefix are kept in memory. The
// checksums detect flipped, lost, misplaced and stale blocks; the prefixes narrow down the splitter selection.
#pragma once

#include <cstdint>
#include <vector>

#include "sort/record_layout.h"

namespace hetsort::sort {

struct SpilledBlock {
  std::uint64_t number = 0;  ///< of the block in the spill space
  std::uint32_t crc32c = 0;  ///< of the block's records
  Element first_prefix = 0;  ///< key prefix of the first record, with place 0; not of lines, which blocks may cut
};

/// Every block but the last holds records_per_block() records.
struct SpilledRun {
  std::vector<SpilledBlock> blocks;
  std::uint64_t records = 0;
  std::uint64_t first_record = 0;  ///< number of its first record in the whole input
};

}  // namespace hetsort::sort
