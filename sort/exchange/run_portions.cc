// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
#include "sort/exchange/run_portions.h"

#include <algorithm>
#include <utility>

#include "sort/machine/pages.h"
#include "sort/model/exchange_block.h"

namespace hetsort::sort {

namespace {

// Bytes that are copied at once for the own merge, from all runs together: they are still in the second-level cache
// when they are merged.
constexpr std::size_t kPieceBytes = std::size_t{128} << 10;

/// Copies the next `count` records of a portion. `cursor`: the position in the portion, if it was begun.
void copy_next(MemoryPortion& left, std::uint64_t count, std::optional<RunCursor>& cursor, std::span<Element> scratch,
               std::byte* to) {
  if (!cursor) cursor.emplace(*left.run, left.first, scratch);
  cursor->copy(count, to);
  left.first += count;
}

}  // namespace

StreamSize MemoryBlocks::size_of(const MemoryPortion& portion, std::uint64_t block_records) {
  return stream_size(portion.last - portion.first, block_records);
}

MemoryBlocks::MemoryBlocks(const std::vector<MemoryPortions>& streams, const Shape& shape, std::span<std::byte> memory)
    : shape_(shape), scratch_(std::make_unique_for_overwrite<Element[]>(BucketIndex::kScratchElements)) {
  // The first blocks of all streams lie side by side: streams that have few leave the pages behind them untouched.
  const std::size_t room = block_room(shape_.block_records * shape_.record_bytes);
  for (const MemoryPortions& portions : streams)
    cursors_.push_back({portions, {memory.data() + cursors_.size() * room, streams.size() * room}});
}

std::span<std::byte> MemoryBlocks::next(std::size_t stream) {
  Cursor& cursor = cursors_[stream];
  std::byte* const block = cursor.ring.first + cursor.blocks++ % shape_.depth * cursor.ring.stride;
  while (cursor.portions[cursor.at].first == cursor.portions[cursor.at].last) {
    ++cursor.at;
    cursor.in_run.reset();
  }
  MemoryPortion& left = cursor.portions[cursor.at];
  const std::uint64_t count = std::min(shape_.block_records, left.last - left.first);
  copy_next(left, count, cursor.in_run, {scratch_.get(), BucketIndex::kScratchElements}, block);
  return {block, count * shape_.record_bytes};
}

StreamSize SpilledBlocks::size_of(const SpilledPortion& portion, std::uint64_t records_per_block) {
  if (portion.first == portion.last) return {};
  return {portion.last - portion.first, (portion.last - 1) / records_per_block - portion.first / records_per_block + 1};
}

SpilledBlocks::SpilledBlocks(const io::SpillSpace& space, const RecordLayout& layout,
                             const std::vector<SpilledPortions>& streams, std::span<std::byte> memory,
                             std::unique_ptr<io::Queue> queue)
    : memory_(memory), queue_(std::move(queue)), reader_(space, layout, streams, memory, *queue_) {}

std::span<std::byte> SpilledBlocks::next(std::size_t stream) {
  const std::span<const std::byte> records = reader_.next(stream);
  // The reader's memory may be written: it is this object's, and each buffer has a page behind the block for the
  // trailer.
  return memory_.subspan(static_cast<std::size_t>(records.data() - memory_.data()), records.size());
}

MixedBlocks::MixedBlocks(std::unique_ptr<BlockSource> in_memory, std::unique_ptr<BlockSource> spilled,
                         const std::vector<bool>& is_spilled)
    : in_memory_(std::move(in_memory)), spilled_(std::move(spilled)) {
  std::size_t next_spilled = 0;
  std::size_t next_in_memory = 0;
  for (const bool from_disk : is_spilled)
    places_.push_back(from_disk ? Place{spilled_.get(), next_spilled++} : Place{in_memory_.get(), next_in_memory++});
}

MemoryStreams::MemoryStreams(const std::vector<MemoryPortion>& portions, std::size_t record_bytes,
                             std::span<Element> scratch)
    : record_bytes_(record_bytes),
      piece_records_(
          std::max<std::uint64_t>(1, kPieceBytes / (record_bytes * std::max<std::size_t>(1, portions.size())))),
      scratch_(scratch) {
  for (const MemoryPortion& portion : portions)
    streams_.push_back({portion, std::vector<std::byte>(piece_records_ * record_bytes + kReadableSlackBytes)});
}

std::span<const std::byte> MemoryStreams::next(std::size_t stream) {
  MemoryPortion& left = streams_[stream].left;
  std::byte* const piece = streams_[stream].piece.data();
  const std::uint64_t count = std::min(piece_records_, left.last - left.first);
  copy_next(left, count, streams_[stream].in_run, scratch_, piece);
  return {piece, count * record_bytes_};
}

}  // namespace hetsort::sort
