// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
//
// NumPy files (.npy), versions 1.0 to 3.0 of the format: a header with the type and the number of the elements, and the
// elements.
//
// In: an open file or a header; or a type and a number of elements. Out: what the header says, checked; or a header.
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

/// The largest header that is read. Writers pad those of usual types to 128 bytes.
inline constexpr std::uint64_t kMaxNumpyHeaderBytes = std::uint64_t{1} << 20;

/// The type of an element, or of a field of it.
struct NumpyType {
  char kind = 'V';                  ///< kind of NumPy: one of b i u f c m M S U V O; 'r' = a record with fields
  bool big_endian = false;          ///< the bytes of each number are in this order
  std::uint64_t value_bytes = 0;    ///< bytes of one value
  std::uint64_t count = 1;          ///< values side by side, as in a field that is an array
  std::string text{};               ///< the type as the file has it, for messages
  std::string name{};               ///< name of a field; empty for an element, and for bytes that are no field
  std::uint64_t offset = 0;         ///< position of a field in its record
  std::vector<NumpyType> fields{};  ///< fields of a record

  std::uint64_t bytes() const { return value_bytes * count; }
  bool has_objects() const;
  /// Whether elements of both types have the same bytes and the same meaning.
  bool is_like(const NumpyType& other) const;
};

/// What a header says.
struct NumpyHeader {
  std::uint64_t header_bytes = 0;  ///< bytes before the first element
  std::uint64_t elements = 0;      ///< number of elements, which have one dimension
  std::string description{};       ///< the type as the file has it
  unsigned version = 1;            ///< major version of the format
  NumpyType type{};
};

/// Whether a file begins as a NumPy file does.
bool is_numpy(std::span<const std::byte> front);

/// Reads the header of a NumPy file; none if the file does not begin as one. Reads at offset 0 of a regular file.
/// Throws: as parse_numpy_header(); Error for a file that does not end where the last element does.
std::optional<NumpyHeader> read_numpy_header(const File& file);

/// What `header` says, the first bytes of the file `name`. Throws: Error for a header that is damaged, and for elements
/// that have more than one dimension or are objects of Python.
NumpyHeader parse_numpy_header(std::span<const std::byte> header, const std::string& name);

/// The type of this description. Its names are in UTF-8. `version`: of the format. Throws: Error, which names `file`.
NumpyType numpy_type(const std::string& description, unsigned version, const std::string& file);

/// Makes the header of so many elements of the type of `like`. As NumPy's, it has room for any number and whole units
/// of 64 bytes, so that its size depends on the type alone.
std::vector<std::byte> make_numpy_header(const NumpyHeader& like, std::uint64_t elements);

/// Makes such a header of another one. Throws: Error if that is damaged.
std::vector<std::byte> renumber_numpy_header(std::span<const std::byte> header, std::uint64_t elements);

}  // namespace hetsort::io
