// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
#include "sort/output/staging.h"

#include <cassert>
#include <utility>

#include "io/stopwatch.h"
#include "sort/machine/pages.h"
#include "sort/model/monitor.h"

namespace hetsort::sort {

StagingRing::StagingRing(std::span<std::byte> memory, std::size_t blocks, io::Queue& queue)
    : memory_(memory.data()),
      block_bytes_(memory.size() / blocks / kPageBytes * kPageBytes),
      blocks_(blocks),
      queue_(&queue) {
  assert(0 < blocks && blocks <= 64 && queue.depth() >= blocks);
}

void StagingRing::wait_for_one() {
  const Monitor::Wait wait("wait for writes");
  const io::Stopwatch watch;
  busy_ &= ~(std::uint64_t{1} << queue_->wait().tag);
  waited_seconds_ += watch.seconds();
}

std::byte* StagingRing::current() {
  while ((busy_ >> at_ & 1) != 0) wait_for_one();
  if (begin_ < 0) begin_ = Monitor::begin_step();
  return memory_ + at_ * block_bytes_;
}

void StagingRing::write(const io::File& file, std::size_t skipped, std::size_t bytes, std::uint64_t offset_bytes) {
  Monitor::end_step("fill a block", std::exchange(begin_, -1));
  busy_ |= std::uint64_t{1} << at_;
  const io::Stopwatch watch;
  queue_->submit({.file = &file,
                  .direction = io::Direction::kWrite,
                  .data = memory_ + at_ * block_bytes_ + skipped,
                  .bytes = bytes,
                  .offset_bytes = offset_bytes,
                  .tag = at_});
  waited_seconds_ += watch.seconds();
  pass();
}

void StagingRing::pass() { at_ = (at_ + 1) % blocks_; }

void StagingRing::drain() {
  while (busy_ != 0) wait_for_one();
}

}  // namespace hetsort::sort
