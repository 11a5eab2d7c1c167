// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
//
// The system call layer: every call on files goes through here to the kernel and is counted. Tests replace the kernel
// (kernel.h) to make every call of a run fail. Nothing here retries or throws; File and the queues do.
#pragma once

#include <sys/stat.h>
#include <sys/types.h>

#include <array>
#include <cstddef>
#include <cstdint>

#include "io/calls/kernel.h"

namespace hetsort::io {

/// Calls and bytes since the process began. Bytes are those the kernel confirmed.
struct Traffic {
  std::array<std::uint64_t, kCallKinds> calls{};
  std::uint64_t bytes_read = 0;
  std::uint64_t bytes_written = 0;
};
/// Thread safety: any thread, any time; the figures are each exact but not taken at one instant.
Traffic traffic();

/// The system calls, with their results: -1 and errno on failure. Those that end in _at take a name in the open folder
/// `folder` (AT_FDCWD: a path).
namespace syscalls {
int open(const char* path, int flags, mode_t mode);
int open_at(int folder, const char* name, int flags, mode_t mode);
ssize_t read(int fd, void* into, std::size_t bytes);
ssize_t pread(int fd, void* into, std::size_t bytes, std::uint64_t offset);
ssize_t write(int fd, const void* from, std::size_t bytes);
ssize_t pwrite(int fd, const void* from, std::size_t bytes, std::uint64_t offset);
int sync(int fd);
int allocate(int fd, std::uint64_t offset, std::uint64_t bytes);
int truncate(int fd, std::uint64_t bytes);
int link_descriptor_at(int fd, int folder, const char* name);
int rename_at(int folder, const char* from, const char* to);
int fstat(int fd, struct stat* into);
int stat(const char* path, struct stat* into);
/// Does not follow a link.
int stat_at(int folder, const char* name, struct stat* into);
/// Whether the process, with its effective ids, may do `mode` (as in access(2)) with the file; counted as a stat.
int access_at(int folder, const char* name, int mode);
int change_mode(int fd, mode_t mode);
int unlink_at(int folder, const char* name);
/// Maps the file's bytes from `offset` on over the memory at `at`, read-only.
int map_over(int fd, void* at, std::size_t bytes, std::uint64_t offset);
/// Maps pages before they are touched, where the kernel can (5.14); counted as a read. EFAULT where the file has become
/// shorter.
ssize_t populate(const void* at, std::size_t bytes);

/// Counts an asynchronous read or write that ended with this result, bytes or -errno. Returns the result, or that of a
/// kernel that tests have put in place.
std::int64_t completed(Call kind, std::int64_t result, void* data);
}  // namespace syscalls

}  // namespace hetsort::io
