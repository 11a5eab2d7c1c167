// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
//
// Files that consist of neither records nor lines, recognized by their first bytes.
//
// Every signature, with what its format allows behind it, has 32 bits or more. Of files of random records, about one of
// 700 million begins like one of these formats.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "io/format/compression.h"

namespace hetsort::io {

struct ForeignFormat {
  std::string_view name;                         ///< the name with its article, as in "this is NAME"
  std::string_view reader;                       ///< a command that prints what FILE holds; may be empty
  Compression compression = Compression::kNone;  ///< set if the program reads it itself
};

/// The format of a file that begins with `front`; null if it is none that is known.
const ForeignFormat* foreign_format(std::span<const std::byte> front);

/// What the header of a NumPy file says.
struct NumpyHeader {
  std::uint64_t header_bytes = 0;
  std::uint64_t record_bytes = 0;  ///< bytes of an element; 0 if its type is not a plain one
  std::string key_type{};          ///< "f64", "i32be"; empty if the element is not a number that can be a key
};

/// Reads the header of a .npy file that begins with `front`; none if it is no such file.
std::optional<NumpyHeader> numpy_header(std::span<const std::byte> front);

}  // namespace hetsort::io
