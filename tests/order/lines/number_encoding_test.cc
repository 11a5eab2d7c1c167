// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
//
// Numbers of -g against strtold. The test runs in the C locale, where both agree; tests/lib/locale_test.py has a
// program of another one.
#include "order/lines/number_encoding.h"

#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <cstdlib>
#include <random>
#include <string>
#include <string_view>

namespace hetsort::order::test {
namespace {

constexpr std::array<std::string_view, 36> kPieces{"0",      "1",        "7",    "99",       "18446744073709551616",
                                                   ".",      ",",        "+",    "-",        " ",
                                                   "\t",     "\n",       "e",    "E-5",      "e+9",
                                                   "p3",     "e4932",    "e99",  "0x",       "0X1.8p1",
                                                   "inf",    "an",       "NaN",  "nan(12)",  "x",
                                                   "_",      "k",        "(",    "infinity", ")",
                                                   "e-4960", "Infinity", "-nan", "f",        "1e",
                                                   "\xa0"};

GeneralNumber::Class class_of(const std::string& text, long double& value) {
  char* end = nullptr;
  value = std::strtold(text.c_str(), &end);
  if (end == text.c_str()) return GeneralNumber::Class::kNone;
  return std::isnan(value) ? GeneralNumber::Class::kNan : GeneralNumber::Class::kNumber;
}

TEST(GeneralNumbers, have_the_values_and_the_order_of_strtold) {
  std::mt19937 random(1);
  std::string before = "0";
  for (int round = 0; round < 100'000; ++round) {
    std::string text;
    for (std::size_t pieces = random() % 5; pieces > 0; --pieces) text += kPieces[random() % kPieces.size()];
    if (random() % 100 == 0) text += std::string(200, '0');  // longer than the copy on the stack
    long double value = 0;
    long double value_before = 0;
    const GeneralNumber number = parse_general(text);
    ASSERT_EQ(number.kind, class_of(text, value)) << text;
    if (number.kind != GeneralNumber::Class::kNumber) continue;
    ASSERT_EQ(class_of(before, value_before), GeneralNumber::Class::kNumber);
    const std::string key_before(parse_general(before).bytes());
    ASSERT_EQ(key_before < number.bytes(), value_before < value) << "'" << before << "', '" << text << "'";
    ASSERT_EQ(key_before == number.bytes(), value_before == value) << "'" << before << "', '" << text << "'";
    before = text;
  }
}

}  // namespace
}  // namespace hetsort::order::test
