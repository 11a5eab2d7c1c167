// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
//
// The lines at the start of a file that stay on top.
//
// In: a file, at its start. Out: those lines, and what had to be read behind them. A stream is read byte by byte,
// because what is behind the header belongs to others.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "io/file.h"
#include "sort/model/sort_options.h"

namespace hetsort::sort {

struct TextHeader {
  std::vector<std::byte> text{};    ///< the lines, all with terminators, also if the file lacks the last one
  std::uint64_t bytes = 0;          ///< bytes of it in the file
  std::vector<std::byte> behind{};  ///< bytes behind it that were read from a stream
  bool file_is_empty = false;       ///< then it agrees with any other
};

/// Whether two headers have the same lines. Only one of them may have a byte order mark.
bool have_same_lines(std::span<const std::byte> a, std::span<const std::byte> b);

/// Which lines a header has, and the byte that ends each.
struct HeaderLines {
  const TextHeaderRule& rule;
  std::byte terminator{};
};

/// Reads the header of a file, a stream from its position on. A CSV file may be empty. Throws: io::Error if the file
/// has fewer lines or the header more than 16 MiB, or if a quoted field in it does not end.
TextHeader read_text_header(const io::File& file, bool stream, const HeaderLines& wanted);

}  // namespace hetsort::sort
