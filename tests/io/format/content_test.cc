// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
#include "io/format/content.h"

#include <gtest/gtest.h>

#include <random>

#include "io/format/foreign.h"
#include "io/format/numpy.h"
#include "io/format/text.h"
#include "tests/io/scratch.h"
#include "tests/seeds.h"

namespace hetsort::io::test {
namespace {

using hetsort::test::seed_note;
using hetsort::test::test_seed;
using std::string_literals::operator""s;

std::span<const std::byte> front_of(const std::string& text) { return std::as_bytes(std::span(text)); }

std::string random_text(std::size_t count, std::mt19937_64& random) {
  std::string text(count, '\0');
  for (char& byte : text) byte = static_cast<char>(random());
  return text;
}

/// What check_front() says about such a front; empty if it accepts it.
std::string refusal(const std::string& front, const ContentRules& rules = {}) {
  try {
    check_front("NAME", front_of(front), rules);
    return "";
  } catch (const ContentError& error) {
    EXPECT_EQ(error.operation(), "read");
    EXPECT_EQ(error.path(), "NAME");
    return error.what();
  }
}

TEST(IsText, random_bytes_are_no_text_from_one_record_on) {
  SCOPED_TRACE(seed_note());
  std::mt19937_64 random(test_seed());
  const int texts = hetsort::test::kSanitized ? 2000 : 20'000;
  for (const std::size_t records : {1U, 2U, 5U, 20U})
    for (int i = 0; i < texts; ++i) ASSERT_FALSE(is_text(front_of(random_text(100 * records, random)))) << records;
}

TEST(IsText, a_text_may_end_inside_a_character_and_have_a_stray_control_character) {
  std::string text;
  while (text.size() < 3000) text += "\u8a9e \u043c\u0435\u0440\u0430\n";
  for (std::size_t bytes = 1; bytes < 20; ++bytes) EXPECT_TRUE(is_text(front_of(text.substr(0, bytes)))) << bytes;
  EXPECT_TRUE(is_text(front_of(text.substr(0, 2000) + "\x02\n")));
  EXPECT_FALSE(is_text(front_of("abc\x02\n")));
  EXPECT_FALSE(is_text(front_of("")));
}

TEST(IsText, zero_bytes_end_lines_but_do_not_fill_records) {
  EXPECT_TRUE(is_text(front_of("docs/a.txt\0docs/b.txt\0"s)));
  EXPECT_FALSE(is_text(front_of("pear\0\0\0\0\0\0apple\0\0\0\0\0"s)));
  EXPECT_FALSE(is_text(front_of("a\0b\0c\0d\0"s)));
}

TEST(IsText, ascii_records_are_none_where_all_of_them_are) {
  const std::string record = std::string(10, '~') + "  " + std::string(32, 'A') + "  " + std::string(52, 'F') + "\r\n";
  EXPECT_FALSE(is_text(front_of(record + record)));
  EXPECT_TRUE(resemble_benchmark_records(front_of(record + record)));
  EXPECT_TRUE(is_text(front_of(record + std::string(100, 'x'))));
}

TEST(ResembleBenchmarkRecords, random_records_do_and_constant_ones_do_not) {
  std::mt19937_64 random(test_seed());
  EXPECT_TRUE(resemble_benchmark_records(front_of(random_text(2048, random))));
  EXPECT_FALSE(resemble_benchmark_records(front_of(std::string(2048, '\0'))));
  EXPECT_TRUE(resemble_benchmark_records({}));
}

TEST(ForeignFormat, random_bytes_behind_a_short_signature_are_none) {
  SCOPED_TRACE(seed_note());
  std::mt19937_64 random(test_seed());
  for (const std::string start : {"\x1f\x8b", "BZh", "PK", "PAR", "7z", "\x7f\x45", "\xff\xfe", "\xfe\xff"})
    for (int i = 0; i < 2000; ++i) {
      const std::string front = start + random_text(98, random);
      ASSERT_EQ(foreign_format(front_of(front)), nullptr) << start << ": " << foreign_format(front_of(front))->name;
    }
}

TEST(ForeignFormat, no_signature_reads_behind_the_end) {
  for (const std::string& whole : {"\x1f\x8b\x08\0\0\0\0\0\0\x03"s, "BZh9\x31\x41\x59\x26\x53\x59"s,
                                   "\x28\xb5\x2f\xfd\x04\0"s, "\x93NUMPY\x01\0\x76\0"s}) {
    for (std::size_t bytes = 0; bytes < 6; ++bytes) {
      EXPECT_EQ(foreign_format(front_of(whole.substr(0, bytes))), nullptr);
      EXPECT_FALSE(is_numpy(front_of(whole.substr(0, bytes))));
    }
    EXPECT_TRUE(foreign_format(front_of(whole)) != nullptr || is_numpy(front_of(whole)));
  }
}

TEST(CheckFront, refuses_what_the_rules_say) {
  const std::string text = "a line\nand another\n";
  const std::string archive = "PK\x03\x04 and more";
  EXPECT_EQ(refusal(text), "");
  EXPECT_NE(refusal(archive).find("this is a zip archive"), std::string::npos);
  EXPECT_EQ(refusal(archive, {.refused = Refused::kNothing}), "");
  EXPECT_NE(refusal(text, {.refused = Refused::kFormatsAndText}).find("'lines' sorts lines"), std::string::npos);
  EXPECT_EQ(refusal("", {.refused = Refused::kFormatsAndText}), "");
}

TEST(StreamFront, finds_text_however_it_is_read_and_loses_no_byte) {
  const ContentRules strict{.refused = Refused::kFormatsAndText};
  const Scratch folder;
  std::mt19937_64 random(test_seed());
  for (const std::size_t size : {0U, 1U, 100U, 2047U, 2048U, 2049U, 10'000U})
    for (const std::size_t step : {1U, 1000U, 2048U, 3000U, 20'000U}) {
      const std::string records = "\0\0"s + random_text(size, random);
      write_all(folder / "in", records);
      StreamFront front(strict);
      const File file = File::open_read(folder / "in");
      std::string read(records.size() + step, '\0');
      std::size_t filled = 0;
      for (std::size_t got = step; got == step; filled += got)
        got = front.read(file, std::as_writable_bytes(std::span(read)).subspan(filled, step));
      EXPECT_EQ(read.substr(0, filled), records) << size << ", " << step;
      write_all(folder / "in", std::string(size + 1, 'x'));
      StreamFront of_text(strict);
      const File text = File::open_read(folder / "in");
      EXPECT_THROW(
          {
            for (std::size_t got = step; got == step;)
              got = of_text.read(text, std::as_writable_bytes(std::span(read)).first(step));
          },
          ContentError)
          << size << ", " << step;
    }
}

TEST(HasQuotedField, only_at_the_start_of_a_field) {
  EXPECT_TRUE(has_quoted_field(front_of("\"a\",b\n"), ',', '\n'));
  EXPECT_TRUE(has_quoted_field(front_of("a,\"b\"\n"), ',', '\n'));
  EXPECT_TRUE(has_quoted_field(front_of("a\0\"b"s), ',', '\0'));
  EXPECT_FALSE(has_quoted_field(front_of("a\"b\",5\"\n"), ',', '\n'));
}

}  // namespace
}  // namespace hetsort::io::test
