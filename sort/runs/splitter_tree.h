// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
//
// Finds the bucket of an element: a branch-free binary search for several elements at once, so that the memory
// latencies of their loads overlap (Sanders and Winkel, Super Scalar Sample Sort, ESA 2004).
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>
#include <span>
#include <vector>

#include "sort/model/record_order.h"

namespace hetsort::sort {

class SplitterTree {
 public:
  /// Makes a tree for splitters.size() + 1 buckets. Requires: `splitters` ascending.
  explicit SplitterTree(std::span<const Element> splitters)
      : buckets_(splitters.size() + 1), top_step_(std::bit_ceil(splitters.size() + 1) / 2) {
    padded_.assign(splitters.begin(), splitters.end());
    padded_.resize(std::max<std::size_t>(1, std::bit_ceil(buckets_)), ~Element{0});
  }

  std::size_t buckets() const { return buckets_; }
  Element splitter(std::size_t number) const { return padded_[number]; }

  /// Elements classified at once. More would hide more latency, but they no longer fit the registers.
  static constexpr std::size_t kBatch = 8;

  /// bucket[i] = number of splitters <= elements[i], for kBatch elements.
  void classify(const Element* elements, std::uint32_t* bucket) const {
    std::array<std::size_t, kBatch> position{};
    for (std::size_t step = top_step_; step > 0; step /= 2)
      for (std::size_t i = 0; i < kBatch; ++i) position[i] += padded_[position[i] + step - 1] <= elements[i] ? step : 0;
    for (std::size_t i = 0; i < kBatch; ++i)
      bucket[i] = static_cast<std::uint32_t>(std::min(position[i], buckets_ - 1));
  }

 private:
  std::size_t buckets_;
  std::size_t top_step_;
  std::vector<Element> padded_;  // the splitters, padded to 2^k entries with the maximum element
};

}  // namespace hetsort::sort
