// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
#include "sort/input/sorted_inputs.h"

#include <fmt/format.h>

#include <algorithm>
#include <cassert>
#include <utility>

#include "io/field.h"
#include "io/file_system.h"
#include "sort/failure/request_error.h"
#include "sort/machine/pages.h"
#include "sort/model/record_order.h"

namespace hetsort::sort {

namespace {

// Maximum bytes of a block. Larger blocks gain nothing: a read of this size has a device's full rate.
constexpr std::uint64_t kMaxMergeBlockBytes = std::uint64_t{1} << 20;
// The device works on some blocks of an input while others are merged. Two are the minimum.
constexpr std::size_t kMaxBlocksEach = 4;
constexpr std::size_t kMinBlocksEach = 2;
constexpr std::size_t kMaxReadsOfInputs = 256;
// While the output is verified, it holds so many lines. A stream holds one or two.
constexpr std::uint64_t kLinesOfOutput = 3;
constexpr std::uint64_t kMinLinesHeld = 2;
// Memory beside that of the request for lines: a part of what a process may have beside it.
constexpr std::uint64_t kBesideMemoryBytes = std::uint64_t{24} << 20;

/// Bytes of a buffer for a block: direct reads fill whole pages at both ends, and prefixes may be read behind it.
std::uint64_t buffer_bytes(std::uint64_t block_bytes) { return round_up(block_bytes, kPageBytes) + 2 * kPageBytes; }

}  // namespace

std::vector<Stretch> whole_inputs(const Input& input) {
  std::vector<Stretch> stretches;
  stretches.reserve(input.files().size());
  for (const InputFile& file : input.files())
    stretches.push_back({&file, file.header_bytes, file.size_bytes + file.added_bytes});
  return stretches;
}

SortedInputs::SortedInputs(Input& input, const RecordLayout& layout, const Memory& memory,
                           const std::vector<Stretch>& stretches, bool reversed)
    : input_(input),
      layout_(layout),
      cuts_lines_(input.terminator().has_value()),
      reversed_(reversed),
      max_line_bytes_(memory.max_line_bytes),
      queue_(io::make_queue(input.backend(), kMaxReadsOfInputs)),
      reader_(*queue_, nullptr) {
  const std::size_t count = stretches.size();
  size_blocks(memory, count);
  memory_ = io::Buffer(count * buffers_each_ * stride_);
  reader_ = SegmentReader(*queue_, memory_.data(), input.terminator());
  streams_.reserve(count);
  for (const Stretch& part : stretches) {
    const InputFile& file = *part.input;
    assert(!reversed || !file.stream);
    assert(file.file.is_open());
    Stream stream{.part = part, .blocks = {}, .arrived = {}, .verifier = OrderVerifier(layout)};
    stream.verifier.keep_no_first_line();
    stream.blocks.resize(buffers_each_);
    stream.arrived.resize(buffers_each_);
    stream.next_byte = reversed ? part.end_byte : part.first_byte;
    streams_.push_back(std::move(stream));
    if (!file.stream) continue;
    Stream& opened = streams_.back();
    opened.next_byte = opened.part.first_byte = input.begin_stream(file, opened.front);
    opened.rows = input.rows_of(file.file);
  }
  for (std::size_t buffer = 0; buffer < buffers_each_; ++buffer)
    for (std::size_t stream = 0; stream < count; ++stream) request(stream, buffer);
}

std::uint64_t SortedInputs::least_bytes(std::size_t record_bytes, std::size_t streams) {
  return kMinBlocksEach * streams * buffer_bytes(record_bytes);
}

void SortedInputs::size_blocks(const Memory& memory, std::size_t streams) {
  const std::uint64_t least = buffer_bytes(layout_.record_bytes);
  // Blocks of lines get a quarter of the memory, unless the smallest ones need more.
  std::uint64_t for_blocks = memory.bytes;
  if (cuts_lines_) for_blocks = std::clamp(2 * kMinBlocksEach * streams * least, memory.bytes / 4, memory.bytes);
  for (buffers_each_ = kMaxBlocksEach; buffers_each_ > kMinBlocksEach; --buffers_each_)
    if (for_blocks / (streams * buffers_each_) >= buffer_bytes(kMaxMergeBlockBytes)) break;
  // Lines are turned into a buffer of their own.
  const std::size_t others = reversed_ && cuts_lines_ ? 1 : 0;
  const std::uint64_t room = for_blocks / (streams * (buffers_each_ + others)) / kPageBytes * kPageBytes;
  if (room < least)
    throw RequestError(fmt::format("merging {} INPUTs needs {} of memory ({}); without {} less memory suffices",
                                   streams,
                                   io::human_size(least_bytes(layout_.record_bytes, streams) + memory.codec_bytes),
                                   io::field("memory"), io::field("merge")));
  block_bytes_ = std::min(room - 2 * kPageBytes, std::max<std::uint64_t>(kMaxMergeBlockBytes, layout_.record_bytes));
  block_bytes_ = block_bytes_ / layout_.record_bytes * layout_.record_bytes;
  stride_ = buffer_bytes(block_bytes_);
  const std::uint64_t used = streams * buffers_each_ * stride_ + kLinesOfOutput * max_line_bytes_;
  const std::uint64_t most = memory.bytes + kBesideMemoryBytes;
  max_held_bytes_ = std::max(most - std::min(most, used), kMinLinesHeld * max_line_bytes_);
}

void SortedInputs::request(std::size_t number, std::size_t buffer) {
  Stream& stream = streams_[number];
  const InputFile& input = *stream.part.input;
  stream.arrived[buffer] = 0;
  Segment& block = stream.blocks[buffer];
  block = {&input, stream.next_byte, 0, buffer_at(number, buffer) + stream.next_byte % kPageBytes};
  if (input.stream) return;
  if (reversed_) {
    block.bytes = std::min(block_bytes_, stream.next_byte - stream.part.first_byte);
    stream.next_byte -= block.bytes;
    block.file_offset = stream.next_byte;
    block.memory_offset = buffer_at(number, buffer) + stream.next_byte % kPageBytes;
    if (block.file_offset + block.bytes > input.size_bytes) block.added_bytes = input.added_bytes;
    return start(block);
  }
  const std::uint64_t left = stream.part.end_byte - stream.next_byte;
  const std::uint64_t added = stream.part.end_byte > input.size_bytes ? input.added_bytes : 0;
  block.bytes = std::min(block_bytes_, left);
  // A terminator that the file lacks is read with its last bytes.
  if (left - block.bytes == added) block.bytes = left;
  block.added_bytes = block.bytes == left ? added : 0;
  stream.next_byte += block.bytes;
  start(block);
}

void SortedInputs::start(const Segment& block) {
  if (block.bytes == 0) return;
  if (reader_.full()) wait_for_one();
  reader_.start(block);
}

void SortedInputs::wait_for_one() {
  // The place in memory says which block it is.
  const std::size_t at = reader_.wait().memory_offset / stride_;
  streams_[at / buffers_each_].arrived[at % buffers_each_] = 1;
}

std::span<const std::byte> SortedInputs::next(std::size_t number) {
  if (cuts_lines_ && !reversed_) return next_lines(number);
  Stream& stream = streams_[number];
  const std::span<const std::byte> records = stream.part.input->stream ? next_of_pipe(number) : next_of_file(number);
  if (records.empty()) return records;
  check(stream, records);
  return records;
}

/// A line that a block cuts is returned from where the verifier keeps it.
std::span<const std::byte> SortedInputs::next_lines(std::size_t number) {
  const LineKeys keys(*layout_.lines);
  Stream& stream = streams_[number];
  while (true) {
    if (stream.left.empty()) stream.left = stream.part.input->stream ? next_of_pipe(number) : next_block(number);
    if (stream.left.empty()) return {};
    const bool is_begun = stream.verifier.begun_line_bytes() > 0;
    const std::byte* const first = stream.left.data();
    const std::size_t whole =
        is_begun ? static_cast<std::size_t>(keys.end_of_line(first, first + stream.left.size()) - first)
                 : keys.whole_lines(stream.left);
    const std::span<const std::byte> lines = stream.left.first(whole > 0 ? whole : stream.left.size());
    stream.left = stream.left.subspan(lines.size());
    inspect_lines(stream, lines);
    if (stream.verifier.begun_line_bytes() == 0) return is_begun ? stream.verifier.last_line() : lines;
  }
}

/// Checks the order of lines, and that those of all streams that are kept have room.
void SortedInputs::inspect_lines(Stream& stream, std::span<const std::byte> bytes) {
  check(stream, bytes);
  const std::uint64_t begun_bytes = stream.verifier.begun_line_bytes();
  held_bytes_ -= stream.held_bytes;
  held_bytes_ += stream.held_bytes = begun_bytes + stream.verifier.last_line().size();
  if (begun_bytes < max_line_bytes_ && held_bytes_ <= max_held_bytes_) return;
  const std::uint64_t at = stream.part.first_byte + stream.verifier.whole_line_bytes();
  throw NotSorted(
      "read", stream.part.input->file.name(),
      begun_bytes >= max_line_bytes_
          ? long_line_text(at, max_line_bytes_ - 1)
          : fmt::format("{} INPUTs have such long lines, near offset {} of this one, that merging them needs "
                        "more memory ({})",
                        streams_.size(), at, io::field("memory")));
}

std::span<const std::byte> SortedInputs::next_of_file(std::size_t number) {
  return reversed_ && cuts_lines_ ? next_turned_lines(number) : next_block(number);
}

std::span<const std::byte> SortedInputs::next_turned_lines(std::size_t number) {
  Stream& stream = streams_[number];
  stream.turned.clear();
  while (stream.turned.empty()) {
    const std::span<const std::byte> block = next_block(number);
    if (block.empty()) break;
    if (stream.cut_line.size() > block_bytes_)
      throw NotSorted("merge", stream.part.input->file.name(), "a long line cannot be read in reverse");
    turn_lines(stream, block, stream.blocks[stream.buffer].file_offset == stream.part.first_byte);
  }
  return stream.turned;
}

/// Puts the lines of a block in reverse order, with the line that it shares with the block behind it. `is_first`: no
/// block is before it.
void SortedInputs::turn_lines(Stream& stream, std::span<const std::byte> block, bool is_first) const {
  const LineKeys keys(*layout_.lines);
  const std::byte* const first = block.data();
  std::size_t end = keys.whole_lines(block);
  const auto add = [&](std::span<const std::byte> bytes) {
    stream.turned.insert(stream.turned.end(), bytes.begin(), bytes.end());
  };
  if (end > 0 || is_first) {
    add(block.subspan(end));
    add(stream.cut_line);
    stream.cut_line.clear();
  }
  while (end > 0) {
    const std::size_t begin = keys.whole_lines(block.first(end - 1));
    if (begin == 0 && !is_first) break;
    add({first + begin, end - begin});
    end = begin;
  }
  if (!is_first) stream.cut_line.insert(stream.cut_line.begin(), first, first + (end > 0 ? end : block.size()));
}

/// The next block of a file; if reversed, with its records in reverse order.
std::span<const std::byte> SortedInputs::next_block(std::size_t number) {
  Stream& stream = streams_[number];
  if (stream.in_use) {
    request(number, stream.buffer);
    stream.buffer = (stream.buffer + 1) % buffers_each_;
  }
  stream.in_use = true;
  const Segment& block = stream.blocks[stream.buffer];
  while (block.bytes > 0 && stream.arrived[stream.buffer] == 0) wait_for_one();
  const std::span<std::byte> records = memory_.span().subspan(block.memory_offset, block.bytes);
  if (reversed_ && !cuts_lines_) turn(records);
  return records;
}

/// Reverses the order of the records.
void SortedInputs::turn(std::span<std::byte> records) const {
  const std::size_t bytes = layout_.record_bytes;
  if (records.empty()) return;
  for (std::byte *low = records.data(), *high = low + records.size() - bytes; low < high; low += bytes, high -= bytes)
    std::swap_ranges(low, low + bytes, high);
}

std::span<const std::byte> SortedInputs::next_of_pipe(std::size_t number) {
  Stream& stream = streams_[number];
  const std::span<std::byte> block = memory_.span().subspan(buffer_at(number, 0), block_bytes_);
  std::size_t got = stream.front->read(stream.part.input->file, block);
  if (stream.rows) {
    stream.rows->take(block.first(got));
    if (got < block.size()) stream.rows->finish();
  }
  const std::optional<std::byte> terminator = input_.terminator();
  if (terminator && got < block.size() && stream.next_byte + got > stream.part.first_byte &&
      (got > 0 ? block[got - 1] : stream.last_byte) != *terminator)
    block[got++] = *terminator;
  if (got > 0) stream.last_byte = block[got - 1];
  stream.next_byte += got;
  input_.check_whole_records(stream.part.input->file, stream.next_byte - stream.part.first_byte);
  return block.first(got);
}

void SortedInputs::check(Stream& stream, std::span<const std::byte> records) const {
  stream.verifier.inspect(records.data(), records.size() / layout_.record_bytes);
  if (stream.verifier.in_order()) {
    if (reversed_) refuse_equal(stream, records);
    return;
  }
  const auto& [number, offset] = *stream.verifier.first_disorder();
  const char* const name = layout_.record_name();
  throw NotSorted(
      "merge", stream.part.input->file.name(),
      fmt::format("{} {} at offset {} is below the {} before it: {} merges sorted INPUTs; sort without {}", name,
                  number + 1, stream.part.first_byte + offset, name, io::field("merge"), io::field("merge")));
}

/// Records whose keys are equal, but not their bytes, would change places.
void SortedInputs::refuse_equal(Stream& stream, std::span<const std::byte> records) const {
  const Order order(layout_);
  std::span<const std::byte> before = stream.last;
  for (std::span<const std::byte> left = records; !left.empty(); left = left.subspan(before.size())) {
    const std::span<const std::byte> next = order.first_record(left);
    if (!before.empty() && order.are_equal(before, next) && !std::ranges::equal(before, next))
      throw NotSorted("merge", stream.part.input->file.name(),
                      fmt::format("{}s with equal keys cannot be read in reverse", layout_.record_name()));
    before = next;
  }
  stream.last.assign(before.begin(), before.end());
}

std::uint64_t SortedInputs::bytes_of_records() const {
  std::uint64_t bytes = 0;
  for (const Stream& stream : streams_) bytes += stream.verifier.bytes();
  return bytes;
}

MultisetDigest SortedInputs::digest() const {
  MultisetDigest all;
  for (const Stream& stream : streams_) all += stream.verifier.digest();
  return all;
}

}  // namespace hetsort::sort
