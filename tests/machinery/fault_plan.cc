// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
#include "tests/machinery/fault_plan.h"

#include <unistd.h>

#include <algorithm>
#include <cerrno>

#include "io/calls/buffer.h"
#include "tests/machinery/fault_rules.h"

namespace hetsort::machinery {

namespace {

using io::Call;
using io::Kernel;

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

/// Flips one bit in the middle.
void corrupt(void* data, std::size_t bytes) {
  if (bytes > 0) static_cast<unsigned char*>(data)[bytes / 2] ^= 0x10;
}

template <typename Read>
ssize_t faulty_read(void* into, std::size_t bytes, const Read& call) {
  const Fault fault = next_fault(Call::kRead);
  if (refused(fault)) return -1;
  const ssize_t got = call(shortened(fault, bytes));
  if (got > 0 && fault.kind == Fault::Kind::kCorrupt) corrupt(into, static_cast<std::size_t>(got));
  return got;
}

template <typename Write>
ssize_t faulty_write(const void* from, std::size_t bytes, const Write& call) {
  const Fault fault = next_fault(Call::kWrite);
  if (refused(fault)) return -1;
  io::Buffer damaged;  // aligned for direct I/O
  if (fault.kind == Fault::Kind::kCorrupt && bytes > 0) {
    damaged = io::Buffer(bytes);
    std::copy_n(static_cast<const std::byte*>(from), bytes, damaged.data());
    corrupt(damaged.data(), bytes);
    from = damaged.data();
  }
  return call(from, shortened(fault, bytes));
}

class FaultyKernel final : public Kernel {
 public:
  int open_at(int folder, const char* name, int flags, mode_t mode) const override {
    return fails(Call::kOpen) ? -1 : Kernel::open_at(folder, name, flags, mode);
  }
  ssize_t read(int fd, void* into, std::size_t bytes) const override {
    return faulty_read(into, bytes, [&](std::size_t asked) { return Kernel::read(fd, into, asked); });
  }
  ssize_t pread(int fd, void* into, std::size_t bytes, std::uint64_t offset) const override {
    return faulty_read(into, bytes, [&](std::size_t asked) { return Kernel::pread(fd, into, asked, offset); });
  }
  ssize_t write(int fd, const void* from, std::size_t bytes) const override {
    return faulty_write(from, bytes,
                        [&](const void* data, std::size_t asked) { return Kernel::write(fd, data, asked); });
  }
  ssize_t pwrite(int fd, const void* from, std::size_t bytes, std::uint64_t offset) const override {
    return faulty_write(from, bytes,
                        [&](const void* data, std::size_t asked) { return Kernel::pwrite(fd, data, asked, offset); });
  }
  int sync(int fd) const override { return fails(Call::kSync) ? -1 : Kernel::sync(fd); }
  int allocate(int fd, std::uint64_t offset, std::uint64_t bytes) const override {
    return fails(Call::kAllocate) ? -1 : Kernel::allocate(fd, offset, bytes);
  }
  int truncate(int fd, std::uint64_t bytes) const override {
    return fails(Call::kTruncate) ? -1 : Kernel::truncate(fd, bytes);
  }
  int link_descriptor_at(int fd, int folder, const char* name) const override {
    return fails(Call::kLink) ? -1 : Kernel::link_descriptor_at(fd, folder, name);
  }
  int rename_at(int folder, const char* from, const char* to) const override {
    return fails(Call::kRename) ? -1 : Kernel::rename_at(folder, from, to);
  }
  int fstat(int fd, struct stat* into) const override { return fails(Call::kStat) ? -1 : Kernel::fstat(fd, into); }
  int stat(const char* path, struct stat* into) const override {
    return fails(Call::kStat) ? -1 : Kernel::stat(path, into);
  }
  int stat_at(int folder, const char* name, struct stat* into) const override {
    return fails(Call::kStat) ? -1 : Kernel::stat_at(folder, name, into);
  }
  int access_at(int folder, const char* name, int mode) const override {
    return fails(Call::kStat) ? -1 : Kernel::access_at(folder, name, mode);
  }
  int change_mode(int fd, mode_t mode) const override {
    return fails(Call::kChmod) ? -1 : Kernel::change_mode(fd, mode);
  }
  int unlink_at(int folder, const char* name) const override {
    return fails(Call::kUnlink) ? -1 : Kernel::unlink_at(folder, name);
  }
  int map_over(int fd, void* at, std::size_t bytes, std::uint64_t offset) const override {
    return fails(Call::kMap) ? -1 : Kernel::map_over(fd, at, bytes, offset);
  }
  /// `corrupt` does nothing: the pages are the file's.
  ssize_t populate(const void* at, std::size_t bytes) const override {
    const Fault fault = next_fault(Call::kRead);
    if (refused(fault)) return -1;
    const std::size_t page = io::Buffer::kAlignmentBytes;
    return Kernel::populate(at, std::min(bytes, (shortened(fault, bytes) + page - 1) / page * page));
  }
  std::int64_t completed(Call kind, std::int64_t result, void* data) const override {
    const Fault fault = next_fault(kind);
    if (refused(fault)) return -errno;
    if (result <= 0) return result;
    // A write's bytes are already on their way when it completes; corruption of writes is tried through pwrite.
    if (fault.kind == Fault::Kind::kCorrupt && kind == Call::kRead) corrupt(data, static_cast<std::size_t>(result));
    return static_cast<std::int64_t>(shortened(fault, static_cast<std::size_t>(result)));
  }

 private:
  static bool fails(Call kind) { return refused(next_fault(kind)); }
};

}  // namespace

void set_fault_plan(const std::string& text) {
  static const auto& faulty = *new FaultyKernel;  // outlives all threads
  set_fault_rules(text);
  io::set_kernel(text.empty() ? nullptr : &faulty);
}

std::uint64_t faults_fired() { return rules_fired(); }

}  // namespace hetsort::machinery
