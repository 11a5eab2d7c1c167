// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
#include "io/temp/spill.h"

#include <algorithm>
#include <atomic>
#include <cassert>
#include <utility>

namespace hetsort::io {

namespace {

/// Bytes reserved at a time when the total is not known: few calls, little waste.
constexpr std::uint64_t kReserveStepBytes = std::uint64_t{256} << 20;

std::atomic<std::uint64_t> all_reserved_bytes{0};

}  // namespace

SpillSpace::SpillSpace(const std::vector<std::string>& directories, std::uint64_t block_bytes, bool direct)
    : block_bytes_(block_bytes) {
  for (const std::string& directory : directories) {
    files_.push_back(File::create_nameless(directory));
    direct_ &= direct && files_.back().set_direct(true);
  }
  if (!direct_)
    for (const File& file : files_) file.set_direct(false);
}

SpillSpace::SpillSpace(std::vector<File> files, std::uint64_t block_bytes, bool direct)
    : block_bytes_(block_bytes), nameless_(false), files_(std::move(files)) {
  for (const File& file : files_) direct_ &= direct && file.set_direct(true);
  if (!direct_)
    for (const File& file : files_) file.set_direct(false);
}

SpillSpace::~SpillSpace() {
  files_.clear();
  if (nameless_) all_reserved_bytes -= reserved_ * block_bytes_;
}

void SpillSpace::reserve(std::uint64_t blocks) {
  const std::lock_guard lock(mutex_);
  reserve_locked(blocks);
}

void SpillSpace::reserve_locked(std::uint64_t blocks) {
  if (blocks <= reserved_) return;
  // Buffered spills (tmpfs) are not reserved: there it would cost as much as writing.
  const std::uint64_t blocks_a_file = (blocks + files_.size() - 1) / files_.size();
  if (direct_ && reserves_)
    for (const File& file : files_) file.allocate(blocks_a_file * block_bytes_);
  if (nameless_) all_reserved_bytes += (blocks_a_file * files_.size() - reserved_) * block_bytes_;
  reserved_ = blocks_a_file * files_.size();
}

std::uint64_t SpillSpace::take() {
  const std::lock_guard lock(mutex_);
  ++taken_;
  if (!released_.empty()) {
    const std::uint64_t block = released_.back();
    released_.pop_back();
    return block;
  }
  if (next_ == reserved_) reserve_locked(next_ + std::max<std::uint64_t>(1, kReserveStepBytes / block_bytes_));
  return next_++;
}

void SpillSpace::release(std::uint64_t block) {
  const std::lock_guard lock(mutex_);
  released_.push_back(block);
}

void SpillSpace::occupy(std::vector<std::uint64_t> blocks) {
  const std::lock_guard lock(mutex_);
  assert(taken_ == 0);
  std::ranges::sort(blocks);
  next_ = 0;
  released_.clear();
  for (const std::uint64_t block : blocks) {
    while (next_ < block) released_.push_back(next_++);
    next_ = block + 1;
  }
  std::ranges::reverse(released_);
  reserved_ = std::max(reserved_, next_);
}

void SpillSpace::sync() const {
  for (const File& file : files_) file.sync();
}

SpillPlace SpillSpace::place(std::uint64_t block) const {
  return {&files_[block % files_.size()], block / files_.size() * block_bytes_};
}

std::uint64_t SpillSpace::taken_bytes() const {
  const std::lock_guard lock(mutex_);
  return taken_ * block_bytes_ - saved_bytes_;
}

void SpillSpace::save(std::uint64_t bytes) {
  const std::lock_guard lock(mutex_);
  saved_bytes_ += bytes;
}

std::uint64_t SpillSpace::bytes_in_use() noexcept { return all_reserved_bytes; }

}  // namespace hetsort::io
