// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
#include "io/calls/system_calls.h"

#include <fcntl.h>

#include <atomic>

namespace hetsort::io {

namespace {

struct AtomicTraffic {
  std::array<std::atomic<std::uint64_t>, kCallKinds> calls{};
  std::atomic<std::uint64_t> bytes_read{0};
  std::atomic<std::uint64_t> bytes_written{0};
};
AtomicTraffic counted;

void add(std::atomic<std::uint64_t>& counter, std::uint64_t amount) {
  counter.fetch_add(amount, std::memory_order_relaxed);
}

/// Counts a call and returns the kernel that answers it.
const Kernel& counted_kernel(Call kind) {
  add(counted.calls[static_cast<std::size_t>(kind)], 1);
  return kernel();
}

/// Counts the bytes of a read or write.
template <typename Result>
Result confirmed(std::atomic<std::uint64_t>& counter, Result bytes) {
  if (bytes > 0) add(counter, static_cast<std::uint64_t>(bytes));
  return bytes;
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
  return counted_kernel(Call::kOpen).open_at(folder, name, flags, mode);
}

ssize_t read(int fd, void* into, std::size_t bytes) {
  return confirmed(counted.bytes_read, counted_kernel(Call::kRead).read(fd, into, bytes));
}

ssize_t pread(int fd, void* into, std::size_t bytes, std::uint64_t offset) {
  return confirmed(counted.bytes_read, counted_kernel(Call::kRead).pread(fd, into, bytes, offset));
}

ssize_t write(int fd, const void* from, std::size_t bytes) {
  return confirmed(counted.bytes_written, counted_kernel(Call::kWrite).write(fd, from, bytes));
}

ssize_t pwrite(int fd, const void* from, std::size_t bytes, std::uint64_t offset) {
  return confirmed(counted.bytes_written, counted_kernel(Call::kWrite).pwrite(fd, from, bytes, offset));
}

int sync(int fd) { return counted_kernel(Call::kSync).sync(fd); }

int allocate(int fd, std::uint64_t offset, std::uint64_t bytes) {
  return counted_kernel(Call::kAllocate).allocate(fd, offset, bytes);
}

int truncate(int fd, std::uint64_t bytes) { return counted_kernel(Call::kTruncate).truncate(fd, bytes); }

int link_descriptor_at(int fd, int folder, const char* name) {
  return counted_kernel(Call::kLink).link_descriptor_at(fd, folder, name);
}

int rename_at(int folder, const char* from, const char* to) {
  return counted_kernel(Call::kRename).rename_at(folder, from, to);
}

int fstat(int fd, struct stat* into) { return counted_kernel(Call::kStat).fstat(fd, into); }

int stat(const char* path, struct stat* into) { return counted_kernel(Call::kStat).stat(path, into); }

int stat_at(int folder, const char* name, struct stat* into) {
  return counted_kernel(Call::kStat).stat_at(folder, name, into);
}

int access_at(int folder, const char* name, int mode) {
  return counted_kernel(Call::kStat).access_at(folder, name, mode);
}

int change_mode(int fd, mode_t mode) { return counted_kernel(Call::kChmod).change_mode(fd, mode); }

int unlink_at(int folder, const char* name) { return counted_kernel(Call::kUnlink).unlink_at(folder, name); }

int map_over(int fd, void* at, std::size_t bytes, std::uint64_t offset) {
  return counted_kernel(Call::kMap).map_over(fd, at, bytes, offset);
}

ssize_t populate(const void* at, std::size_t bytes) {
  return confirmed(counted.bytes_read, counted_kernel(Call::kRead).populate(at, bytes));
}

std::int64_t completed(Call kind, std::int64_t result, void* data) {
  const std::int64_t answered = counted_kernel(kind).completed(kind, result, data);
  return confirmed(kind == Call::kRead ? counted.bytes_read : counted.bytes_written, answered);
}

}  // namespace syscalls
}  // namespace hetsort::io
