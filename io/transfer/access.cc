// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
#include "io/transfer/access.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <optional>
#include <utility>

#include "io/calls/retry.h"
#include "io/file_system.h"

namespace hetsort::io {

namespace {

// All users of direct I/O in hetsort align to this.
constexpr std::size_t kAlignmentBytes = 4096;
constexpr std::uint64_t kSamples = 64;
// From this fraction on, reading the rest buffered costs less than reading all of the file from disk again.
constexpr double kCachedFraction = 0.75;

constexpr std::array<std::pair<std::string_view, Access>, 4> kNames{{{"auto", Access::kAuto},
                                                                     {"uring", Access::kUring},
                                                                     {"threads", Access::kThreads},
                                                                     {"buffered", Access::kBuffered}}};

// cachestat(2), of Linux 6.5, which the C library does not know yet.
struct CachedRange {
  std::uint64_t offset;
  std::uint64_t bytes;
};
struct CachedPages {
  std::uint64_t cached, dirty, writeback, evicted, recently_evicted;
};
#ifdef __NR_cachestat
constexpr long kCachestat = __NR_cachestat;
#else
constexpr long kCachestat = 451;  // number of the system call, the same on all architectures
#endif

/// Whether the byte at `offset` is in the page cache; nullopt if the kernel does not report it.
std::optional<bool> is_cached(int fd, std::uint64_t offset) {
  const CachedRange range{offset, 1};
  CachedPages pages{};
  if (::syscall(kCachestat, fd, &range, &pages, 0U) == 0) return pages.cached > 0;
  char byte = 0;
  const iovec place{&byte, 1};
  const ssize_t got = ::preadv2(fd, &place, 1, static_cast<off_t>(offset), RWF_NOWAIT);
  if (got >= 0) return got == 1;
  if (errno == EAGAIN || errno == EINTR) return false;
  return std::nullopt;
}

/// The alignments that statx() of Linux 6.1 returns; nullopt if it does not.
std::optional<DirectIo> reported_by_kernel([[maybe_unused]] const File& file) {
#ifdef STATX_DIOALIGN
  struct statx status {};
  if (retry_interrupted([&] { return ::statx(file.descriptor(), "", AT_EMPTY_PATH, STATX_DIOALIGN, &status); }) == 0 &&
      (status.stx_mask & STATX_DIOALIGN) != 0)
    return DirectIo{status.stx_dio_offset_align != 0, status.stx_dio_mem_align, status.stx_dio_offset_align};
#endif
  return std::nullopt;
}

bool takes_direct(const File& file) {
  if (!file.set_direct(true)) return false;
  file.set_direct(false);
  return true;
}

}  // namespace

std::string_view name_of(Access access) {
  const auto* found =
      std::find_if(kNames.begin(), kNames.end(), [&](const auto& each) { return each.second == access; });
  return found == kNames.end() ? "" : found->first;
}

DirectIo direct_io(const File& file) {
  const FileKind kind = file.status().kind;
  DirectIo direct;
  if (kind != FileKind::kRegular && kind != FileKind::kBlockDevice) return direct;
  if (const auto reported = reported_by_kernel(file); reported && reported->possible) direct = *reported;
  // statx() describes the file. Whether this descriptor can be switched shows only when it is tried.
  direct.possible = takes_direct(file);
  return direct;
}

double cached_fraction(const File& file) {
  const std::uint64_t size = file.status().size_bytes;
  if (size == 0) return 0;
  std::uint64_t cached = 0;
  for (std::uint64_t i = 0; i < kSamples; ++i) {
    // The middles of 64 equal parts; written so that it does not overflow.
    const std::uint64_t offset = size / kSamples * i + size % kSamples * i / kSamples + size / kSamples / 2;
    const std::optional<bool> is = is_cached(file.descriptor(), std::min(offset, size - 1));
    if (!is) return 0;
    cached += *is ? 1 : 0;
  }
  return static_cast<double>(cached) / kSamples;
}

Backend direct_backend(Access access) {
  switch (access) {
    case Access::kUring:
      return Backend::kUring;
    case Access::kThreads:
      return Backend::kThreads;
    case Access::kBuffered:
      return Backend::kBuffered;
    case Access::kAuto:
      break;
  }
  return uring_available() ? Backend::kUring : Backend::kThreads;
}

Backend choose_write_backend(const File& file, Access access) {
  if (access == Access::kBuffered) return Backend::kBuffered;
  const DirectIo direct = direct_io(file);
  if (!direct.possible) return Backend::kBuffered;
  if (std::max(direct.memory_alignment_bytes, direct.offset_alignment_bytes) > kAlignmentBytes)
    return Backend::kBuffered;
  if (access == Access::kAuto && storage_of(file.descriptor()) == Storage::kMemory) return Backend::kBuffered;
  return direct_backend(access);
}

Backend choose_backend(const File& file, Access access) {
  const Backend backend = choose_write_backend(file, access);
  const bool cached =
      backend != Backend::kBuffered && access == Access::kAuto && cached_fraction(file) >= kCachedFraction;
  return cached ? Backend::kBuffered : backend;
}

}  // namespace hetsort::io
