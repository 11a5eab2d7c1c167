// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
#include "sort/input/segment_reader.h"

#include <fmt/format.h>

#include <algorithm>
#include <cassert>
#include <numeric>

#include "sort/machine/pages.h"
#include "sort/model/monitor.h"

namespace hetsort::sort {

namespace {

/// The number of bytes before the records of the segment's file.
std::uint64_t header_of(const Segment& segment) { return segment.input == nullptr ? 0 : segment.input->header_bytes; }

[[noreturn]] void refuse_cut_line(const Segment& segment) {
  if (segment.input != nullptr) refuse_if_truncated(*segment.input);
  throw io::Error("read", segment.input == nullptr ? "the input" : segment.input->file.name(),
                  fmt::format("changed while it was read: the line that ended at offset {} has lost its end",
                              segment.file_offset + segment.bytes));
}

}  // namespace

void SegmentReader::start(const Segment& segment) {
  assert(!full());
  std::uint64_t from = segment.file_offset;
  std::uint64_t to = segment.file_offset + segment.bytes - segment.added_bytes;
  if (segment.input->direct) {
    from = from / kPageBytes * kPageBytes;
    to = round_up(to, kPageBytes);
  }
  queue_->submit({.file = &segment.input->file,
                  .direction = io::Direction::kRead,
                  .data = memory_ + segment.memory_offset - (segment.file_offset - from),
                  .bytes = to - from,
                  .offset_bytes = from,
                  .tag = reinterpret_cast<std::uint64_t>(&segment)});
}

const Segment& SegmentReader::wait() {
  assert(!idle());
  const io::Completion completion = [&] {
    const Monitor::Wait wait("wait for input");
    return queue_->wait();
  }();
  const Segment& segment = *reinterpret_cast<const Segment*>(completion.tag);
  const std::uint64_t before = segment.input->direct ? segment.file_offset % kPageBytes : 0;
  if (completion.bytes < before + segment.bytes - segment.added_bytes)
    refuse_truncated(*segment.input, segment.file_offset - before + completion.bytes);
  segment.input->hide_newlines(segment.file_offset,
                               {memory_ + segment.memory_offset, segment.bytes - segment.added_bytes});
  if (segment.added_bytes > 0) memory_[segment.memory_offset + segment.bytes - 1] = terminator_;
  return segment;
}

std::vector<Segment> cut(std::span<const Segment> segments, std::uint64_t piece_bytes, std::size_t record_bytes) {
  const std::uint64_t aligned_unit = std::lcm(std::uint64_t{record_bytes}, std::uint64_t{kPageBytes});
  const std::uint64_t unit = aligned_unit <= piece_bytes ? aligned_unit : record_bytes;
  const std::uint64_t step = std::max(unit, piece_bytes / unit * unit);
  std::vector<Segment> pieces;
  for (const Segment& segment : segments) {
    // If records have one byte, pieces end at page borders of the file, else at record borders behind the header.
    const std::uint64_t origin = record_bytes == 1 ? 0 : header_of(segment);
    const std::uint64_t file_bytes = segment.bytes - segment.added_bytes;
    for (std::uint64_t done = 0; done < file_bytes;) {
      // Pieces end at multiples of the unit from the origin on, wherever the segment starts.
      const std::uint64_t at = segment.file_offset - origin + done;
      const std::uint64_t end = std::min(segment.file_offset - origin + file_bytes, at / unit * unit + step);
      pieces.push_back({segment.input, origin + at, end - at, segment.memory_offset + done});
      done += end - at;
    }
    if (segment.added_bytes == 0) continue;
    pieces.back().bytes += segment.added_bytes;
    pieces.back().added_bytes = segment.added_bytes;
  }
  return pieces;
}

void check_ends_of_lines(const std::byte* memory, std::span<const Segment> segments, std::byte terminator) {
  for (const Segment& segment : segments)
    if (memory[segment.memory_offset + segment.bytes - 1] != terminator) refuse_cut_line(segment);
}

std::vector<Segment> cut_records(const RecordLayout& layout, const std::byte* memory, std::span<const Segment> segments,
                                 std::uint64_t piece_bytes) {
  const Order order(layout);
  std::vector<Segment> pieces;
  for (const Segment& segment : segments) {
    const std::byte* const first = memory + segment.memory_offset;
    for (std::uint64_t done = 0; done < segment.bytes;) {
      const std::uint64_t wanted = std::min(segment.bytes, done + piece_bytes);
      const std::byte* const border = order.border_behind(first + done, first + wanted, first + segment.bytes);
      if (!order.is_whole({first + done, border})) refuse_cut_line(segment);
      const auto end = static_cast<std::uint64_t>(border - first);
      pieces.push_back({segment.input, segment.file_offset + done, end - done, segment.memory_offset + done});
      done = end;
    }
  }
  return pieces;
}

}  // namespace hetsort::sort
