// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
//
// A sorted run on disk: blocks of whole records. Each block's checksum and first key prefix are kept in memory. The
// checksums detect flipped, lost, misplaced and stale blocks; the prefixes narrow down the splitter selection. The
// blocks lie in the spill space. A part of an input that was found sorted is a run where it lies.
#pragma once

#include <cstdint>
#include <limits>
#include <vector>

#include "io/compression/pieces.h"
#include "io/temp/spill.h"
#include "sort/model/record_order.h"

namespace hetsort::sort {

/// Stands for the number of a block that lies in an input.
inline constexpr std::uint64_t kInInput = std::numeric_limits<std::uint64_t>::max();

struct SpilledBlock {
  io::SpillPlace place;             ///< place of its first record; in the spill space, on a page border
  std::uint64_t number = kInInput;  ///< number of the block in the spill space
  std::uint32_t crc32c = 0;         ///< checksum of the block's records
  Element first_prefix = 0;   ///< key prefix of the first record, with place 0; not set for lines, which blocks may cut
  io::PackedPieces packed{};  ///< how it is compressed, if it is
};

/// Every block but the last holds records_per_block() records.
struct SpilledRun {
  std::vector<SpilledBlock> blocks;
  std::uint64_t records = 0;
  std::uint64_t first_record = 0;  ///< number of its first record in the whole input
};

}  // namespace hetsort::sort
