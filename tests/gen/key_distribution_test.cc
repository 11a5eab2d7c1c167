// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
#include "gen/key_distribution.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <map>
#include <set>
#include <stdexcept>

#include "gen/zipf_table.h"
#include "tests/gen/support.h"

namespace hetsort::gen::test {
namespace {

using test::any_number;
using test::filled;
using test::keys_of;
using test::text_of;

KeyDistribution keys(const std::string& text) { return parse_key_distribution(text); }

std::string key_text(Form form, std::uint64_t j, std::uint64_t n) { return text_of(spread_key(form, j, n)); }

TEST(ParseKeyDistribution, known_kinds_are_read) {
  EXPECT_EQ(keys("uniform").kind, KeyKind::kUniform);
  EXPECT_EQ(keys("sorted").kind, KeyKind::kSorted);
  EXPECT_EQ(keys("reverse").kind, KeyKind::kReverse);
  EXPECT_EQ(keys("equal").kind, KeyKind::kEqual);
  EXPECT_EQ(keys("few:18446744073709551615").few_keys, std::numeric_limits<std::uint64_t>::max());
  EXPECT_EQ(keys("zipf:1.25").zipf_exponent, 1.25);
}

TEST(ParseKeyDistribution, anything_else_is_an_error) {
  for (const char* text : {"",         "Sorted",   "skewed",     "few",      "few:",
                           "few:0",    "few:-1",   "few:1x",     "few:1.5",  "few:18446744073709551616",
                           "zipf",     "zipf:",    "zipf:0",     "zipf:-1",  "zipf:21",
                           "zipf:nan", "zipf:inf", "zipf:1e400", "zipf:1,5", "zipf:1 ",
                           "sorted:3"})
    EXPECT_THROW(keys(text), std::invalid_argument) << text;
}

TEST(SpreadKey, binary_places_are_fractions_of_the_key_space) {
  using namespace std::string_literals;
  EXPECT_EQ(key_text(Form::kBinary, 0, 4), "\0\0\0\0\0\0\0\0\0\0"s);
  EXPECT_EQ(key_text(Form::kBinary, 1, 4), "\x40\0\0\0\0\0\0\0\0\0"s);
  EXPECT_EQ(key_text(Form::kBinary, 2, 3), "\xaa\xaa\xaa\xaa\xaa\xaa\xaa\xaa\0\0"s);
}

TEST(SpreadKey, ascii_places_are_fractions_in_base_95) {
  EXPECT_EQ(key_text(Form::kAscii, 0, 4), "          ");
  EXPECT_EQ(key_text(Form::kAscii, 1, 2), "OOOOOOOOOO");        // 47.5 / 95, digit 47 = 'O', ten times
  EXPECT_EQ(key_text(Form::kAscii, 1, 95).substr(0, 2), " ~");  // cut off: just below 1/95
}

RC_GTEST_PROP(SpreadKey, different_places_give_different_keys_in_their_order, ()) {
  const auto n = *rc::gen::suchThat(rc::gen::arbitrary<std::uint64_t>(), [](std::uint64_t drawn) { return drawn > 1; });
  const auto j = *rc::gen::arbitrary<std::uint64_t>() % (n - 1);
  const Form form = *rc::gen::element(Form::kBinary, Form::kAscii);
  RC_ASSERT(key_text(form, j, n) < key_text(form, j + 1, n));
}

TEST(SpreadKey, last_places_of_the_largest_count_differ) {
  constexpr auto kMax = std::numeric_limits<std::uint64_t>::max();
  for (const Form form : {Form::kBinary, Form::kAscii})
    EXPECT_LT(key_text(form, kMax - 2, kMax), key_text(form, kMax - 1, kMax));
}

RC_GTEST_PROP(KeyRewriter, only_the_key_changes_and_ascii_stays_printable, ()) {
  const RecordRange range{*any_number(), *rc::gen::inRange<std::uint64_t>(1, 60)};
  const Form form = *rc::gen::element(Form::kBinary, Form::kAscii);
  const auto kind = *rc::gen::element<std::string>("sorted", "reverse", "equal", "few:5", "zipf:0.9");
  const std::string plain = filled(form, {}, range);
  const std::string records = filled(form, keys(kind), range);
  for (std::size_t at = 0; at < records.size(); at += kRecordBytes)
    RC_ASSERT(records.substr(at + kKeyBytes, 90) == plain.substr(at + kKeyBytes, 90));
  for (const std::string& key : keys_of(records))
    for (const char letter : key) RC_ASSERT(form == Form::kBinary || (letter >= ' ' && letter <= '~'));
}

RC_GTEST_PROP(KeyRewriter, sorted_rises_and_reverse_is_its_mirror_image, ()) {
  const RecordRange range{*any_number(), *rc::gen::inRange<std::uint64_t>(1, 300)};
  const Form form = *rc::gen::element(Form::kBinary, Form::kAscii);
  std::vector<std::string> rising = keys_of(filled(form, keys("sorted"), range));
  std::vector<std::string> falling = keys_of(filled(form, keys("reverse"), range));
  RC_ASSERT(std::adjacent_find(rising.begin(), rising.end(), std::greater_equal<>()) == rising.end());
  std::reverse(falling.begin(), falling.end());
  RC_ASSERT(rising == falling);
}

TEST(KeyRewriter, equal_gives_one_key) {
  for (const Form form : {Form::kBinary, Form::kAscii}) {
    const auto found = keys_of(filled(form, keys("equal"), {9, 500}));
    EXPECT_EQ(std::set(found.begin(), found.end()), std::set{key_text(form, 0, 1)});
  }
}

TEST(KeyRewriter, few_gives_exactly_that_many_keys_of_equal_frequency) {
  for (const Form form : {Form::kBinary, Form::kAscii}) {
    std::map<std::string, int> found;
    for (const std::string& key : keys_of(filled(form, keys("few:10"), {0, 10'000}))) ++found[key];
    ASSERT_EQ(found.size(), 10U);
    for (const auto& [key, count] : found) EXPECT_NEAR(count, 1000, 150);
  }
}

TEST(KeyRewriter, few_and_zipf_depend_on_the_record_number_alone) {
  for (const char* kind : {"few:1000", "zipf:1.2"}) {
    const std::string whole = filled(Form::kBinary, keys(kind), {0, 100});
    EXPECT_EQ(whole.substr(5000), filled(Form::kBinary, keys(kind), {50, 50})) << kind;
  }
}

TEST(KeyRewriter, zipf_keys_are_as_frequent_as_the_exponent_says) {
  constexpr double kExponent = 1.5;
  constexpr int kRecords = 50'000;
  std::map<std::string, int> found;
  for (const std::string& key : keys_of(filled(Form::kBinary, keys("zipf:1.5"), {0, kRecords}))) ++found[key];
  std::vector<int> counts;
  for (const auto& [key, count] : found) counts.push_back(count);
  std::sort(counts.rbegin(), counts.rend());
  double sum = 0;
  for (std::uint32_t k = 1; k <= kZipfKeys; ++k) sum += std::pow(k, -kExponent);
  for (int k = 1; k <= 5; ++k) {
    const double expected = kRecords * std::pow(k, -kExponent) / sum;
    EXPECT_NEAR(counts[static_cast<std::size_t>(k - 1)], expected, 6 * std::sqrt(expected)) << "key " << k;
  }
}

TEST(ZipfTable, every_random_number_has_a_rank_and_larger_ones_no_smaller) {
  for (const double exponent : {0.01, 1.0, 20.0}) {
    const ZipfTable table(exponent, 1000);
    constexpr auto kMax = std::numeric_limits<std::uint64_t>::max();
    EXPECT_EQ(table.rank(0), 0U);
    EXPECT_LT(table.rank(kMax), 1000U);
    std::uint32_t before = 0;
    for (std::uint64_t random = 0; random < kMax - kMax / 5000; random += kMax / 5000) {
      ASSERT_GE(table.rank(random), before);
      before = table.rank(random);
    }
  }
}

TEST(ZipfTable, equal_chances_at_a_vanishing_exponent) {
  const ZipfTable table(1e-12, 4);
  EXPECT_EQ(table.rank(0x3fffffff00000000), 0U);
  EXPECT_EQ(table.rank(0x4000000100000000), 1U);
  EXPECT_EQ(table.rank(0xc000000100000000), 3U);
}

}  // namespace
}  // namespace hetsort::gen::test
