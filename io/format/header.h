// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
//
// What is at the start of a file and is no record: bytes, lines that stay on top, or what a NumPy file says of itself.
//
// In: a file, at its start. Out: its header, as an output has it, and what was read behind it, which a stream cannot
// return a second time.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "io/file.h"

namespace hetsort::io {

/// The largest header: it is kept in memory.
inline constexpr std::uint64_t kMaxHeaderBytes = std::uint64_t{16} << 20;

/// Which header files have: none, or one of these.
struct HeaderRule {
  std::uint64_t bytes = 0;        ///< so many bytes
  std::uint64_t lines = 0;        ///< so many lines
  std::optional<char> comment{};  ///< the lines in front that begin with this character
  bool csv = false;               ///< lines are rows of CSV; a byte order mark is part of the header, too
  /// That of a NumPy file, whose elements have the type that this header has, the one of the file `numpy_file`.
  std::vector<std::byte> numpy{};
  std::string numpy_file{};

  bool is_numpy() const { return !numpy.empty(); }
  /// Whether all files must have the same header. Its size is known once one was read.
  bool is_common() const { return lines > 0 || comment.has_value() || csv || is_numpy(); }
  bool exists() const { return bytes > 0 || is_common(); }
};

struct Header {
  /// What precedes the records of an output: these bytes; lines with all terminators, also if the file lacks the last
  /// one; the NumPy header of the rule.
  std::vector<std::byte> text{};
  std::uint64_t bytes = 0;          ///< bytes of it in the file
  std::vector<std::byte> behind{};  ///< bytes behind it that were read from a stream
  bool file_is_empty = false;       ///< then its lines agree with any others
};

/// The bytes of the byte order mark with which the text of a file begins: 3 or 0.
inline std::size_t byte_order_mark_bytes(std::string_view text) { return text.starts_with("\xef\xbb\xbf") ? 3 : 0; }

/// Whether two headers are alike. Only one of them may have a byte order mark.
bool have_same_lines(std::span<const std::byte> a, std::span<const std::byte> b);

/// Reads the header of a file, a stream from its position on. `terminator`: what ends a line. A CSV file may be empty.
/// Throws: Error if a quoted field in the header of CSV does not end, if the file is shorter, has fewer lines or more
/// than kMaxHeaderBytes of them, or is no NumPy file, or one of another type.
Header read_header(const File& file, bool stream, const HeaderRule& rule, std::byte terminator = std::byte{'\n'});

/// Checks that a file may be a stream. Throws: Error for a NumPy file, whose header is checked against the file's size.
void require_streamable(const File& file, const HeaderRule& rule);

}  // namespace hetsort::io
