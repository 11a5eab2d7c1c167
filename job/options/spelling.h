// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
//
// "Did you mean": the known word nearest to an unknown one.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace hetsort::job {

/// The member of `known` nearest to `word` in edit distance (the first of several), or "" when none is near enough to
/// be meant. Complexity: O(|word| sum |known|), of at most 64 letters of `word`.
std::string nearest(std::string_view word, const std::vector<std::string>& known);

}  // namespace hetsort::job
