// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
#include "sort/input/csv/quote_map.h"

#include <algorithm>
#include <fstream>
#include <random>
#include <string>

#include "tests/sort/ranks.h"
#include "tests/sort/support.h"

namespace hetsort::sort::test {
namespace {

/// Some MiB of rows, whose chunks begin within quotes as often as not.
std::string rows_of(const std::string& header) {
  std::mt19937_64 random(test_seed());
  std::string text = header;
  while (text.size() < (std::size_t{5} << 20)) {
    text += std::to_string(random() % 1000) + ",\"";
    for (std::size_t lines = random() % 400; lines > 0; --lines) text += lines % 7 == 0 ? "\"\",\n" : "some text\n";
    text += "\"\n";
  }
  return text;
}

std::string hidden(std::string text, std::size_t header_bytes) {
  order::hide_newlines(std::as_writable_bytes(std::span(text)).subspan(header_bytes), false);
  return text;
}

class QuoteMaps : public testing::TestWithParam<std::size_t> {
 protected:
  void put(const std::string& text) const { std::ofstream(folder_ / "in", std::ios::binary) << text; }
  io::File open() const { return io::File::open_read(folder_ / "in"); }
  std::size_t header_bytes() const { return GetParam(); }

 private:
  Scratch folder_;
};

void expect_map(const QuoteMap& map, const io::File& file, const std::string& text, const std::string& expected,
                std::size_t begin) {
  std::mt19937_64 random(test_seed());
  for (int i = 0; i < 200; ++i) {
    const std::size_t from = begin + random() % (text.size() - begin);
    std::string part = text.substr(from, i % 2 == 0 ? random() % 5000 : random() % 100'000);
    map.hide(file, from, std::as_writable_bytes(std::span(part)));
    ASSERT_TRUE(part == expected.substr(from, part.size())) << seed_note() << " at " << from;
  }
}

TEST_P(QuoteMaps, show_which_newlines_are_within_quotes_for_threads_and_ranks) {
  SCOPED_TRACE(seed_note());
  // The header is no row: a quote in it does not count.
  const std::string text = rows_of(header_bytes() == 0 ? "" : std::string(header_bytes() - 2, 'h') + "\"\n");
  const std::string expected = hidden(text, header_bytes());
  put(text);
  for (const std::size_t threads : {1, 3}) {
    const io::File file = open();
    const QuoteMapRequest request{file, header_bytes(), text.size(), {',', 2}, threads};
    const auto map = map_quotes(request, nullptr);
    EXPECT_TRUE(map->hides_newlines());
    expect_map(*map, file, text, expected, header_bytes());
  }
  const auto body = [&](comm::Communicator& ranks) {
    const io::File file = open();
    const auto map = map_quotes({file, header_bytes(), text.size(), {',', 2}, 2}, &ranks);
    expect_map(*map, file, text, expected, header_bytes());
  };
  for (const int ranks : {2, 3, 7})
    for (const machinery::RankEnd& end : machinery::try_ranks(ranks, test_seed(), {}, body)) EXPECT_EQ(end.message, "");
}

TEST_P(QuoteMaps, all_ranks_refuse_a_row_that_is_malformed) {
  std::string text = rows_of(std::string(header_bytes(), 'h'));
  const std::size_t end = text.rfind("\n", text.size() - 2);
  text.insert(text.find(",\"", end - 200'000) + 1, "x");
  const auto line = std::count(text.begin(), text.begin() + static_cast<std::ptrdiff_t>(text.find(",x\"")), '\n') + 1;
  put(text);
  const auto body = [&](comm::Communicator& ranks) {
    const io::File file = open();
    static_cast<void>(map_quotes({file, header_bytes(), text.size(), {',', 2}, 2}, &ranks));
  };
  for (const machinery::RankEnd& rank : machinery::try_ranks(3, test_seed(), {}, body))
    EXPECT_NE(rank.conclusion.find("line " + std::to_string(line) + ": a quote within a field"), std::string::npos)
        << rank.conclusion;
}

TEST_P(QuoteMaps, an_empty_line_between_two_chunks_is_no_row_that_lacks_a_field) {
  std::string text(header_bytes(), 'h');
  text += "1,";
  text.resize((std::size_t{1} << 20) - 1, 'x');
  text += "\n\n2,3\n";
  put(text);
  const io::File file = open();
  EXPECT_FALSE(map_quotes({file, header_bytes(), text.size(), {',', 2}, 2}, nullptr)->hides_newlines());
}

INSTANTIATE_TEST_SUITE_P(With, QuoteMaps, testing::Values(0, 100, 17'000, (1 << 20), (1 << 20) + 5),
                         [](const auto& param) { return "header_of_" + std::to_string(param.param) + "_bytes"; });

}  // namespace
}  // namespace hetsort::sort::test
