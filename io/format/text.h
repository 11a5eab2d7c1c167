// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
//
// Whether the first bytes of a file are text, or benchmark records.
//
// Text consists of printable characters of any encoding that extends ASCII, and of the control characters that texts
// have. Random bytes are taken for text with a chance below 2^-32, from a single record of 100 bytes on. Most other
// binary data have zero bytes side by side, which no text has.
#pragma once

#include <cstddef>
#include <span>

namespace hetsort::io {

/// Whether the first bytes of a file are text. False for ASCII benchmark records, and for no bytes.
bool is_text(std::span<const std::byte> front);

/// Whether the whole records of 100 bytes in `front` can be benchmark records: ASCII ones with their spaces and line
/// ends, or binary ones, of which all but the key looks random. True if there is no whole record.
bool resemble_benchmark_records(std::span<const std::byte> front);

/// Whether the first bytes of a file are text in UTF-16 behind a byte order mark.
bool is_utf16(std::span<const std::byte> front);

/// Whether a field of these lines begins with a double quote.
bool has_quoted_field(std::span<const std::byte> lines, char separator, char terminator);

}  // namespace hetsort::io
