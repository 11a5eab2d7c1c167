// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
//
// ASCII records: a printable key, the record number in hexadecimal, a filler of repeated digits, CR LF.
#pragma once

#include <array>
#include <cstddef>
#include <span>

#include "gen/format/record_format.h"

namespace hetsort::gen {

/// Writes consecutive records from number `first` on until `into` is full.
/// Requires: into.size() is a multiple of kRecordBytes. O(records + log first). Thread safety: any.
void fill_ascii(Uint128 first, std::span<std::byte> into);

/// The printable key of the record whose first random number is `x`.
std::array<std::byte, kKeyBytes> ascii_key(Uint128 x);

}  // namespace hetsort::gen
