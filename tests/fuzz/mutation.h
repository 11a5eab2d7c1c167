// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
//
// How the driver makes inputs from seeds.
#pragma once

#include <cstdint>
#include <random>
#include <string>
#include <vector>

namespace hetsort::fuzz::test {

/// Inputs by number: the same number of the same seed gives the same input.
class Mutator {
 public:
  Mutator(std::uint64_t seed, std::vector<std::string> seeds, std::vector<std::string> words);

  std::string input(std::uint64_t number);

 private:
  void mutate(std::string& text);
  void change_byte(std::string& text);
  void change_number(std::string& text);
  void insert(std::string& text);
  void cut(std::string& text);
  void splice(std::string& text);
  std::size_t below(std::size_t end) { return end == 0 ? 0 : random_() % end; }

  std::uint64_t seed_;
  std::vector<std::string> seeds_;
  std::vector<std::string> words_;
  std::mt19937_64 random_;
};

}  // namespace hetsort::fuzz::test
