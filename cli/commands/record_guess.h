// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
//
// A look at the first records of an input whose record size was not given.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

namespace hetsort::cli {

/// Whether these whole records of 100 bytes can be benchmark records: ASCII records with their spaces and line ends, or
/// binary ones, of which all but the key looks random. True for no record.
bool resemble_benchmark_records(std::span<const std::byte> records);

/// Whether the first records behind `header_bytes` bytes of `path` ("-" = standard input) resemble benchmark records.
/// Takes nothing out of a stream. True for what cannot be looked at: devices, files that cannot be opened, less than a
/// record.
bool begins_like_benchmark_records(const std::string& path, std::uint64_t header_bytes);

}  // namespace hetsort::cli
