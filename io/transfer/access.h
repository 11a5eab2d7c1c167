// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
//
// How to read or write a file: with io_uring or threads and direct I/O, or with plain calls.
//
// In: an open file and the user's --io. Out: a Backend for make_queue(). Direct I/O saves a copy and leaves the page
// cache to others. For bytes that are in memory already plain calls are fastest.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "io/file.h"
#include "io/transfer/queue.h"

namespace hetsort::io {

/// The values of --io.
enum class Access : std::uint8_t { kAuto, kUring, kThreads, kBuffered };
/// "auto", "uring", "threads" or "buffered".
std::string_view name_of(Access access);

/// What direct I/O on a file needs: memory, offset and length must be multiples.
struct DirectIo {
  bool possible = false;
  std::size_t memory_alignment_bytes = 4096;
  std::size_t offset_alignment_bytes = 4096;
};
/// What direct I/O on `file` needs: what the kernel reports (statx), confirmed by a trial. The file's own mode stays as
/// it was.
DirectIo direct_io(const File& file);

/// The fraction of `file` in the page cache, 0 to 1, estimated from 64 samples; 0 where the kernel does not report it.
/// Reads nothing into the cache.
double cached_fraction(const File& file);

/// The backend for direct I/O: the one that `access` names; with kAuto io_uring where the system allows it, otherwise
/// threads.
Backend direct_backend(Access access);

/// Chooses how to read `file`. kBuffered if `access` says so, or if direct I/O is refused or needs more than 4096-byte
/// alignment; with kAuto also for storage in memory and for files that are mostly in the page cache. With any other
/// result set_direct() works. Requires: direct I/O is not on. Thread safety: one thread a file.
Backend choose_backend(const File& file, Access access);
/// Chooses how to write `file`, as choose_backend() does for reading, but without regard to the page cache.
Backend choose_write_backend(const File& file, Access access);

}  // namespace hetsort::io
