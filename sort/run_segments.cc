// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
#include "sort/run_segments.h"

#include <algorithm>

#include "sort/exchange_block.h"
#include "sort/memory_plan.h"

namespace hetsort::sort {

namespace {

// What is gathered at once for the own merge: it is still in the second-level cache when it is merged.
constexpr std::size_t kPieceBytes = std::size_t{128} << 10;

std::size_t buffer_stride(std::uint64_t block_bytes) { return round_up(block_bytes + kTrailerBytes, kPageBytes); }

}  // namespace

void MemoryRun::copy(std::uint64_t position, std::uint64_t count, std::span<Element> scratch, std::byte* to) const {
  while (count > 0) {
    std::span<const Element> elements = index.sorted_from(position, memory.base, scratch);
    elements = elements.first(std::min<std::uint64_t>(elements.size(), count));
    copy_records(elements, memory, to);
    position += elements.size();
    count -= elements.size();
    to += elements.size() * memory.layout.record_bytes;
  }
}

void MemoryRun::sort_borders(std::span<const std::uint64_t> positions, std::span<Element> scratch) const {
  for (const std::uint64_t position : positions)
    if (position < index.records()) static_cast<void>(index.element(position, memory.base, scratch));
}

StreamSize MemoryBlocks::size_of(const MemorySegment& segment, std::uint64_t block_records) {
  const std::uint64_t records = segment.last - segment.first;
  return {records, (records + block_records - 1) / block_records};
}

std::size_t MemoryBlocks::memory_needed(std::size_t segments, std::uint64_t block_bytes) {
  return segments * kInitialCredits * buffer_stride(block_bytes);
}

MemoryBlocks::MemoryBlocks(const MemoryRun& run, const std::vector<MemorySegment>& segments,
                           std::uint64_t block_records, std::span<std::byte> memory)
    : run_(run), block_records_(block_records), memory_(memory), scratch_(BucketIndex::kScratchElements) {
  for (const MemorySegment& segment : segments) cursors_.push_back({segment});
}

std::span<std::byte> MemoryBlocks::next(std::size_t stream) {
  Cursor& cursor = cursors_[stream];
  const std::size_t record_bytes = run_.memory.layout.record_bytes;
  const std::size_t slot = stream * kInitialCredits + cursor.blocks++ % kInitialCredits;
  std::byte* const block = memory_.data() + slot * buffer_stride(block_records_ * record_bytes);
  const std::uint64_t count = std::min(block_records_, cursor.left.last - cursor.left.first);
  run_.copy(cursor.left.first, count, scratch_, block);
  cursor.left.first += count;
  return {block, count * record_bytes};
}

StreamSize SpilledBlocks::size_of(const RunRange& segment, std::uint64_t records_per_block) {
  if (segment.first == segment.last) return {};
  return {segment.last - segment.first, (segment.last - 1) / records_per_block - segment.first / records_per_block + 1};
}

SpilledBlocks::SpilledBlocks(const io::SpillSpace& space, const RecordLayout& layout,
                             const std::vector<RunRange>& segments, std::span<std::byte> memory,
                             std::unique_ptr<io::Queue> queue)
    : memory_(memory), queue_(std::move(queue)), reader_(space, layout, segments, memory, *queue_) {}

std::span<std::byte> SpilledBlocks::next(std::size_t stream) {
  const std::span<const std::byte> records = reader_.next(stream);
  // The reader's memory is ours, and each of its buffers has a page behind the block.
  return memory_.subspan(static_cast<std::size_t>(records.data() - memory_.data()), records.size());
}

MemoryStream::MemoryStream(const MemoryRun& run, const MemorySegment& segment, std::span<Element> scratch)
    : run_(run),
      left_(segment),
      scratch_(scratch),
      piece_records_(std::max<std::uint64_t>(1, kPieceBytes / run.memory.layout.record_bytes)),
      piece_(piece_records_ * run.memory.layout.record_bytes + kReadableSlackBytes) {}

std::span<const std::byte> MemoryStream::next(std::size_t) {
  if (left_.first == left_.last) return {};
  if (elements_.empty()) elements_ = run_.index.sorted_from(left_.first, run_.memory.base, scratch_);
  const std::uint64_t count = std::min({piece_records_, left_.last - left_.first, std::uint64_t{elements_.size()}});
  copy_records(elements_.first(count), run_.memory, piece_.data());
  elements_ = elements_.subspan(count);
  left_.first += count;
  return {piece_.data(), count * run_.memory.layout.record_bytes};
}

}  // namespace hetsort::sort
