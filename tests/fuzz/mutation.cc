// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
#include "tests/fuzz/mutation.h"

#include <algorithm>
#include <array>
#include <cctype>

namespace hetsort::fuzz::test {

namespace {

constexpr std::size_t kMaxBytes = 4096;
constexpr std::array<const char*, 20> kNumbers{"0",
                                               "-1",
                                               "1",
                                               "1e308",
                                               "-1e308",
                                               "1e-308",
                                               "nan",
                                               "inf",
                                               "-inf",
                                               "9223372036854775807",
                                               "18446744073709551615",
                                               "9223372036854775808",
                                               "18446744073709551616",
                                               "4294967296",
                                               "2147483648",
                                               "0.5",
                                               "1e19",
                                               "1e-9",
                                               "255",
                                               "99999999999999999999999999"};
constexpr std::array<std::uint64_t, 8> kValues{
    0,   1,   ~std::uint64_t{0}, std::uint64_t{1} << 63U, (std::uint64_t{1} << 63U) - 1, std::uint64_t{1} << 32U,
    255, 4096};

}  // namespace

Mutator::Mutator(std::uint64_t seed, std::vector<std::string> seeds, std::vector<std::string> words)
    : seed_(seed), seeds_(std::move(seeds)), words_(std::move(words)) {
  if (seeds_.empty()) seeds_.emplace_back();
}

std::string Mutator::input(std::uint64_t number) {
  random_.seed(seed_ + 0x9E3779B97F4A7C15U * (number + 1));
  std::string text = seeds_[below(seeds_.size())];
  for (std::size_t changes = number < seeds_.size() ? 0 : 1 + below(6); changes > 0; --changes) mutate(text);
  if (text.size() > kMaxBytes) text.resize(kMaxBytes);
  return number < seeds_.size() ? seeds_[number] : text;
}

void Mutator::mutate(std::string& text) {
  switch (below(6)) {
    case 0:
      return change_byte(text);
    case 1:
      return change_number(text);
    case 2:
      return insert(text);
    case 3:
      return cut(text);
    case 4:
      return splice(text);
    default: {
      // A binary number.
      const std::uint64_t value = kValues[below(kValues.size())] + below(3);
      for (std::size_t i = 0, at = below(text.size()) / 8 * 8; i < sizeof value && at + i < text.size(); ++i)
        text[at + i] = static_cast<char>(value >> (8 * i));
    }
  }
}

void Mutator::change_byte(std::string& text) {
  if (text.empty()) return;
  char& byte = text[below(text.size())];
  if (below(2) == 0)
    byte = static_cast<char>(byte ^ static_cast<char>(1U << below(8)));
  else
    byte = static_cast<char>(random_());
}

/// Replaces a decimal number by another one.
void Mutator::change_number(std::string& text) {
  const auto is_digit = [](unsigned char letter) { return std::isdigit(letter) != 0; };
  auto first = std::find_if(text.begin() + static_cast<std::ptrdiff_t>(below(text.size())), text.end(), is_digit);
  if (first == text.end()) first = std::find_if(text.begin(), text.end(), is_digit);
  if (first == text.end()) return insert(text);
  const auto last = std::find_if_not(first, text.end(), is_digit);
  const std::string number = below(3) == 0 ? std::to_string(random_() >> below(64)) : kNumbers[below(kNumbers.size())];
  text.replace(first, last, number);
}

void Mutator::insert(std::string& text) {
  std::string more;
  if (words_.empty() || below(3) == 0)
    for (std::size_t left = 1 + below(16); left > 0; --left) more += static_cast<char>(random_());
  else
    more = words_[below(words_.size())];
  const std::size_t times = below(40) == 0 ? below(200) : 1;
  const std::size_t at = below(text.size() + 1);
  for (std::size_t time = 0; time < times && text.size() < kMaxBytes; ++time) text.insert(at, more);
}

void Mutator::cut(std::string& text) {
  const std::size_t at = below(text.size() + 1);
  if (below(4) == 0)
    text.resize(at);
  else
    text.erase(at, 1 + below(1 + text.size() / 4));
}

/// Takes a part of another seed, or of this text once more.
void Mutator::splice(std::string& text) {
  const std::string other = below(2) == 0 ? text : seeds_[below(seeds_.size())];
  const std::size_t from = below(other.size() + 1);
  text.insert(below(text.size() + 1), other.substr(from, 1 + below(64)));
}

}  // namespace hetsort::fuzz::test
