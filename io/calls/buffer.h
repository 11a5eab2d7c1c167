// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
//
// Memory for blocks of records.
#pragma once

#include <cstddef>
#include <span>

namespace hetsort::io {

/// Fresh zeroed memory from the kernel, aligned for direct I/O; from kHugePageBytes on aligned to huge pages and asked
/// to be backed by them, because touching small pages first costs three times as long. Pages count as used once
/// touched. Movable, not copyable; returned to the kernel at once when destroyed.
class Buffer {
 public:
  static constexpr std::size_t kAlignmentBytes = 4096;
  static constexpr std::size_t kHugePageBytes = std::size_t{2} << 20;

  Buffer() = default;
  /// Allocates: `bytes` rounded up to whole pages (4 KiB, or 2 MiB from 2 MiB on). Throws: std::bad_alloc.
  explicit Buffer(std::size_t bytes);
  Buffer(Buffer&& other) noexcept;
  Buffer& operator=(Buffer&& other) noexcept;
  ~Buffer();

  std::byte* data() const { return data_; }
  /// The size that was asked for.
  std::size_t size_bytes() const { return size_bytes_; }
  std::span<std::byte> span() const { return {data_, size_bytes_}; }
  /// Makes room for at least `bytes` without a copy: the contents stay, though perhaps at another address, and need not
  /// be aligned to huge pages any more. Throws: std::bad_alloc.
  void grow(std::size_t bytes);
  /// Touching a byte uses a small page only. Requires: nothing is touched yet.
  void use_small_pages() noexcept;
  /// Gives all pages back to the kernel: they are zero when they are touched again.
  void discard() noexcept;
  /// Bytes that a buffer of `bytes` occupies once all of it is touched.
  static std::size_t rounded(std::size_t bytes);

 private:
  void release() noexcept;

  std::byte* data_ = nullptr;
  std::size_t size_bytes_ = 0;
};

/// Gives the whole pages of a part of a buffer back, as discard().
void discard_pages(std::span<std::byte> part) noexcept;

}  // namespace hetsort::io
