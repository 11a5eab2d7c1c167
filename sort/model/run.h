// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
//
// A sorted run on disk: blocks of whole records. Each block's checksum and some key prefixes are kept in memory. The
// checksums detect flipped, lost, misplaced and stale blocks; the prefixes narrow down the splitter selection. The
// blocks lie in the spill space. A part of an input that was found sorted is a run where it lies.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <vector>

#include "io/compression/pieces.h"
#include "io/temp/spill.h"
#include "sort/model/record_order.h"

namespace hetsort::sort {

/// Stands for the number of a block that lies in an input.
inline constexpr std::uint64_t kInInput = std::numeric_limits<std::uint64_t>::max();
/// Stands for the number of a block in a file that another rank wrote.
inline constexpr std::uint64_t kOfAnotherRank = kInInput - 1;

struct SpilledBlock {
  io::SpillPlace place;             ///< place of its first record; in the spill space, on a page border
  std::uint64_t number = kInInput;  ///< number of the block in the spill space
  std::uint32_t crc32c = 0;         ///< checksum of the block's records
  io::PackedPieces packed{};        ///< how it is compressed, if it is

  bool is_in_space() const { return number < kOfAnotherRank; }
};

/// The key prefixes of some records of a run, in order: of the first record of each block, and of each further one at a
/// multiple of `step` in the block. Those of lines, which blocks may cut, are not set.
struct RunPrefixes {
  std::uint64_t block_records = 1;  ///< records of a block that is full
  std::uint64_t step = 1;           ///< records from one to the next
  std::vector<Element> elements{};  ///< their place is 0

  std::uint64_t count() const { return elements.size(); }
  /// The position in the run of the record that a prefix belongs to.
  std::uint64_t position(std::uint64_t number) const {
    return number / a_block() * block_records + number % a_block() * step;
  }
  /// The number of the first prefix at or behind a position; count() if there is none.
  std::uint64_t first_behind(std::uint64_t position) const {
    const std::uint64_t in_block = (position % block_records + step - 1) / step;
    return std::min(count(), position / block_records * a_block() + in_block);
  }
  /// The prefix of the record at a position; null if it is none of those.
  const Element* at(std::uint64_t position) const {
    return position % block_records % step == 0 ? &elements[first_behind(position)] : nullptr;
  }
  /// Adds those of the next block. Requires: kReadableSlackBytes readable bytes behind the block.
  void add(std::span<const std::byte> block, const RecordLayout& layout) {
    const Order order(layout);
    for (std::size_t at = 0; at < block.size(); at += step * layout.record_bytes)
      elements.push_back(order.block_prefix(block.subspan(at)));
  }

 private:
  std::uint64_t a_block() const { return (block_records + step - 1) / step; }
};

/// Every block but the last holds records_per_block() records.
struct SpilledRun {
  std::vector<SpilledBlock> blocks;
  std::uint64_t records = 0;
  std::uint64_t first_record = 0;  ///< number of its first record in the whole input
  MultisetDigest digest{};         ///< digest of its records, computed when they were read from the input
  std::uint64_t longest_line = 0;  ///< bytes of the longest line; 0 without lines
  RunPrefixes prefixes{};
};

}  // namespace hetsort::sort
