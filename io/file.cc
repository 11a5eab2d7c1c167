// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
#include "io/file.h"

#include <fcntl.h>
#include <linux/fs.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <utility>

#include "io/calls/retry.h"
#include "io/calls/system_calls.h"
#include "io/nonce.h"

namespace hetsort::io {

namespace {

// Linux moves at most 0x7ffff000 bytes a call; a round gigabyte keeps every call aligned.
constexpr std::size_t kMaxTransferBytes = std::size_t{1} << 30;

constexpr unsigned kPrivateMode = 0600;

/// Calls `step(done, bytes)` until `bytes` are moved or it returns 0; EINTR is tried again. Returns 0, or the errno of
/// the call that failed; `done` is the number of bytes moved.
template <typename Step>
int full_transfer(std::size_t bytes, std::size_t& done, const Step& step) {
  done = 0;
  while (done < bytes) {
    const ssize_t moved =
        retry_interrupted([&]() -> ssize_t { return step(done, std::min(bytes - done, kMaxTransferBytes)); });
    if (moved < 0) return errno;
    if (moved == 0) break;
    done += static_cast<std::size_t>(moved);
  }
  return 0;
}

std::string progress(std::size_t done, std::size_t bytes, std::uint64_t offset) {
  return std::to_string(done) + " of " + std::to_string(bytes) + " bytes at offset " + std::to_string(offset) +
         " written";
}

FileKind kind_of(unsigned mode) {
  if (S_ISREG(mode)) return FileKind::kRegular;
  if (S_ISBLK(mode)) return FileKind::kBlockDevice;
  return S_ISDIR(mode) ? FileKind::kDirectory : FileKind::kStream;
}

std::uint64_t size_of(int fd, const struct stat& status) {
  std::uint64_t size = 0;
  if (S_ISREG(status.st_mode)) return static_cast<std::uint64_t>(status.st_size);
  if (S_ISBLK(status.st_mode)) static_cast<void>(::ioctl(fd, BLKGETSIZE64, &size));
  return size;
}

struct stat status_of(int fd, const std::string& name) {
  struct stat status {};
  if (retry_interrupted([&] { return syscalls::fstat(fd, &status); }) != 0) throw Error("stat", name, errno);
  return status;
}

}  // namespace

std::optional<FileKind> kind_at(const std::string& path) {
  struct stat status {};
  if (retry_interrupted([&] { return syscalls::stat(path.c_str(), &status); }) != 0) return std::nullopt;
  return kind_of(status.st_mode);
}

File::File(int fd, std::string name, bool owned) : fd_(fd), name_(std::move(name)), owned_(owned) {}

File::File(File&& other) noexcept
    : fd_(std::exchange(other.fd_, -1)),
      name_(std::move(other.name_)),
      owned_(other.owned_),
      read_filter_(std::move(other.read_filter_)),
      write_filter_(std::move(other.write_filter_)) {}

File& File::operator=(File&& other) noexcept {
  if (this != &other) {
    release();
    fd_ = std::exchange(other.fd_, -1);
    name_ = std::move(other.name_);
    owned_ = other.owned_;
    read_filter_ = std::move(other.read_filter_);
    write_filter_ = std::move(other.write_filter_);
  }
  return *this;
}

File::~File() { release(); }

void File::release() noexcept {
  read_filter_.reset();
  write_filter_.reset();
  if (fd_ >= 0 && owned_) ::close(fd_);
  fd_ = -1;
}

File File::open(const std::string& path, int flags, unsigned mode, const std::string& operation) {
  const int fd = retry_interrupted([&] { return syscalls::open(path.c_str(), flags, mode); });
  if (fd < 0) throw Error(operation, path, errno);
  return File(fd, path);
}

File File::reopen(int flags) const {
  const std::string path = "/proc/self/fd/" + std::to_string(fd_);
  const int fd = retry_interrupted([&] { return syscalls::open(path.c_str(), flags, 0); });
  return fd < 0 ? File() : File(fd, name_);
}

File File::open_read(const std::string& path) {
  File file = open(path, O_RDONLY, 0, "open");
  if (file.status().kind == FileKind::kDirectory) throw Error("read", path, EISDIR);
  return file;
}

void File::check_readable(const std::string& path) {
  struct stat status {};
  if (retry_interrupted([&] { return syscalls::stat(path.c_str(), &status); }) != 0) throw Error("open", path, errno);
  if (S_ISDIR(status.st_mode)) throw Error("read", path, EISDIR);
  if (retry_interrupted([&] { return syscalls::access_at(AT_FDCWD, path.c_str(), R_OK); }) != 0)
    throw Error("open", path, errno);
}

File File::create_nameless(const std::string& directory) {
  int fd = retry_interrupted([&] { return syscalls::open(directory.c_str(), O_TMPFILE | O_RDWR, kPrivateMode); });
  if (fd >= 0) return File(fd, directory);
  if (errno != EOPNOTSUPP && errno != EISDIR && errno != EINVAL) throw Error("create a file in", directory, errno);
  const std::string path = directory + "/.hetsort-spill-" + make_nonce();
  fd = retry_interrupted(
      [&] { return syscalls::open(path.c_str(), O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW, kPrivateMode); });
  if (fd < 0) throw Error("create a file in", directory, errno);
  ::unlink(path.c_str());
  return File(fd, directory);
}

FileStatus File::status() const {
  const struct stat raw = status_of(fd_, name_);
  constexpr std::uint64_t kNanoseconds = 1'000'000'000;
  const std::uint64_t modified =
      static_cast<std::uint64_t>(raw.st_mtim.tv_sec) * kNanoseconds + static_cast<std::uint64_t>(raw.st_mtim.tv_nsec);
  return {kind_of(raw.st_mode),
          size_of(fd_, raw),
          raw.st_dev,
          raw.st_ino,
          raw.st_mode & 07777,
          static_cast<std::uint64_t>(raw.st_blocks) * 512,
          modified};
}

bool File::hides_size() const {
  struct stat raw = status_of(fd_, name_);
  const off_t size = raw.st_size;
  // A file on a disk has blocks, if it is not one hole.
  if (!S_ISREG(raw.st_mode) || (size != 0 && raw.st_blocks != 0)) return false;
  std::byte last{};
  const std::uint64_t at = size == 0 ? 0 : static_cast<std::uint64_t>(size) - 1;
  // A failed read counts as content: reading the file as a stream then reports the error, or works where offsets do
  // not.
  const ssize_t got = retry_interrupted([&] { return syscalls::pread(fd_, &last, 1, at); });
  if (got == (size == 0 ? 0 : 1)) return false;
  // It may have been cut short since its size was read.
  raw = status_of(fd_, name_);
  return raw.st_size == size;
}

std::size_t File::read_at(std::span<std::byte> into, std::uint64_t offset) const {
  std::size_t done = 0;
  const int error = full_transfer(into.size(), done, [&](std::size_t from, std::size_t bytes) {
    return syscalls::pread(fd_, into.data() + from, bytes, offset + from);
  });
  if (error != 0) throw Error("read", name_, error, "at offset " + std::to_string(offset + done));
  return done;
}

void File::write_at(std::span<const std::byte> from, std::uint64_t offset) const {
  std::size_t done = 0;
  const int error = full_transfer(from.size(), done, [&](std::size_t start, std::size_t bytes) {
    return syscalls::pwrite(fd_, from.data() + start, bytes, offset + start);
  });
  if (error != 0 || done < from.size())
    throw Error("write", name_, error != 0 ? error : ENOSPC, progress(done, from.size(), offset));
}

std::size_t File::read(std::span<std::byte> into) const {
  return read_filter_ ? read_filter_->read(*this, into) : read_plain(into);
}

void File::write(std::span<const std::byte> from) const {
  if (write_filter_)
    write_filter_->write(*this, from);
  else
    write_plain(from);
}

void File::finish_writing() {
  if (write_filter_) write_filter_->finish(*this);
  write_filter_.reset();
}

std::size_t File::read_plain(std::span<std::byte> into) const {
  std::size_t done = 0;
  const int error = full_transfer(into.size(), done, [&](std::size_t from, std::size_t bytes) {
    return syscalls::read(fd_, into.data() + from, bytes);
  });
  if (error != 0) throw Error("read", name_, error);
  return done;
}

void File::write_plain(std::span<const std::byte> from) const {
  std::size_t done = 0;
  const int error = full_transfer(from.size(), done, [&](std::size_t start, std::size_t bytes) {
    return syscalls::write(fd_, from.data() + start, bytes);
  });
  if (error != 0 || done < from.size()) throw Error("write", name_, error != 0 ? error : ENOSPC);
}

void File::allocate(std::uint64_t bytes) const {
  if (bytes == 0) return;
  const int result = retry_interrupted([&] { return syscalls::allocate(fd_, 0, bytes); });
  if (result != 0 && errno != EOPNOTSUPP && errno != ENOSYS && errno != EPERM)
    throw Error("reserve " + std::to_string(bytes) + " bytes in", name_, errno);
}

void File::truncate(std::uint64_t bytes) const {
  const int result = retry_interrupted([&] { return syscalls::truncate(fd_, bytes); });
  if (result != 0) throw Error("truncate", name_, errno);
}

void File::sync() const {
  const int result = retry_interrupted([&] { return syscalls::sync(fd_); });
  // A stream or a special file has nothing to sync: EINVAL and EROFS say so.
  if (result != 0 && errno != EINVAL && errno != EROFS) throw Error("sync", name_, errno);
}

bool File::set_direct(bool direct) const {
  const int flags = ::fcntl(fd_, F_GETFL);
  return flags >= 0 && ::fcntl(fd_, F_SETFL, direct ? flags | O_DIRECT : flags & ~O_DIRECT) == 0;
}

void File::close() {
  read_filter_.reset();
  write_filter_.reset();
  const int fd = std::exchange(fd_, -1);
  if (fd >= 0 && owned_ && ::close(fd) != 0 && errno != EINTR) throw Error("close", name_, errno);
}

File standard_input() { return File(STDIN_FILENO, "standard input", false); }

}  // namespace hetsort::io
