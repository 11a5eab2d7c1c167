// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
#include "sort/runs/spill_writer.h"

#include <algorithm>
#include <utility>

#include "io/checksum/checksum.h"
#include "sort/machine/pages.h"

namespace hetsort::sort {

SpillWriter::SpillWriter(io::SpillSpace& space, StagingRing& ring, const RecordLayout& layout,
                         std::uint64_t prefix_bytes, io::SpillPacker* packer)
    : space_(&space),
      ring_(&ring),
      packer_(packer),
      layout_(layout),
      capacity_(records_per_block(space, layout) * layout.record_bytes) {
  const std::uint64_t block_records = records_per_block(space, layout);
  run_.prefixes.block_records = block_records;
  run_.prefixes.step = layout.is_lines()
                           ? block_records
                           : std::clamp<std::uint64_t>(prefix_bytes / layout.record_bytes, 1, block_records);
}

std::span<std::byte> SpillWriter::room() { return {ring_->current() + filled_, capacity_ - filled_}; }

void SpillWriter::commit(std::size_t bytes) {
  filled_ += bytes;
  run_.records += bytes / layout_.record_bytes;
  if (filled_ == capacity_) flush();
}

void SpillWriter::flush() {
  if (filled_ == 0) return;
  const std::uint64_t number = space_->take();
  const io::SpillPlace place = space_->place(number);
  const std::span<std::byte> records(ring_->current(), filled_);
  run_.blocks.push_back({place, number, io::crc32c(records)});
  run_.prefixes.add(records, layout_);
  // Direct I/O writes whole pages; the bytes behind the last record are padding.
  std::uint64_t bytes = round_up(filled_, kPageBytes);
  if (packer_ != nullptr) {
    io::PackedPieces& packed = run_.blocks.back().packed;
    packed = packer_->pack(records, ring_->waited_seconds());
    if (packed.exist()) {
      const std::uint64_t all = std::exchange(bytes, round_up(packed.bytes(), kPageBytes));
      space_->save(all - bytes);
    }
  }
  ring_->write(*place.file, 0, bytes, place.offset_bytes);
  filled_ = 0;
}

void SpillWriter::finish() {
  flush();
  ring_->drain();
}

}  // namespace hetsort::sort
