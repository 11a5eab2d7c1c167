// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
//
// Files on a tmpfs, mapped instead of copied.
//
// Another process may change or truncate a mapped file at any time. Callers must cope with bytes that change. Touching
// bytes that were cut off raises SIGBUS; the handler asks mapped_file_at() for the file's name.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "io/file.h"

namespace hetsort::io {

std::size_t system_page_bytes();
/// Whether files can be mapped where the system has pages of `page_bytes`, by default its own. Memory for records is
/// aligned to Buffer::kAlignmentBytes, which mappings of pages of 16 or 64 KiB do not fit.
bool can_map_files(std::size_t page_bytes = system_page_bytes());

/// Files mapped over parts of a buffer. They stay mapped until the buffer is freed. Thread safety: one thread adds;
/// then any thread may populate().
class MappedFiles {
 public:
  MappedFiles() = default;
  MappedFiles(const MappedFiles&) = delete;
  MappedFiles& operator=(const MappedFiles&) = delete;
  ~MappedFiles();

  /// Maps the bytes of `file` from `offset_bytes` on over `part`, read-only. The last page reads as zeros behind the
  /// end of the file. Requires: can_map_files(); the address of `part` and `offset_bytes` are equal modulo the page;
  /// nothing else is in the pages of `part`; a regular file. Throws: Error.
  void lay_over(const File& file, std::span<std::byte> part, std::uint64_t offset_bytes);
  /// Makes mapped_file_at() find these files from now on. Call once. Thread safety: any thread.
  void announce() const;
  /// Releases the page tables of one of `parts` equal parts; it stays mapped. Several threads do this faster than the
  /// end of the mapping does. Thread safety: each part by another thread.
  void let_go(std::size_t part, std::size_t parts) const;

 private:
  friend const char* mapped_file_at(const void* address) noexcept;
  struct Range {
    std::byte* begin = nullptr;
    std::byte* end = nullptr;
    std::string name;
  };
  static std::atomic<const MappedFiles*> announced;  // the first of a list
  std::vector<Range> ranges_;
  mutable std::atomic<const MappedFiles*> next_{nullptr};  // the next one in the list
};

/// Fills the page tables for `part` of a mapped `file`, so that touching it costs no page faults. Counted as a read,
/// and fails as one. Throws: Error, also if the file has become shorter.
void populate(const File& file, std::span<const std::byte> part);

/// The name of the file that is mapped over `address`; nullptr if there is none. Async-signal-safe.
const char* mapped_file_at(const void* address) noexcept;

}  // namespace hetsort::io
