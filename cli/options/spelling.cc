// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
#include "cli/options/spelling.h"

#include <algorithm>
#include <numeric>
#include <utility>

namespace hetsort::cli {
namespace {

/// The number of letters to insert, remove, replace or swap with their neighbour.
std::size_t edit_distance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> before;  // row of the table for two letters of `a` less
  std::vector<std::size_t> above(b.size() + 1);
  std::vector<std::size_t> row(b.size() + 1);
  std::iota(row.begin(), row.end(), std::size_t{0});
  for (std::size_t i = 1; i <= a.size(); ++i) {
    before = std::exchange(above, row);
    row[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      row[j] = std::min({above[j] + 1, row[j - 1] + 1, above[j - 1] + (a[i - 1] != b[j - 1])});
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1]) row[j] = std::min(row[j], before[j - 2] + 1);
    }
  }
  return row.back();
}

}  // namespace

std::string nearest(std::string_view word, const std::vector<std::string>& known) {
  constexpr std::size_t kMaxLetters = 64;
  std::string best;
  const std::size_t dashes = std::min(word.find_first_not_of('-'), word.size());
  std::size_t best_distance =
      std::max<std::size_t>(1, (word.size() - dashes + 1) / 3) + 1;  // beyond, another word is meant
  for (const std::string& candidate : known) {
    if (candidate.empty()) continue;
    const std::size_t distance = edit_distance(word.substr(0, kMaxLetters), candidate);
    if (distance < best_distance) {
      best_distance = distance;
      best = candidate;
    }
  }
  return best;
}

}  // namespace hetsort::cli
