// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
//
// The options of lines: what they mean, and which are refused.
#include "job/options/line_options.h"

#include <gtest/gtest.h>

#include <limits>
#include <optional>
#include <string>
#include <vector>

#include "cli/options/command_line.h"
#include "job/sort_options.h"

namespace hetsort::cli::test {
namespace {

using job::parse_line_key;
using order::LineKeyKind;

/// The options of lines on a command line of `hetsort sort`.
std::optional<order::LineOptions> lines_of(const std::vector<std::string>& words) {
  job::SortRequest request;
  job::Options options;
  job::add_one_sort_options(options, request);
  static_cast<void>(parse_command_line("sort", words, options));
  if (!request.lines.lines) return std::nullopt;
  return job::line_options_of(request.lines, {request.records.reverse, request.phases.output.unique || request.stable});
}

/// Expects that `words` are refused with a message that contains `text`.
void expect_refused(const std::vector<std::string>& words, const std::string& text) {
  try {
    lines_of(words);
    ADD_FAILURE() << "no error with '" << text << "'";
  } catch (const UsageError& error) {
    EXPECT_NE(std::string(error.what()).find(text), std::string::npos) << error.what();
  }
}

TEST(LineOptions, each_of_them_asks_for_lines) {
  EXPECT_FALSE(lines_of({}));
  EXPECT_FALSE(lines_of({"-r", "-u", "-s", "file"}));
  const std::vector<std::vector<std::string>> all{{"--lines"}, {"-k1"}, {"-t,"}, {"-b"}, {"-d"}, {"-f"}, {"-g"},
                                                  {"-h"},      {"-i"},  {"-M"},  {"-n"}, {"-R"}, {"-V"}, {"-z"}};
  for (const std::vector<std::string>& words : all) EXPECT_TRUE(lines_of(words)) << words.front();
}

TEST(LineOptions, long_and_short_names_mean_the_same) {
  EXPECT_EQ(lines_of({"-n"}), lines_of({"--numeric-sort"}));
  const std::vector<std::pair<std::string, std::string>> kinds{{"general-numeric", "-g"}, {"human-numeric", "-h"},
                                                               {"month", "-M"},           {"numeric", "-n"},
                                                               {"random", "-R"},          {"version", "-V"}};
  for (const auto& [word, letter] : kinds) {
    EXPECT_EQ(lines_of({"--sort=" + word}), lines_of({letter}));
    EXPECT_EQ(lines_of({"--sort", word}), lines_of({"--" + word + "-sort"}));
  }
  EXPECT_EQ(lines_of({"--num", "--field=,", "--ignore-c"}), lines_of({"-n", "-t,", "-f"})) << "abbreviations";
  EXPECT_EQ(lines_of({"-Mbf"}), lines_of({"--month-sort", "--ignore-leading-blanks", "--ignore-case"}));
  EXPECT_EQ(lines_of({"-k", "2,3nr", "-t,", "-z"}),
            lines_of({"--line-key=2,3nr", "--field-separator", ",", "--zero-terminated"}));
  EXPECT_EQ(lines_of({"-rnk2", "-us"}), lines_of({"-k", "2", "-n", "--reverse", "--unique", "--stable"}));
}

TEST(LineOptions, set_what_orders_lines) {
  const order::LineOptions lines = *lines_of({"-rbVf", "-z", "-t", "\\0", "-u"});
  EXPECT_EQ(lines.terminator, '\0');
  EXPECT_EQ(lines.separator, '\0');
  EXPECT_EQ(lines.style.kind, LineKeyKind::kVersion);
  EXPECT_TRUE(lines.style.fold && lines.style.skip_blanks && lines.reverse);
  EXPECT_FALSE(lines.style.dictionary || lines.style.printing || lines.last_resort);
  EXPECT_FALSE(lines_of({"--lines", "-s"})->last_resort);
  EXPECT_TRUE(lines_of({"--lines"})->last_resort);
}

TEST(LineOptions, a_key_has_two_positions_with_options) {
  order::LineKey key = parse_line_key("2", "-k");
  EXPECT_EQ(key, (order::LineKey{.first_field = 2}));
  key = parse_line_key("2.3b,4.1nr", "-k");
  EXPECT_EQ(key.first_field, 2U);
  EXPECT_EQ(key.first_character, 3U);
  EXPECT_EQ(key.last_field, 4U);
  EXPECT_EQ(key.last_character, 1U);
  EXPECT_TRUE(key.skip_blanks_before_first && !key.skip_blanks_before_last);
  EXPECT_TRUE(key.style.reverse && key.style.kind == LineKeyKind::kNumber);
  key = parse_line_key("1M,2b", "-k");
  EXPECT_TRUE(!key.skip_blanks_before_first && key.skip_blanks_before_last && key.style.kind == LineKeyKind::kMonth);
  EXPECT_EQ(parse_line_key("1,2.0", "-k"), parse_line_key(" 1, 2", "-k"));
  EXPECT_EQ(parse_line_key("99999999999999999999", "-k").first_field, std::numeric_limits<std::size_t>::max());
}

TEST(LineOptions, a_key_that_is_not_understood_is_refused) {
  expect_refused({"-k", "0"}, "-k '0': the first field is 0");
  expect_refused({"-k", "1.0"}, "-k '1.0': the first character is 0");
  expect_refused({"-k", "1,0"}, "the last field is 0");
  expect_refused({"-k", "n"}, "there is no first field at 'n'");
  expect_refused({"-k", "1.n"}, "there is no first character at 'n'");
  expect_refused({"-k", "1,"}, "there is no last field at ''");
  expect_refused({"-k", "1,2."}, "there is no last character at ''");
  expect_refused({"-k", "1x"}, "'x' is not understood");
  expect_refused({"-k", "1,2,3"}, "',3' is not understood");
  expect_refused({"-k", "-1"}, "-1");
  expect_refused({"-k", ""}, "-k '': there is no first field");
}

TEST(LineOptions, types_of_one_key_exclude_each_other) {
  expect_refused({"-n", "-g"}, "options '-gn' are incompatible");
  expect_refused({"-nd"}, "options '-dn' are incompatible");
  expect_refused({"-fiM"}, "options '-fiM' are incompatible");
  expect_refused({"-nV"}, "options '-nV' are incompatible");
  expect_refused({"-k1,1gM"}, "-k '1,1gM': options '-gM' are incompatible");
  expect_refused({"-ng", "-k1", "-k2M"}, "options '-gn' are incompatible");
  EXPECT_TRUE(lines_of({"-ng", "-k2M"})) << "no key uses the global options";
  EXPECT_TRUE(lines_of({"-Vdif"}));
}

TEST(LineOptions, a_separator_is_one_byte) {
  expect_refused({"-t", "xx"}, "-t 'xx': a separator is one byte");
  expect_refused({"-t\\t"}, "$'\\t' is a tab");
  expect_refused({"--field-separator="}, "separator");
  expect_refused({"-t,", "-t;"}, "-t ',' and -t ';' exclude each other");
  EXPECT_EQ(lines_of({"-t,", "-t", ","})->separator, ',');
  EXPECT_EQ(lines_of({"-t", "|"})->separator, '|');
  EXPECT_EQ(lines_of({"-t", "-"})->separator, '-');
}

TEST(LineOptions, exclude_those_of_records) {
  expect_refused({"-n", "--record-size", "8"}, "-n is for lines: it excludes --record-size");
  expect_refused({"--lines", "--header", "1"}, "--lines is for lines: it excludes --header");
  expect_refused({"-k2", "--key", "0:8"}, "-k is for lines: it excludes --key");
}

}  // namespace
}  // namespace hetsort::cli::test
