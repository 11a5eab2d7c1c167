// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
//
// Which way a file is best read or written. Direct I/O spares the processor a copy and the page cache its contents, but
// only where there is a disk to wait for: what lies in memory already is copied fastest by plain calls.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

#include "io/file.h"
#include "io/queue.h"

namespace hetsort::io {

/// What --io asks for.
enum class Access : std::uint8_t { kAuto, kUring, kThreads, kBuffered };
/// "auto", "uring", "threads" or "buffered".
std::optional<Access> parse_access(std::string_view text);
std::string_view name_of(Access access);

/// What direct I/O on a file needs: memory, offset and length must be multiples.
struct DirectIo {
  bool possible = false;
  std::size_t memory_alignment_bytes = 4096;
  std::size_t offset_alignment_bytes = 4096;
};
/// Asks the kernel (statx), and by trying. The file's own mode stays as it was.
DirectIo direct_io(const File& file);

/// The share of `file` in the page cache, 0 to 1, from 64 places spread over it; 0 when it cannot be told. Reads
/// nothing that is not there.
double cached_share(const File& file);

/// The backend for files that take direct I/O: as asked, else io_uring where allowed, else threads.
Backend direct_backend(Access access);

/// How to transfer `file`. kBuffered when asked for, and when direct I/O is refused or would need more than 4096-byte
/// alignment; when it is left to us, also for storage in memory and for files that are mostly in the page cache.
/// Anything else means that set_direct() will work. Requires: direct I/O is not on. Thread safety: one thread a file.
Backend choose_backend(const File& file, Access access);

}  // namespace hetsort::io
