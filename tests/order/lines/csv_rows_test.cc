// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
//
// Rows of CSV against a scan byte by byte. tests/cli/lines compares whole sorts with Python's csv module.
#include "order/lines/csv_rows.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <random>
#include <string>
#include <string_view>
#include <vector>

#include "order/lines/csv_fields.h"
#include "order/lines/line_order.h"

namespace hetsort::order::test {
namespace {

using Kind = CsvFault::Kind;

std::span<std::byte> bytes_of(std::string& text) { return std::as_writable_bytes(std::span(text)); }

/// What a scan of one byte after the other says.
struct Reference {
  std::string hidden;        ///< the text with another byte for each newline within quotes
  std::vector<bool> inside;  ///< whether each byte, and the end, is within quotes
};

Reference reference_of(std::string_view text) {
  Reference found{std::string(text), {false}};
  for (char& c : found.hidden) {
    found.inside.push_back(found.inside.back() != (c == '"'));
    if (c == '\n' && found.inside.back()) c = static_cast<char>(kHiddenNewline);
  }
  return found;
}

std::string random_rows(std::mt19937_64& random, std::size_t rows) {
  std::string text;
  for (std::size_t row = 0; row < rows; ++row) {
    for (std::size_t field = 0; field < 3; ++field) {
      const std::size_t length = random() % 4 == 0 ? random() % 200 : random() % 8;
      if (field > 0) text += ',';
      if (random() % 2 == 0) {
        text.append(length, 'x');
        continue;
      }
      text += '"';
      for (std::size_t i = 0; i < length; ++i) text += std::array{"\n", "\r", "\"\"", ",", "y"}.at(random() % 5);
      text += '"';
    }
    text += random() % 2 == 0 ? "\n" : "\r\n";
  }
  return text;
}

/// Scans pieces of random sizes.
std::optional<CsvFault> fault_of(std::string text, std::size_t least_fields, std::mt19937_64& random) {
  RowScanner scanner({',', least_fields});
  for (std::span<std::byte> left = bytes_of(text); !left.empty();) {
    const std::size_t piece = std::min<std::size_t>(left.size(), 1 + random() % 100);
    scanner.scan(left.first(piece));
    left = left.subspan(piece);
  }
  scanner.finish();
  return scanner.fault();
}

TEST(CsvRows, newlines_within_quotes_are_hidden_and_shown_again_wherever_a_scan_begins) {
  std::mt19937_64 random(1);
  for (int i = 0; i < 300; ++i) {
    std::string text = random_rows(random, 1 + random() % 20);
    const Reference expected = reference_of(text);
    const std::string before = text;
    const std::size_t from = random() % text.size();
    hide_newlines(bytes_of(text).subspan(from), expected.inside[from]);
    EXPECT_EQ(text.substr(from), expected.hidden.substr(from));
    show_newlines(bytes_of(text));
    EXPECT_EQ(text, before);
    EXPECT_EQ(has_odd_quotes(std::as_bytes(std::span(text)).first(from)), expected.inside[from]);
    RowScanner scanner({});
    for (std::span<std::byte> left = bytes_of(text); !left.empty();) {
      const std::size_t piece = std::min<std::size_t>(left.size(), 1 + random() % 100);
      scanner.scan_and_hide(left.first(piece));
      left = left.subspan(piece);
    }
    EXPECT_EQ(text, expected.hidden);
    EXPECT_EQ(scanner.hidden_newlines(), static_cast<std::uint64_t>(std::ranges::count(text, '\0')));
  }
}

TEST(CsvRows, well_formed_rows_have_no_fault_wherever_a_scan_begins) {
  std::mt19937_64 random(2);
  for (int i = 0; i < 300; ++i) {
    const std::string text = random_rows(random, 1 + random() % 20);
    EXPECT_FALSE(fault_of(text, 3, random));
    EXPECT_EQ(fault_of(text, 4, random)->kind, Kind::kFewFields);
    if (text.size() < 3) continue;
    const Reference expected = reference_of(text);
    const std::size_t from = 2 + random() % (text.size() - 2);
    const auto bytes = std::as_bytes(std::span(text));
    RowScanner scanner({',', 3}, expected.inside[from], bytes.subspan(from - 2).first<2>());
    scanner.scan(bytes.subspan(from));
    EXPECT_FALSE(scanner.fault()) << text << " from " << from;
  }
}

TEST(CsvRows, a_fault_has_its_line) {
  struct Case {
    std::string_view text;
    Kind kind;
    std::uint64_t line;
    std::uint64_t quote_line;
  };
  constexpr std::array kCases{Case{"1,2\n1,\"a\n\"\n3,\"\n\n", Kind::kNoEnd, 3, 3},
                              Case{"1,\"a\nb\"c\n", Kind::kTextBehindQuote, 1, 0},
                              Case{"\"a\"\r", Kind::kFewFields, 0, 0},
                              Case{"\"a\"\rb\n", Kind::kTextBehindQuote, 0, 0},
                              Case{"1,a\"b\"\n", Kind::kQuoteInField, 0, 0},
                              Case{"1,\"a\n\"\n2,3\n4\n5\n", Kind::kFewFields, 3, 0},
                              Case{"\n\r\n\"\n\"\n", Kind::kFewFields, 2, 0},
                              Case{"1,2\n3", Kind::kFewFields, 1, 0},
                              Case{"1,\" \"\" \" \"\n", Kind::kTextBehindQuote, 0, 0}};
  std::mt19937_64 random(3);
  for (const Case& each : kCases) {
    for (const std::size_t before : {0, 5, 40}) {
      std::string text;
      for (std::size_t row = 0; row < before; ++row) text += "x,\"\n\"\n";
      const std::optional<CsvFault> fault = fault_of(text + std::string(each.text), 2, random);
      ASSERT_TRUE(fault) << each.text;
      EXPECT_EQ(fault->kind, each.kind) << each.text;
      EXPECT_EQ(fault->line, each.line + 2 * before) << each.text;
      if (each.kind == Kind::kTextBehindQuote) {
        EXPECT_EQ(fault->quote_line, each.quote_line + 2 * before) << each.text;
      }
    }
  }
  EXPECT_EQ(fault_of(std::string("1,2\n3,\0\n", 8), 2, random)->kind, Kind::kZeroByte);
  EXPECT_FALSE(fault_of("\n\n1,2\r\n\r\n\n", 2, random)) << "empty lines have no fields";
}

std::string value(std::string_view row, std::size_t number) {
  std::string room;
  const std::optional<CsvField> field = csv_field(row, number, ',');
  return field ? std::string(value_of(*field, room)) : "none";
}

TEST(CsvFields, have_values_without_quotes) {
  constexpr std::string_view kRow("a,\"b,\"\"c\"\"\0d\",,\"\"\r", 17);
  const std::vector<std::string> expected{"a", "b,\"c\"\nd", "", "", "none"};
  for (std::size_t number = 1; number <= expected.size(); ++number)
    EXPECT_EQ(value(kRow, number), expected[number - 1]);
  EXPECT_EQ(value("", 1), "");
  EXPECT_EQ(value("", 2), "none");
  EXPECT_EQ(value("a,", 2), "");
  EXPECT_EQ(value("\"\"\"\"", 1), "\"");
  EXPECT_EQ(column_names("\xef\xbb\xbf\"a b\",c\r", ','), (std::vector<std::string>{"a b", "c"}));
}

LineOptions csv_options() {
  LineOptions options;
  options.separator = ',';
  options.last_resort = false;
  options.csv = true;
  return options;
}

TEST(CsvKeys, put_empty_values_at_one_end) {
  const auto key_of = [](const LineOptions& options, std::string_view row) {
    std::vector<std::byte> key;
    LineOrder(options).normalize(std::as_bytes(std::span(row)), key);
    return key;
  };
  for (const LineKeyKind kind :
       {LineKeyKind::kText, LineKeyKind::kNumber, LineKeyKind::kGeneral, LineKeyKind::kVersion})
    for (const bool reverse : {false, true})
      for (const bool first : {false, true}) {
        LineOptions options = csv_options();
        options.empty_first = first;
        options.keys.push_back({.first_field = 2, .last_field = 2});
        options.keys.back().style.kind = kind;
        options.keys.back().style.reverse = reverse;
        const auto empty = key_of(options, "1,,2");
        EXPECT_EQ(empty, key_of(options, "1,\"\""));
        for (const std::string_view row :
             {"x,\xff\xff", "x,\xfe", "x,\1", "x,0", "x,-1", "x,1e9", "x,\"\"\"\"", "x,nan"})
          EXPECT_TRUE(first ? empty < key_of(options, row) : key_of(options, row) < empty) << row;
        EXPECT_EQ(key_of(options, "x,\"7\",a"), key_of(options, "y,7,b"));
      }
}

TEST(CsvKeys, are_columns_of_a_header) {
  LineOptions options = csv_options();
  options.keys = {{.column = "b"}, {.first_field = 1, .last_field = 1}};
  const LineOrder order(options);
  EXPECT_TRUE(order.needs_columns());
  EXPECT_EQ(order.with_columns({"a", "x", "b"}).least_fields(), 3U);
  EXPECT_THROW(static_cast<void>(order.with_columns({"a"})), ColumnError);
  EXPECT_THROW(static_cast<void>(order.with_columns({"b", "b"})), ColumnError);
}

TEST(ListedWords, have_the_order_of_the_list_and_others_come_behind) {
  auto words = std::make_shared<WordList>();
  for (const char* const word : {"chr2", "chr10", "chrX"}) EXPECT_TRUE(words->add(word));
  EXPECT_FALSE(words->add("chr2"));
  LineOptions options;
  options.keys.push_back({});
  options.keys.back().style.kind = LineKeyKind::kListed;
  options.last_resort = false;
  options.words = words;
  std::vector<std::byte> before;
  for (const std::string_view line : {"chr2", "chr10", "chrX", "", "chr1", "chr11"}) {
    std::vector<std::byte> key;
    LineOrder(options).normalize(std::as_bytes(std::span(line)), key);
    EXPECT_LT(before, key) << line;
    before = key;
  }
}

}  // namespace
}  // namespace hetsort::order::test
