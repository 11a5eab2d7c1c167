// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
//
// The compressed formats that are read and written.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

namespace hetsort::io {

enum class Compression : std::uint8_t { kNone, kGzip, kZstd, kLz4 };

struct CompressionName {
  Compression format;
  std::string_view name;
  std::string_view ending;  ///< what names of such files end with
};

inline constexpr std::array kCompressions{
    CompressionName{Compression::kGzip, "gzip", ".gz"}, CompressionName{Compression::kGzip, "gzip", ".bgz"},
    CompressionName{Compression::kZstd, "zstd", ".zst"}, CompressionName{Compression::kLz4, "lz4", ".lz4"}};

/// The format that the name of a file promises.
constexpr Compression compression_of_name(std::string_view path) {
  for (const CompressionName& known : kCompressions)
    if (path.ends_with(known.ending)) return known.format;
  return Compression::kNone;
}

/// The name of a format. Requires: not kNone.
constexpr std::string_view name_of(Compression format) {
  for (const CompressionName& known : kCompressions)
    if (known.format == format) return known.name;
  return "";
}

}  // namespace hetsort::io
