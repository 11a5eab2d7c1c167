// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
#include "sort/output/range_writer.h"

#include <algorithm>
#include <cstring>

#include "sort/machine/pages.h"
#include "sort/model/record_order.h"

namespace hetsort::sort {

RangeWriter::RangeWriter(const OutputFiles& files, StagingRing& ring, std::size_t record_bytes,
                         std::uint64_t first_byte)
    : files_(files),
      ring_(&ring),
      record_bytes_(record_bytes),
      alignment_(files.direct != nullptr ? kPageBytes : 1),
      capacity_(ring.block_bytes() - round_up(record_bytes + kReadableSlackBytes, kPageBytes)),
      block_offset_(first_byte / alignment_ * alignment_),
      skipped_(first_byte - block_offset_),
      filled_(skipped_) {}

std::span<std::byte> RangeWriter::room() {
  if (block_ == nullptr) block_ = ring_->current();
  // The last record may reach into the slack. The bytes there are carried over to the next block.
  const std::size_t records = (capacity_ - filled_ + record_bytes_ - 1) / record_bytes_;
  return {block_ + filled_, records * record_bytes_};
}

void RangeWriter::commit(std::size_t bytes) {
  filled_ += bytes;
  if (filled_ >= capacity_) flush();
}

/// Writes the full block; bytes behind its capacity start the next one.
void RangeWriter::flush() {
  std::byte* const full = block_;
  const std::size_t carried = filled_ - capacity_;
  const std::uint64_t offset = block_offset_;
  const std::size_t own = skipped_;
  write_head();
  const std::size_t from = round_up(own, alignment_);
  const io::File& file = files_.direct != nullptr ? *files_.direct : *files_.buffered;
  // The carried bytes must be saved before the block may be refilled, and the write must start before that wait.
  ring_->write(file, from, capacity_ - from, offset + from);
  block_ = ring_->current();
  std::memcpy(block_, full + capacity_, carried);
  block_offset_ += capacity_;
  skipped_ = 0;
  filled_ = carried;
}

/// Keeps the bytes before the range's first whole page for finish().
void RangeWriter::write_head() {
  if (skipped_ == 0) return;
  const std::size_t end = std::min(filled_, round_up(skipped_, alignment_));
  head_.assign(block_ + skipped_, block_ + end);
  head_offset_ = block_offset_ + skipped_;
}

void RangeWriter::finish() {
  if (block_ != nullptr && filled_ > skipped_) {
    write_head();
    const std::size_t from = std::min(filled_, round_up(skipped_, alignment_));
    const std::size_t whole = std::max(from, filled_ / alignment_ * alignment_);
    const std::vector<std::byte> tail(block_ + whole, block_ + filled_);
    const io::File& file = files_.direct != nullptr ? *files_.direct : *files_.buffered;
    if (whole > from) ring_->write(file, from, whole - from, block_offset_ + from);
    ring_->drain();
    files_.buffered->write_at(tail, block_offset_ + whole);
  }
  ring_->drain();
  files_.buffered->write_at(head_, head_offset_);
  block_ = nullptr;
}

}  // namespace hetsort::sort
