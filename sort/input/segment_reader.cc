// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
#include "sort/input/segment_reader.h"

#include <cassert>

#include "sort/machine/pages.h"
#include "sort/model/monitor.h"

namespace hetsort::sort {

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
  if (segment.added_bytes > 0) memory_[segment.memory_offset + segment.bytes - 1] = terminator_;
  return segment;
}

}  // namespace hetsort::sort
