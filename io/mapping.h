// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
//
// Files that lie in memory, seen where they are instead of copied.
//
// A mapped file may be changed or cut while it is looked at. What changes is the business of whoever looks: nothing
// here keeps the bytes still. What is cut off raises SIGBUS when it is touched; a handler learns from
// mapped_file_at() which file that was.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "io/file.h"

namespace hetsort::io {

/// Files laid over parts of a buffer. Destroying it ends only the account of them: the buffer's memory goes with the
/// buffer. Thread safety: one thread adds; then any may populate().
class MappedFiles {
 public:
  MappedFiles() = default;
  MappedFiles(const MappedFiles&) = delete;
  MappedFiles& operator=(const MappedFiles&) = delete;
  ~MappedFiles();

  /// Lays the bytes of `file` from `offset_bytes` on over `part`, read-only; from there to the end of the last page it
  /// reads as zeros where the file ends. Requires: `part` starts as far behind a page's border as `offset_bytes` is;
  /// nothing else in the pages of `part`; a regular file. Throws: Error.
  void lay_over(const File& file, std::span<std::byte> part, std::uint64_t offset_bytes);
  /// From now on mapped_file_at() knows these. One object at a time.
  void announce() const;
  /// Takes down one of `parts` equal parts of what populate() brought into reach; it stays mapped. Thread safety: each
  /// part by another thread.
  void let_go(std::size_t part, std::size_t parts) const;

 private:
  friend const char* mapped_file_at(const void* address) noexcept;
  struct Range {
    std::byte* begin = nullptr;
    std::byte* end = nullptr;
    std::string name;
  };
  std::vector<Range> ranges_;
};

/// Brings the pages of `part` of a mapped `file` into reach, so that touching them costs no fault; counted and made to
/// fail as a read. Throws: Error; where the file has become shorter, too.
void populate(const File& file, std::span<const std::byte> part);

/// The name of the file laid over `address`, nullptr if none is. Async-signal-safe.
const char* mapped_file_at(const void* address) noexcept;

}  // namespace hetsort::io
