// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
//
// The order of lines: small cases of each type of key. tests/cli/lines compares random ones with sort(1).
#include "order/lines/line_order.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <initializer_list>
#include <map>
#include <string>
#include <string_view>

namespace hetsort::order::test {
namespace {

using Bytes = std::vector<std::byte>;
using Lines = std::initializer_list<std::string_view>;

Bytes normalized(const LineOrder& order, std::string_view line) {
  const auto bytes = std::as_bytes(std::span(line));
  Bytes key;
  order.normalize(bytes, key);
  Bytes first = key;
  first.resize(16);
  EXPECT_TRUE(std::ranges::equal(order.front(bytes), first)) << line;
  return key;
}

/// One key, the whole line, whose equal lines have equal normalized keys.
LineOptions whole_line(LineKeyKind kind) {
  LineOptions options;
  options.style.kind = kind;
  options.last_resort = false;
  return options;
}

void expect_ascending(const LineOptions& options, Lines lines) {
  const LineOrder order(options);
  for (auto line = lines.begin() + 1; line < lines.end(); ++line)
    EXPECT_LT(normalized(order, line[-1]), normalized(order, *line)) << "'" << line[-1] << "', '" << *line << "'";
}

void expect_equal(const LineOptions& options, Lines lines) {
  const LineOrder order(options);
  for (const std::string_view line : lines)
    EXPECT_EQ(normalized(order, *lines.begin()), normalized(order, line)) << *lines.begin() << ", " << line;
}

/// Lines of which many share a front that is longer than some windows of the comparison.
std::vector<std::string> lines_with_long_fronts() {
  const std::string front = "aaa\1aaaa \1 99 ~.aA-1.5zzz";
  std::vector<std::string> lines{"", "1", "b", "-12", "77777777777777777777", "777777777777777777777"};
  for (const std::string_view end : {"", "b", "B", "c 2", "c 10", "\1", "\xff"})
    lines.push_back(front + std::string(end));
  return lines;
}

TEST(LineOrder, compares_lines_as_their_normalized_keys) {
  LineKey second;
  second.first_field = 2;
  LineKey reversed;
  reversed.style.reverse = reversed.style.fold = true;
  std::vector<LineOptions> orders(9);
  orders[1].reverse = true;
  orders[2] = whole_line(LineKeyKind::kText);
  orders[2].style.fold = true;
  orders[3] = whole_line(LineKeyKind::kNumber);
  orders[4] = whole_line(LineKeyKind::kVersion);
  orders[5].keys = {second, reversed};
  orders[6].keys = {reversed, second};
  orders[7].style.dictionary = true;
  orders[8].style.kind = LineKeyKind::kRandom;
  const std::vector<std::string> lines = lines_with_long_fronts();
  for (const LineOptions& options : orders) {
    const LineOrder order(options);
    std::vector<Bytes> keys;
    for (const std::string& line : lines) keys.push_back(normalized(order, line));
    for (std::size_t a = 0; a < lines.size(); ++a)
      for (std::size_t b = 0; b < lines.size(); ++b)
        for (const std::size_t window : {std::size_t{1}, std::size_t{7}, std::size_t{30}, LineOrder::kWindowBytes}) {
          const int found =
              order.compare(std::as_bytes(std::span(lines[a])), std::as_bytes(std::span(lines[b])), window);
          const bool alike = keys[a] == keys[b] ? found == 0 : (keys[a] < keys[b] ? found < 0 : found > 0);
          EXPECT_TRUE(alike) << "order " << &options - orders.data() << ", lines " << a << " and " << b << ", window "
                             << window << ": " << found;
        }
  }
}

TEST(LineOrder, plain_lines_are_their_own_keys) {
  const LineOrder order({});
  EXPECT_TRUE(order.is_plain());
  EXPECT_EQ(order.terminator(), '\n');
  const std::string_view line("a\0b\1", 4);
  EXPECT_TRUE(std::ranges::equal(normalized(order, line), std::as_bytes(std::span(line))));
  expect_ascending({}, {"", std::string_view("\0", 1), "A", "a", "aa", "b", "\xff"});
}

TEST(LineOrder, reversed_lines_are_below_their_prefixes) {
  LineOptions options;
  options.reverse = true;
  EXPECT_FALSE(LineOrder(options).is_plain());
  expect_ascending(options, {"\xff", "b", "aa\1", std::string_view("aa\0", 3), "aa", "a", "\1", ""});
}

TEST(LineOrder, normalized_keys_are_appended) {
  Bytes key{std::byte{7}};
  LineOrder({}).normalize(std::as_bytes(std::span(std::string_view("a"))), key);
  EXPECT_EQ(key, (Bytes{std::byte{7}, std::byte{'a'}}));
}

TEST(LineOrder, orders_are_equal_if_they_order_lines_alike) {
  LineOptions globally;
  globally.style.kind = LineKeyKind::kNumber;
  LineOptions of_the_key;
  of_the_key.keys.resize(1);
  of_the_key.keys[0].style.kind = LineKeyKind::kNumber;
  EXPECT_EQ(LineOrder(globally), LineOrder(of_the_key));
  EXPECT_NE(LineOrder(globally), LineOrder({}));
}

TEST(LineOrder, a_shorter_key_is_below_a_longer_one_whatever_follows) {
  LineOptions options;
  options.separator = ',';
  options.keys = {{1, 1, 1, 0}, {2, 1, 2, 0}};
  expect_ascending(options, {",z", std::string_view("\0,a", 3), "\1,a", "a,z", "aa,a", "aa,b"});
  options.keys[0].style.reverse = true;
  expect_ascending(options, {"aa,a", "aa,b", "a,z", "\1,a", std::string_view("\0,a", 3), ",z"});
}

TEST(LineOrder, the_whole_line_decides_among_equal_keys_as_a_last_resort) {
  LineOptions options;
  options.keys = {{2, 1, 2, 0}};
  expect_ascending(options, {"a x", "b x", "a y"});
  options.reverse = true;  // of the last resort and of the key, which has no option of its own
  expect_ascending(options, {"a y", "b x", "a x"});
  options.last_resort = false;
  expect_equal(options, {"a x", "b x", "c x z"});
}

TEST(LineOrder, global_options_are_those_of_keys_without_their_own) {
  LineOptions options;
  options.style.kind = LineKeyKind::kNumber;
  options.last_resort = false;
  options.separator = ',';
  options.keys = {{1, 1, 1, 0}, {2, 1, 2, 0}};
  options.keys[0].style.reverse = true;
  expect_ascending(options, {"9,1", "10,9", "10,10"});
  options.keys[0].style.reverse = false;
  options.keys[0].skip_blanks_before_last = true;
  expect_ascending(options, {"10,9", "10,10", "9,1"});
}

TEST(LineOrder, text_ignores_what_its_options_leave_out) {
  LineOptions options = whole_line(LineKeyKind::kText);
  options.style.fold = true;
  expect_equal(options, {"aBc", "ABC", "abc"});
  expect_ascending(options, {"B", "_", "\xe4"});
  options.style.dictionary = true;
  expect_equal(options, {"a b", "-A. B!", "a\1 b\x7f\xe4"});
  expect_ascending(options, {"", "\t", " ", "a", "a b", "a-c"});
  options.style.dictionary = false;
  options.style.printing = true;
  expect_equal(options, {"a-b", "a\t-\1B",
                         "\xe4"
                         "a-b\x7f"});
  options.style = {};
  options.style.skip_blanks = true;
  expect_equal(options, {"a", " a", "\t a"});
}

TEST(LineOrder, numbers_have_any_number_of_digits) {
  const LineOptions options = whole_line(LineKeyKind::kNumber);
  const std::string huge = "1" + std::string(1000, '0');
  const std::string negative = "-" + huge;
  expect_ascending(options, {negative, "-1000", "-123.5",  "-123", "-12.05", "-12", "-1",        "-.5",     "-0.05",
                             "0",      ".05",   ".5",      "1",    "1.01",   "1.1", "9",         "10",      "11",
                             "99",     "100",   "100.001", "101",  "1000",   huge,  huge + ".5", huge + "0"});
  expect_equal(options, {"", "0", "-0", "-", ".", "x", "00.00", "+5", "-.", " \t",
                         std::string_view("\0"
                                          "5",
                                          2)});
  expect_equal(options, {"12", " 012", "12.", "12.00", "12x", "12.0.5", "12 5", "12,5", "12e3"});
}

TEST(LineOrder, a_number_is_the_same_whatever_follows_it) {
  const LineOrder order(whole_line(LineKeyKind::kNumber));
  for (const std::string number :
       {"0", "7", "-7", "90", "1234567", "-12345678", "123456789", "1234567890123456", "12345678901234567", "0.5",
        "-.005", "12.250", "12345678.9012345", "1.2345678", "123456789.01234567", "1000000000000000", "000120.0"})
    for (const char after : {' ', ',', '/', ':', 'a', '\0', '\x7f', '\xb0', '\xff'})
      EXPECT_EQ(normalized(order, number), normalized(order, number + std::string(40, after))) << number << after;
}

TEST(LineOrder, units_count_more_than_numbers) {
  LineOptions options = whole_line(LineKeyKind::kHuman);
  expect_ascending(options, {"-1Y", "-2K", "-1K", "-1.5", "0", "0.5", "1023", "1K", "1.5K", "2K", "1M", "1G", "1T",
                             "1P", "1E", "1Z", "1Y"});
  expect_equal(options, {"0", "0K", "-0.0G", "K", "", "-"});
  expect_equal(options, {"1k", "1K", "1.K", "01.0KiB", " 1K"});
  expect_equal(options, {"5", "5m", "5R", "5Q", "5 K"});
  options.style.fold = true;
  expect_equal(options, {"5m", "5M"});
}

TEST(LineOrder, floating_point_numbers_follow_other_texts_and_nans) {
  const LineOptions options = whole_line(LineKeyKind::kGeneral);
  expect_ascending(options,
                   {"x",   "nan",      "-nan",   "nan(256)", "nan(1)", "-inf", "-1e4000", "-1e3",
                    "-2",  "-1e-4940", "0",      "1e-4940",  "0x1p-3", ".25",  "1",       "1.0000000000000000001",
                    "1e3", "1001",     "1e4000", "inf"});
  expect_equal(options, {"", "x", "-", "+", ".", "e5"});
  expect_equal(options, {"0", "-0", "+0", "0x0", "0e9", " 0.0x"});
  expect_equal(options, {"inf", "INFINITY", "1e9999", "+inf"});
  expect_equal(options, {"1000", "1e3", "0x3E8", "\n 1000" + std::string(200, ' '), "1000." + std::string(300, '0')});
}

TEST(LineOrder, months_are_known_by_three_letters) {
  const LineOptions options = whole_line(LineKeyKind::kMonth);
  expect_ascending(options, {"x", "Jan", "feb", "MAR", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"});
  expect_equal(options, {"", "ja", "xjan", "13", "j an"});
  expect_equal(options, {"January", " \tjan", "JANx"});
}

TEST(LineOrder, versions_are_ordered_part_by_part) {
  LineOptions options = whole_line(LineKeyKind::kVersion);
  expect_ascending(options, {"", ".", "..", ".a", ".b1", "a~", "a", "a1", "a2", "a10", "ab", "a-b", "b"});
  expect_ascending(options, {"a.c", "a1.b", "a1.b.c1", "a1.c", "a2.b"});
  expect_ascending(options, {"1.2.3", "1.2.10", "1.10"});
  expect_ascending(options, {"f-1.9.tar.gz", "f-1.10~rc1.tar.gz", "f-1.10.tar.gz", "f-1.10.1.tar.gz"});
  expect_ascending(options, {"a" + std::string(300, '1'), "a" + std::string(301, '1'), "a1" + std::string(301, '0')});
  expect_equal(options, {"a", "a0", "a00"});
  expect_equal(options, {"a01b", "a1b", "a001b0"});
  options.style.fold = true;
  expect_equal(options, {"a1B", "A01b"});
  options.style = {};
  options.style.kind = LineKeyKind::kVersion;
  options.style.dictionary = true;
  expect_equal(options, {"a-1", "a1", "a.01"});
}

TEST(LineOrder, reverse_holds_for_each_type) {
  LineOptions numbers = whole_line(LineKeyKind::kNumber);
  numbers.reverse = true;
  expect_ascending(numbers, {"10", "9", "0.5", "0", "-9", "-10"});
  LineOptions versions = whole_line(LineKeyKind::kVersion);
  versions.style.reverse = true;
  expect_ascending(versions, {"a10", "a9", "a", "a~", ""});
}

TEST(LineOrder, random_orders_shuffle_keys_and_keep_equal_ones_together) {
  LineOptions options = whole_line(LineKeyKind::kRandom);
  options.style.fold = true;
  expect_equal(options, {"key", "KEY", "Key"});
  const LineOrder order(options);
  EXPECT_TRUE(order.is_random());
  EXPECT_FALSE(LineOrder({}).is_random());
  EXPECT_EQ(order.with_seed(7), order.with_seed(7));
  constexpr std::uint64_t kSeeds = 6000;
  std::map<std::string, std::uint64_t> found;
  for (std::uint64_t seed = 0; seed < kSeeds; ++seed) {
    const LineOrder seeded = order.with_seed(seed);
    std::string lines = "abc";
    std::ranges::sort(lines, {}, [&](const char& c) { return normalized(seeded, {&c, 1}); });
    ++found[lines];
  }
  EXPECT_EQ(found.size(), 6U);
  // Six standard deviations.
  for (const auto& [lines, times] : found) EXPECT_NEAR(static_cast<double>(times), kSeeds / 6.0, 175) << lines;
}

}  // namespace
}  // namespace hetsort::order::test
