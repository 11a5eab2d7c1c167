// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
//
// An order of words that is neither that of their bytes nor of numbers: that of a list.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>

#include "io/checksum/checksum.h"

namespace hetsort::order {

/// Thread safety: const functions may be called by several threads.
class WordList {
 public:
  /// Adds a word behind all others. Returns false if the list has it already.
  bool add(std::string_view word) { return numbers_.emplace(word, static_cast<std::uint32_t>(size())).second; }
  std::size_t size() const { return numbers_.size(); }
  /// The number of a word, from 0; the size of the list for another one.
  std::uint32_t number_of(std::string_view word) const {
    const auto found = numbers_.find(word);
    return found == numbers_.end() ? static_cast<std::uint32_t>(size()) : found->second;
  }
  /// A number that lists of other words, or of these in another order, do not share, except for a chance of 2^-64.
  std::uint64_t fingerprint() const {
    std::uint64_t sum = 0;
    for (const auto& [word, number] : numbers_) {
      const std::string numbered = std::to_string(number) + " " + word;
      sum += io::fingerprint(std::as_bytes(std::span(numbered)), numbered.size());
    }
    return sum;
  }

 private:
  struct Hash {
    using is_transparent = void;
    std::size_t operator()(std::string_view word) const { return std::hash<std::string_view>{}(word); }
  };
  std::unordered_map<std::string, std::uint32_t, Hash, std::equal_to<>> numbers_;
};

}  // namespace hetsort::order
