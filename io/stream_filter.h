// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
//
// What stands between the bytes of a file and those who read or write it as a stream.
#pragma once

#include <cstddef>
#include <span>

namespace hetsort::io {

class File;

/// Thread safety: one thread at a time.
class ReadFilter {
 public:
  virtual ~ReadFilter() = default;
  /// Reads until `into` is full or the stream ends, with File::read_plain(). Returns the bytes read. Throws: Error.
  virtual std::size_t read(const File& file, std::span<std::byte> into) = 0;
};

/// Thread safety: one thread at a time.
class WriteFilter {
 public:
  virtual ~WriteFilter() = default;
  /// Takes all of `from` and, now or later, writes what stands for it with File::write_plain(). Throws: Error.
  virtual void write(const File& file, std::span<const std::byte> from) = 0;
  /// Writes the rest. Nothing may be written afterwards. Throws: Error.
  virtual void finish(const File& file) = 0;
};

}  // namespace hetsort::io
