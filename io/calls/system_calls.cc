// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
#include "io/calls/system_calls.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstdio>

#include "io/calls/buffer.h"
#include "io/calls/fault_plan.h"

namespace hetsort::io {

namespace {

#ifdef MADV_POPULATE_READ
constexpr int kPopulateRead = MADV_POPULATE_READ;
#else
constexpr int kPopulateRead = 22;  // MADV_POPULATE_READ, the same on all architectures
#endif

struct AtomicTraffic {
  std::array<std::atomic<std::uint64_t>, kCallKinds> calls{};
  std::atomic<std::uint64_t> bytes_read{0};
  std::atomic<std::uint64_t> bytes_written{0};
};
AtomicTraffic counted;

void add(std::atomic<std::uint64_t>& counter, std::uint64_t amount) {
  counter.fetch_add(amount, std::memory_order_relaxed);
}

Fault begin(Call kind) {
  add(counted.calls[static_cast<std::size_t>(kind)], 1);
  return next_fault(kind);
}

/// True when the fault replaces the call; errno is then set.
bool refused(const Fault& fault) {
  if (fault.kind == Fault::Kind::kDelay) usleep(static_cast<useconds_t>(fault.value) * 1000);
  if (fault.kind != Fault::Kind::kErrno) return false;
  errno = fault.value;
  return true;
}

std::size_t shortened(const Fault& fault, std::size_t bytes) {
  return fault.kind == Fault::Kind::kShort && bytes > 1 ? bytes / 2 : bytes;
}

/// Flips one bit in the middle of what was read.
void corrupt(void* data, std::size_t bytes) {
  if (bytes > 0) static_cast<unsigned char*>(data)[bytes / 2] ^= 0x10;
}

template <typename Read>
ssize_t counted_read(void* into, std::size_t bytes, const Read& call) {
  const Fault fault = begin(Call::kRead);
  if (refused(fault)) return -1;
  const ssize_t got = call(shortened(fault, bytes));
  if (got > 0) add(counted.bytes_read, static_cast<std::uint64_t>(got));
  if (got > 0 && fault.kind == Fault::Kind::kCorrupt) corrupt(into, static_cast<std::size_t>(got));
  return got;
}

template <typename Write>
ssize_t counted_write(const void* from, std::size_t bytes, const Write& call) {
  const Fault fault = begin(Call::kWrite);
  if (refused(fault)) return -1;
  Buffer damaged;  // aligned for direct I/O
  if (fault.kind == Fault::Kind::kCorrupt && bytes > 0) {
    damaged = Buffer(bytes);
    std::copy_n(static_cast<const std::byte*>(from), bytes, damaged.data());
    corrupt(damaged.data(), bytes);
    from = damaged.data();
  }
  const ssize_t put = call(from, shortened(fault, bytes));
  if (put > 0) add(counted.bytes_written, static_cast<std::uint64_t>(put));
  return put;
}

}  // namespace

Traffic traffic() {
  Traffic now;
  for (std::size_t kind = 0; kind < kCallKinds; ++kind) now.calls[kind] = counted.calls[kind].load();
  now.bytes_read = counted.bytes_read.load();
  now.bytes_written = counted.bytes_written.load();
  return now;
}

namespace syscalls {

int open(const char* path, int flags, mode_t mode) { return open_at(AT_FDCWD, path, flags, mode); }

int open_at(int folder, const char* name, int flags, mode_t mode) {
  return refused(begin(Call::kOpen)) ? -1 : ::openat(folder, name, flags | O_CLOEXEC, mode);
}

ssize_t read(int fd, void* into, std::size_t bytes) {
  return counted_read(into, bytes, [&](std::size_t asked) { return ::read(fd, into, asked); });
}

ssize_t pread(int fd, void* into, std::size_t bytes, std::uint64_t offset) {
  return counted_read(into, bytes,
                      [&](std::size_t asked) { return ::pread(fd, into, asked, static_cast<off_t>(offset)); });
}

ssize_t write(int fd, const void* from, std::size_t bytes) {
  return counted_write(from, bytes, [&](const void* data, std::size_t asked) { return ::write(fd, data, asked); });
}

ssize_t pwrite(int fd, const void* from, std::size_t bytes, std::uint64_t offset) {
  return counted_write(from, bytes, [&](const void* data, std::size_t asked) {
    return ::pwrite(fd, data, asked, static_cast<off_t>(offset));
  });
}

int sync(int fd) { return refused(begin(Call::kSync)) ? -1 : ::fsync(fd); }

int allocate(int fd, std::uint64_t offset, std::uint64_t bytes) {
  if (refused(begin(Call::kAllocate))) return -1;
  return ::fallocate(fd, 0, static_cast<off_t>(offset), static_cast<off_t>(bytes));
}

int truncate(int fd, std::uint64_t bytes) {
  return refused(begin(Call::kTruncate)) ? -1 : ::ftruncate(fd, static_cast<off_t>(bytes));
}

int link_descriptor_at(int fd, int folder, const char* name) {
  if (refused(begin(Call::kLink))) return -1;
  std::array<char, 40> self{};
  std::snprintf(self.data(), self.size(), "/proc/self/fd/%d", fd);
  return ::linkat(AT_FDCWD, self.data(), folder, name, AT_SYMLINK_FOLLOW);
}

int rename_at(int folder, const char* from, const char* to) {
  return refused(begin(Call::kRename)) ? -1 : ::renameat(folder, from, folder, to);
}

int fstat(int fd, struct stat* into) { return refused(begin(Call::kStat)) ? -1 : ::fstat(fd, into); }

int stat(const char* path, struct stat* into) { return refused(begin(Call::kStat)) ? -1 : ::stat(path, into); }

int stat_at(int folder, const char* name, struct stat* into) {
  return refused(begin(Call::kStat)) ? -1 : ::fstatat(folder, name, into, AT_SYMLINK_NOFOLLOW);
}

int access_at(int folder, const char* name, int mode) {
  return refused(begin(Call::kStat)) ? -1 : ::faccessat(folder, name, mode, AT_EACCESS);
}

int change_mode(int fd, mode_t mode) { return refused(begin(Call::kChmod)) ? -1 : ::fchmod(fd, mode); }

int unlink_at(int folder, const char* name) { return refused(begin(Call::kUnlink)) ? -1 : ::unlinkat(folder, name, 0); }

int map_over(int fd, void* at, std::size_t bytes, std::uint64_t offset) {
  if (refused(begin(Call::kMap))) return -1;
  const int flags = MAP_SHARED | MAP_FIXED;
  return ::mmap(at, bytes, PROT_READ, flags, fd, static_cast<off_t>(offset)) == MAP_FAILED ? -1 : 0;
}

ssize_t populate(const void* at, std::size_t bytes) {
  const Fault fault = begin(Call::kRead);
  if (refused(fault)) return -1;
  const std::size_t page = Buffer::kAlignmentBytes;
  const std::size_t asked = std::min(bytes, (shortened(fault, bytes) + page - 1) / page * page);
  // Older kernels refuse this call. Pages are then mapped when they are touched.
  if (::madvise(const_cast<void*>(at), asked, kPopulateRead) != 0 && errno != EINVAL) return -1;
  add(counted.bytes_read, asked);
  return static_cast<ssize_t>(asked);
}

std::int64_t completed(Call kind, std::int64_t result, void* data) {
  const Fault fault = begin(kind);
  if (refused(fault)) return -errno;
  if (result <= 0) return result;
  // A write's bytes are already on their way when it completes; corruption of writes is tried through pwrite.
  if (fault.kind == Fault::Kind::kCorrupt && kind == Call::kRead) corrupt(data, static_cast<std::size_t>(result));
  const auto confirmed = static_cast<std::int64_t>(shortened(fault, static_cast<std::size_t>(result)));
  add(kind == Call::kRead ? counted.bytes_read : counted.bytes_written, static_cast<std::uint64_t>(confirmed));
  return confirmed;
}

}  // namespace syscalls
}  // namespace hetsort::io
