// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
//
// Draws ranks 0, 1, 2 ... with probability proportional to (rank + 1)^-S from a 64-bit random number. A table holds the
// cumulative thresholds, and a guide narrows the search in it.
#pragma once

#include <cstdint>
#include <vector>

namespace hetsort::gen {

class ZipfTable {
 public:
  /// Allocates: 8 bytes a rank. O(ranks). Thread safety: any after construction.
  ZipfTable(double exponent, std::uint32_t ranks);

  /// The rank in the Zipf distribution that `random`, uniform over 64 bits, stands for.
  std::uint32_t rank(std::uint64_t random) const;

 private:
  std::vector<std::uint64_t> last_;   ///< the largest random number of each rank; non-decreasing
  std::vector<std::uint32_t> guide_;  ///< the rank of the first random number of each of 2^16 intervals
};

}  // namespace hetsort::gen
