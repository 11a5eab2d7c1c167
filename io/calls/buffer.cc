// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
#include "io/calls/buffer.h"

#include <sys/mman.h>

#include <algorithm>
#include <cstdint>
#include <limits>
#include <new>
#include <utility>

namespace hetsort::io {

namespace {

std::size_t padding(const std::byte* at, std::size_t alignment) {
  const auto place = reinterpret_cast<std::uintptr_t>(at) % alignment;
  return place == 0 ? 0 : alignment - place;
}

std::byte* map(std::size_t bytes) {
  void* mapped = ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (mapped == MAP_FAILED) throw std::bad_alloc();
  return static_cast<std::byte*>(mapped);
}

/// Maps room for one huge page more and unmaps the pages before and behind the aligned part. If there is no room for
/// one more, unaligned memory will do.
std::byte* map_huge(std::size_t bytes) {
  std::byte* start = nullptr;
  try {
    start = map(bytes + Buffer::kHugePageBytes);
  } catch (const std::bad_alloc&) {
    return map(bytes);
  }
  const std::size_t before = padding(start, Buffer::kHugePageBytes);
  if (before > 0) ::munmap(start, before);
  const std::size_t behind = Buffer::kHugePageBytes - before;
  if (behind > 0) ::munmap(start + before + bytes, behind);
  // The kernel refuses this where it has no transparent huge pages; the memory serves all the same.
  static_cast<void>(::madvise(start + before, bytes, MADV_HUGEPAGE));
  return start + before;
}

}  // namespace

std::size_t Buffer::rounded(std::size_t bytes) {
  const std::size_t page = bytes >= kHugePageBytes ? kHugePageBytes : kAlignmentBytes;
  if (bytes > std::numeric_limits<std::size_t>::max() / 2) throw std::bad_alloc();
  return (bytes + page - 1) / page * page;
}

Buffer::Buffer(std::size_t bytes) : size_bytes_(bytes) {
  const std::size_t whole = rounded(bytes);
  if (whole == 0) return;
  data_ = whole >= kHugePageBytes ? map_huge(whole) : map(whole);
}

Buffer::Buffer(Buffer&& other) noexcept
    : data_(std::exchange(other.data_, nullptr)), size_bytes_(std::exchange(other.size_bytes_, 0)) {}

Buffer& Buffer::operator=(Buffer&& other) noexcept {
  if (this != &other) {
    release();
    data_ = std::exchange(other.data_, nullptr);
    size_bytes_ = std::exchange(other.size_bytes_, 0);
  }
  return *this;
}

Buffer::~Buffer() { release(); }

void Buffer::grow(std::size_t bytes) {
  if (data_ == nullptr) *this = Buffer(bytes);
  if (bytes <= size_bytes_) return;
#if defined(HETSORT_SANITIZE_THREAD)
  // ThreadSanitizer does not notice that mremap frees addresses, which other threads then get.
  Buffer larger(bytes);
  std::copy_n(data_, size_bytes_, larger.data_);
  *this = std::move(larger);
#else
  void* const moved = ::mremap(data_, rounded(size_bytes_), rounded(bytes), MREMAP_MAYMOVE);
  if (moved == MAP_FAILED) throw std::bad_alloc();
  data_ = static_cast<std::byte*>(moved);
  size_bytes_ = bytes;
#endif
}

void Buffer::use_small_pages() noexcept {
  // Refused where the kernel has no huge pages.
  if (data_ != nullptr) static_cast<void>(::madvise(data_, rounded(size_bytes_), MADV_NOHUGEPAGE));
}

void Buffer::discard() noexcept {
  // The kernel refuses this for locked memory, which then stays in use.
  if (data_ != nullptr) static_cast<void>(::madvise(data_, rounded(size_bytes_), MADV_DONTNEED));
}

void discard_pages(std::span<std::byte> part) noexcept {
  const std::size_t before = std::min(part.size(), padding(part.data(), Buffer::kAlignmentBytes));
  const std::size_t bytes = (part.size() - before) / Buffer::kAlignmentBytes * Buffer::kAlignmentBytes;
  if (bytes > 0) static_cast<void>(::madvise(part.data() + before, bytes, MADV_DONTNEED));
}

void Buffer::release() noexcept {
  if (data_ != nullptr) ::munmap(data_, rounded(size_bytes_));
  data_ = nullptr;
}

}  // namespace hetsort::io
