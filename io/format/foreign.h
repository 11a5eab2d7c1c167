// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
//
// Files that consist of neither records nor lines, recognized by their first bytes.
//
// Every signature, with what its format allows behind it, has 32 bits or more. Of files of random records, about one of
// 700 million begins like one of these formats.
#pragma once

#include <cstddef>
#include <span>
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

}  // namespace hetsort::io
