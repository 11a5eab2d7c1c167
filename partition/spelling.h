// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
//
// "Did you mean": the nearest of some known words. Internal to the library.
#pragma once

#include <span>
#include <string_view>

namespace hetsort::partition {

/// The member of `known` nearest to `word` in edit distance (the first of several), "" when `known` is empty.
/// Complexity: O(|word| sum |known|), of at most 64 letters of `word`.
std::string_view nearest(std::string_view word, std::span<const std::string_view> known);

}  // namespace hetsort::partition
