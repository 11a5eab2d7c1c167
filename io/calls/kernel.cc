// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
#include "io/calls/kernel.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cerrno>
#include <cstdio>

namespace hetsort::io {

namespace {

#ifdef MADV_POPULATE_READ
constexpr int kPopulateRead = MADV_POPULATE_READ;
#else
constexpr int kPopulateRead = 22;  // MADV_POPULATE_READ, the same on all architectures
#endif

// It outlives all threads: it is never destroyed.
const Kernel& real_kernel() {
  static const auto& real = *new Kernel;
  return real;
}

std::atomic<const Kernel*> in_force{nullptr};

}  // namespace

int Kernel::open_at(int folder, const char* name, int flags, mode_t mode) const {
  return ::openat(folder, name, flags | O_CLOEXEC, mode);
}

ssize_t Kernel::read(int fd, void* into, std::size_t bytes) const { return ::read(fd, into, bytes); }

ssize_t Kernel::pread(int fd, void* into, std::size_t bytes, std::uint64_t offset) const {
  return ::pread(fd, into, bytes, static_cast<off_t>(offset));
}

ssize_t Kernel::write(int fd, const void* from, std::size_t bytes) const { return ::write(fd, from, bytes); }

ssize_t Kernel::pwrite(int fd, const void* from, std::size_t bytes, std::uint64_t offset) const {
  return ::pwrite(fd, from, bytes, static_cast<off_t>(offset));
}

int Kernel::sync(int fd) const { return ::fsync(fd); }

int Kernel::allocate(int fd, std::uint64_t offset, std::uint64_t bytes) const {
  return ::fallocate(fd, 0, static_cast<off_t>(offset), static_cast<off_t>(bytes));
}

int Kernel::truncate(int fd, std::uint64_t bytes) const { return ::ftruncate(fd, static_cast<off_t>(bytes)); }

int Kernel::link_descriptor_at(int fd, int folder, const char* name) const {
  std::array<char, 40> self{};
  std::snprintf(self.data(), self.size(), "/proc/self/fd/%d", fd);
  return ::linkat(AT_FDCWD, self.data(), folder, name, AT_SYMLINK_FOLLOW);
}

int Kernel::rename_at(int folder, const char* from, const char* to) const {
  return ::renameat(folder, from, folder, to);
}

int Kernel::fstat(int fd, struct stat* into) const { return ::fstat(fd, into); }

int Kernel::stat(const char* path, struct stat* into) const { return ::stat(path, into); }

int Kernel::stat_at(int folder, const char* name, struct stat* into) const {
  return ::fstatat(folder, name, into, AT_SYMLINK_NOFOLLOW);
}

int Kernel::access_at(int folder, const char* name, int mode) const {
  return ::faccessat(folder, name, mode, AT_EACCESS);
}

int Kernel::change_mode(int fd, mode_t mode) const { return ::fchmod(fd, mode); }

int Kernel::unlink_at(int folder, const char* name) const { return ::unlinkat(folder, name, 0); }

int Kernel::map_over(int fd, void* at, std::size_t bytes, std::uint64_t offset) const {
  const int flags = MAP_SHARED | MAP_FIXED;
  return ::mmap(at, bytes, PROT_READ, flags, fd, static_cast<off_t>(offset)) == MAP_FAILED ? -1 : 0;
}

ssize_t Kernel::populate(const void* at, std::size_t bytes) const {
  // Older kernels refuse this call. Pages are then mapped when they are touched.
  if (::madvise(const_cast<void*>(at), bytes, kPopulateRead) != 0 && errno != EINVAL) return -1;
  return static_cast<ssize_t>(bytes);
}

std::int64_t Kernel::completed(Call /*kind*/, std::int64_t result, void* /*data*/) const { return result; }

void set_kernel(const Kernel* kernel) { in_force.store(kernel, std::memory_order_release); }

const Kernel& kernel() {
  const Kernel* replaced = in_force.load(std::memory_order_acquire);
  return replaced != nullptr ? *replaced : real_kernel();
}

}  // namespace hetsort::io
