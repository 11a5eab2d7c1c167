// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
//
// The system calls on files, behind one interface that tests replace. Internal to io/.
#pragma once

#include <sys/stat.h>
#include <sys/types.h>

#include <cstddef>
#include <cstdint>

namespace hetsort::io {

/// The kinds of calls on files.
enum class Call : std::uint8_t {
  kOpen,
  kRead,
  kWrite,
  kSync,
  kAllocate,
  kTruncate,
  kLink,
  kRename,
  kStat,
  kChmod,
  kUnlink,
  kMap
};
inline constexpr std::size_t kCallKinds = 12;

/// Each member is one system call, described in system_calls.h. The members here call the kernel.
/// Thread safety: any thread.
class Kernel {
 public:
  constexpr Kernel() = default;
  Kernel(const Kernel&) = delete;
  Kernel& operator=(const Kernel&) = delete;
  virtual ~Kernel() = default;

  virtual int open_at(int folder, const char* name, int flags, mode_t mode) const;
  virtual ssize_t read(int fd, void* into, std::size_t bytes) const;
  virtual ssize_t pread(int fd, void* into, std::size_t bytes, std::uint64_t offset) const;
  virtual ssize_t write(int fd, const void* from, std::size_t bytes) const;
  virtual ssize_t pwrite(int fd, const void* from, std::size_t bytes, std::uint64_t offset) const;
  virtual int sync(int fd) const;
  virtual int allocate(int fd, std::uint64_t offset, std::uint64_t bytes) const;
  virtual int truncate(int fd, std::uint64_t bytes) const;
  virtual int link_descriptor_at(int fd, int folder, const char* name) const;
  virtual int rename_at(int folder, const char* from, const char* to) const;
  virtual int fstat(int fd, struct stat* into) const;
  virtual int stat(const char* path, struct stat* into) const;
  virtual int stat_at(int folder, const char* name, struct stat* into) const;
  virtual int access_at(int folder, const char* name, int mode) const;
  virtual int change_mode(int fd, mode_t mode) const;
  virtual int unlink_at(int folder, const char* name) const;
  virtual int map_over(int fd, void* at, std::size_t bytes, std::uint64_t offset) const;
  virtual ssize_t populate(const void* at, std::size_t bytes) const;
  /// The result of an asynchronous read or write: bytes, or -errno.
  virtual std::int64_t completed(Call kind, std::int64_t result, void* data) const;
};

/// Replaces the kernel for all calls from now on; null brings the real one back. The program and libhetsort never
/// call it. Requires: `kernel` outlives all calls. Thread safety: any thread.
void set_kernel(const Kernel* kernel);
/// The kernel in force.
const Kernel& kernel();

}  // namespace hetsort::io
