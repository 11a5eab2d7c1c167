// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
//
// "Did you mean": the nearest of some known words. Not installed.
#pragma once

#include <cstddef>
#include <limits>
#include <span>
#include <string_view>

namespace hetsort::partition {

/// The member of `known` nearest to `word` in edit distance (the first of several), "" when none is nearer than
/// `too_far`. Complexity: O(|word| sum |known|), of at most 64 letters of `word`.
std::string_view nearest(std::string_view word, std::span<const std::string_view> known,
                         std::size_t too_far = std::numeric_limits<std::size_t>::max());

}  // namespace hetsort::partition
