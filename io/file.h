// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
//
// An open file: full transfers over short reads, short writes and EINTR; errors that name operation and path.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>

#include "io/error.h"
#include "io/stream_filter.h"

namespace hetsort::io {

enum class FileKind : std::uint8_t { kRegular, kBlockDevice, kStream, kDirectory };

/// What fstat() returns.
struct FileStatus {
  FileKind kind = FileKind::kRegular;
  std::uint64_t size_bytes = 0;  ///< 0 for streams
  std::uint64_t device = 0;
  std::uint64_t inode = 0;
  unsigned mode = 0;                       ///< permission bits
  std::uint64_t allocated_bytes = 0;       ///< bytes that it occupies on disk; fewer than size_bytes if it has holes
  std::uint64_t modified_nanoseconds = 0;  ///< time of the last write, since 1970
};

/// What is at `path`, behind links; nothing where there is nothing, or it cannot be found out. Opens nothing.
std::optional<FileKind> kind_at(const std::string& path);

/// Owner of one descriptor. Movable, not copyable.
/// Thread safety: read_at and write_at from any thread; the stream calls from one thread at a time.
class File {
 public:
  File() = default;
  /// Owns `fd`; `name` is its name in messages. With `owned` false the descriptor is left open (stdin, stdout).
  File(int fd, std::string name, bool owned = true);
  File(File&& other) noexcept;
  File& operator=(File&& other) noexcept;
  ~File();

  /// Opens an existing file or stream for reading. Throws: Error; a directory is an error.
  static File open_read(const std::string& path);
  /// Opens `path` with open(2)'s flags. Throws: Error whose operation is `operation`.
  static File open(const std::string& path, int flags, unsigned mode, const std::string& operation);
  /// A file with no name in `directory`, mode 0600, gone when closed however the process ends: O_TMPFILE, or created
  /// with a random name and unlinked at once where the file system has no O_TMPFILE. Throws: Error.
  static File create_nameless(const std::string& directory);

  /// Checks that open_read() could open `path`, without waiting for the writer of a FIFO. Throws: Error.
  static void check_readable(const std::string& path);

  /// Opens the same file anew, with flags of its own; name() stays. Returns a closed File where that is refused, or
  /// where there is no /proc.
  File reopen(int flags) const;

  bool is_open() const { return fd_ >= 0; }
  int descriptor() const { return fd_; }
  const std::string& name() const { return name_; }
  /// Changes the name in messages.
  void rename(const std::string& name) { name_ = name; }
  FileStatus status() const;
  /// Whether this is a regular file that reports another size than it has, as in /proc (0 bytes), in /sys (4,096 bytes)
  /// and on some FUSE file systems.
  bool hides_size() const;

  /// Reads until `into` is full or the file ends. Returns the bytes read. Throws: Error.
  std::size_t read_at(std::span<std::byte> into, std::uint64_t offset) const;
  /// Writes all of `from`. Throws: Error that says how many bytes were written.
  void write_at(std::span<const std::byte> from, std::uint64_t offset) const;
  /// Like read_at() and write_at(), but at the descriptor's own position, for streams, and through a filter.
  std::size_t read(std::span<std::byte> into) const;
  void write(std::span<const std::byte> from) const;
  /// read() and write() without the filter.
  std::size_t read_plain(std::span<std::byte> into) const;
  void write_plain(std::span<const std::byte> from) const;
  /// From now on read() and write() go through a filter, which moves with the file.
  void read_through(std::unique_ptr<ReadFilter> filter) { read_filter_ = std::move(filter); }
  void write_through(std::unique_ptr<WriteFilter> filter) { write_filter_ = std::move(filter); }
  /// Writes what the filter of write() still holds, and removes it. Throws: Error.
  void finish_writing();

  /// Reserves disk space for [0, bytes). A file system that cannot reserve is no error; a full one is. Throws: Error.
  void allocate(std::uint64_t bytes) const;
  void truncate(std::uint64_t bytes) const;
  void sync() const;
  /// Asks for direct I/O from now on. Returns false where the file system refuses; then it stays buffered.
  bool set_direct(bool direct) const;
  /// Closes now, so that a late error is reported instead of lost. Throws: Error.
  void close();

 private:
  void release() noexcept;

  int fd_ = -1;
  std::string name_;
  bool owned_ = true;
  std::unique_ptr<ReadFilter> read_filter_{};
  std::unique_ptr<WriteFilter> write_filter_{};
};

/// Stdin as a stream that is not closed.
File standard_input();

}  // namespace hetsort::io
