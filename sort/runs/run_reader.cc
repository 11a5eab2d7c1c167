// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
#include "sort/runs/run_reader.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "io/checksum/checksum.h"
#include "sort/machine/pages.h"
#include "sort/model/monitor.h"
#include "sort/runs/spill_writer.h"

namespace hetsort::sort {

namespace {

// With this many buffers the device's queue is full, so that more gain nothing.
constexpr std::size_t kMaxBuffersEach = 8;

std::size_t buffer_stride(std::uint64_t block_bytes) { return block_bytes + kPageBytes; }

}  // namespace

void throw_corrupt_block(const SpilledBlock& block) {
  const auto& [file, offset_bytes] = block.place;
  if (block.number == kInInput)
    throw io::Error("read", file->name(),
                    fmt::format("changed while it was sorted: other bytes at offset {} than before", offset_bytes));
  throw io::Error(
      "read spilled block in", file->name(),
      fmt::format("corrupt block at offset {}: the disk returned other bytes than were written", offset_bytes));
}

std::uint64_t RunReader::memory_needed(std::size_t streams, std::uint64_t block_bytes, std::size_t blocks_each) {
  return streams * blocks_each * buffer_stride(block_bytes);
}

RunReader::RunReader(const io::SpillSpace& space, const RecordLayout& layout,
                     const std::vector<SpilledPortions>& streams, std::span<std::byte> memory, io::Queue& queue)
    : layout_(layout),
      records_per_block_(records_per_block(space, layout)),
      memory_(memory),
      buffer_bytes_(buffer_stride(space.block_bytes())),
      queue_(&queue) {
  const std::size_t fit = memory.size() / buffer_bytes_ / std::max<std::size_t>(1, streams.size());
  buffers_each_ = std::clamp<std::size_t>(fit, 1, kMaxBuffersEach);
  buffers_.resize(streams.size() * buffers_each_);
  for (const SpilledPortions& portions : streams) {
    Stream stream;
    for (const SpilledPortion& portion : portions)
      if (portion.first < portion.last) stream.portions.push_back(portion);
    if (!stream.portions.empty()) {
      stream.position = stream.portions.front().first;
      stream.next_block = stream.position / records_per_block_;
    }
    streams_.push_back(std::move(stream));
  }
  // The first blocks of all streams come before any second block: the merge can start when every stream has one.
  for (std::size_t buffer = 0; buffer < buffers_each_; ++buffer)
    for (std::size_t stream = 0; stream < streams_.size(); ++stream) request(stream);
}

std::vector<SpilledPortions> RunReader::one_stream_each(const std::vector<SpilledPortion>& portions) {
  std::vector<SpilledPortions> streams;
  streams.reserve(portions.size());
  for (const SpilledPortion& portion : portions) streams.push_back({portion});
  return streams;
}

std::byte* RunReader::memory_of(std::size_t stream, std::size_t buffer) const {
  return memory_.data() + (stream * buffers_each_ + buffer) * buffer_bytes_;
}

std::uint64_t RunReader::records_in(const Stream& stream, std::uint64_t block) const {
  return std::min<std::uint64_t>(records_per_block_, stream.portions.front().run->records - block * records_per_block_);
}

/// Requests the stream's next block, if there is one, into the first buffer that is free. Requires: one is.
void RunReader::request(std::size_t number) {
  Stream& stream = streams_[number];
  if (stream.read_portion == stream.portions.size()) return;
  const std::size_t buffer = (stream.buffer + stream.requested++) % buffers_each_;
  const std::size_t tag = number * buffers_each_ + buffer;
  if (queue_->in_flight() == queue_->depth()) wait_for_one();
  buffers_[tag] = {stream.next_block, false};
  const SpilledBlock& block = stream.portions.front().run->blocks[stream.next_block];
  const io::SpillPlace place = block.place;
  const std::uint64_t skipped = place.offset_bytes % kPageBytes;
  const bool packed = block.packed.exist();
  const std::uint64_t bytes =
      packed ? block.packed.bytes() : skipped + records_in(stream, stream.next_block) * layout_.record_bytes;
  if (++stream.next_block * records_per_block_ >= stream.portions[stream.read_portion].last &&
      ++stream.read_portion < stream.portions.size())
    stream.next_block = stream.portions[stream.read_portion].first / records_per_block_;
  queue_->submit({.file = place.file,
                  .direction = io::Direction::kRead,
                  .data = memory_of(number, buffer) + (packed ? place_of_packed(block.packed) : 0),
                  .bytes = round_up(bytes, kPageBytes),
                  .offset_bytes = place.offset_bytes - skipped,
                  .tag = tag});
}

/// Where in its buffer a compressed block is read to: at the end, in front of which it is decompressed.
std::size_t RunReader::place_of_packed(const io::PackedPieces& packed) const {
  return buffer_bytes_ - round_up(packed.bytes(), kPageBytes);
}

/// Moves or decompresses the records of a block that has arrived to the front of its buffer, and checks them.
void RunReader::accept(std::size_t number, std::size_t buffer) {
  const Stream& stream = streams_[number];
  const std::uint64_t block = buffers_[number * buffers_each_ + buffer].block;
  const SpilledBlock& expected = stream.portions.front().run->blocks[block];
  const std::size_t bytes = records_in(stream, block) * layout_.record_bytes;
  std::byte* const memory = memory_of(number, buffer);
  if (const std::size_t skipped = expected.place.offset_bytes % kPageBytes; skipped > 0)
    std::memmove(memory, memory + skipped, bytes);
  const io::PackedPieces& packed = expected.packed;
  const bool whole = !packed.exist() || unpacker_.unpack_block(packed, memory, place_of_packed(packed));
  if (whole && io::crc32c({memory, bytes}) == expected.crc32c) return;
  throw_corrupt_block(expected);
}

void RunReader::wait_for_one() {
  const std::size_t tag = [&] {
    const Monitor::Wait wait("wait for runs");
    return queue_->wait().tag;
  }();
  accept(tag / buffers_each_, tag % buffers_each_);
  buffers_[tag].arrived = true;
}

void RunReader::append(std::size_t number, const SpilledPortion& portion) {
  if (portion.first == portion.last) return;
  Stream& stream = streams_[number];
  if (stream.read_portion == stream.portions.size()) stream.next_block = portion.first / records_per_block_;
  if (stream.next_portion == stream.portions.size()) stream.position = portion.first;
  stream.portions.push_back(portion);
  while (stream.requested < buffers_each_ && stream.read_portion < stream.portions.size()) request(number);
}

std::span<const std::byte> RunReader::next(std::size_t number) {
  Stream& stream = streams_[number];
  if (stream.in_use) {
    stream.buffer = (stream.buffer + 1) % buffers_each_;
    --stream.requested;
    stream.in_use = false;
    request(number);
  }
  if (stream.next_portion == stream.portions.size()) return {};
  const std::uint64_t last = stream.portions[stream.next_portion].last;
  const Buffer& buffer = buffers_[number * buffers_each_ + stream.buffer];
  while (!buffer.arrived) wait_for_one();
  const std::uint64_t block_first = buffer.block * records_per_block_;
  const std::uint64_t end = std::min(last, block_first + records_in(stream, buffer.block));
  const std::size_t skipped = (stream.position - block_first) * layout_.record_bytes;
  const std::size_t bytes = (end - stream.position) * layout_.record_bytes;
  stream.position = end;
  if (end == last && ++stream.next_portion < stream.portions.size())
    stream.position = stream.portions[stream.next_portion].first;
  stream.in_use = true;
  return {memory_of(number, stream.buffer) + skipped, bytes};
}

}  // namespace hetsort::sort
