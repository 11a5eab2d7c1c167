// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
//
// Random lines under random options, ordered by their normalized keys and by sort(1) of GNU coreutils. One case is a
// batch of 20 texts. HETSORT_TEST_SEED draws other ones, HETSORT_TEST_CASES sets the number of batches.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <random>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "cli/options/command_line.h"
#include "job/options/line_options.h"
#include "job/sort_options.h"
#include "order/lines/line_order.h"
#include "tests/io/scratch.h"
#include "tests/seeds.h"

namespace hetsort::cli::test {
namespace {

using hetsort::test::case_seed;
using hetsort::test::cases;
using io::test::read_all;
using io::test::write_all;

/// Other versions of coreutils order versions (-V) and units (-h) differently: with them these are not drawn.
bool has_sort_of_coreutils_9_1() {
  static const bool has = std::system("sort --version 2>/dev/null | grep -q 'sort (GNU coreutils) 9\\.1$'") == 0;
  return has;
}

class Draw {
 public:
  explicit Draw(std::uint64_t seed) : random_(seed) {}

  std::size_t below(std::size_t end) { return random_() % end; }
  bool one_in(std::size_t n) { return below(n) == 0; }
  template <class Choices>
  auto of(const Choices& choices) {
    return choices[below(std::size(choices))];
  }
  /// Letters that go together.
  std::string letters(std::string_view always_possible) {
    static constexpr std::string_view kTypes[] = {"", "", "n", "n", "g", "h", "M", "V", "d", "i", "Vd", "Vi", "di"};
    std::string some(of(kTypes));
    if (!has_sort_of_coreutils_9_1()) std::erase_if(some, [](char letter) { return letter == 'h' || letter == 'V'; });
    for (const char letter : always_possible)
      if (one_in(4)) some += letter;
    return some;
  }
  std::string key() {
    const auto position = [&](std::size_t lowest_character) {
      std::string text = std::to_string(1 + below(4));
      if (one_in(3)) text += "." + std::to_string(lowest_character + below(4));
      return text + (one_in(6) ? "b" : "");
    };
    std::string text = position(1);
    const bool has_end = !one_in(3);
    if (one_in(2)) text += letters("fr");
    return has_end ? text + "," + position(0) : text;
  }
  std::vector<std::string> options() {
    std::vector<std::string> words{"--lines"};
    if (const std::string global = one_in(3) ? letters("bfr") : ""; !global.empty()) words.push_back("-" + global);
    for (std::size_t keys = below(4); keys > 0; --keys) words.push_back("-k" + key());
    static constexpr std::string_view kSeparators[] = {",", " ", ":", "a", "\\0", "1", "\t", "."};
    if (one_in(2)) words.push_back("-t" + std::string(one_in(2) ? "," : of(kSeparators)));
    for (const char* const other : {"-s", "-u", "-z"})
      if (one_in(5)) words.emplace_back(other);
    return words;
  }

  std::string characters(std::string_view alphabet, std::size_t max) {
    std::string text;
    for (std::size_t length = below(max + 1); length > 0; --length) text += of(alphabet);
    return text;
  }
  /// Without the byte 0x80, which `sort -n` of coreutils 9.1 skips within a number, and without NaNs, of which
  /// `sort -g` also compares padding.
  std::string token() {
    using namespace std::string_view_literals;
    static constexpr std::string_view kMonths[] = {"jan", "Feb",  "MAR",     "apri", "ma", "may",
                                                   "jun", "sept", "OCTober", "nov",  "dec"};
    static constexpr std::string_view kFloats[] = {
        "inf", "-infinity", "1e5", "1E-5", "0x1p3", "0x.8", "1e4930", "-1e4933", "1e-4950",
        "+3",  "-0",        "5e",  "1e+1", ".5",    "-.5",  "infx",   "in",      "18446744073709551616"};
    static constexpr std::string_view kNames[] = {"a.b",   "a.b.c", ".",   "..",    ".a",     ".a.b", "a~", "a.~",
                                                  "a1.t1", "a01.t", "a.1", "a.b1.", "1.0.~x", "A-1",  "a_1"};
    switch (below(10)) {
      case 0:
        return std::string(of(kMonths)) + characters("jJ \t", 1);
      case 1:
        return std::string(of(kFloats));
      case 2:
        return std::string(of(kNames));
      case 3:
        return characters("ab.~01-", 7);
      case 4:
        return characters("\0\1\2\x7f\xff\xe4"sv, 4);
      case 5:
        return characters("aAbB zZ\t_-", 5);
      case 6:
        return characters("-", 1) + characters("0", 2) + characters("0123456789", 6) + characters(".", 1) +
               characters("05", 4) + characters("kKMGmY", 1);
      case 7:
        return characters("-", 1) + characters("012", 2) + characters("kKMGTPEZYi", 2);
      case 8:
        return one_in(20) ? characters("0123456789", 400) : characters("09", 3);
      default:
        return characters("a1", 2);
    }
  }
  std::string line(char terminator) {
    std::string text;
    static constexpr std::string_view kBetween[] = {",", ",", " ", "\t", "  ", ":", ""};
    for (std::size_t tokens = below(5); tokens > 0; --tokens) {
      text += token() + std::string(of(kBetween));
      if (one_in(10)) text += terminator == '\0' ? '\n' : '\0';
    }
    std::erase(text, terminator);
    return text;
  }

 private:
  std::mt19937_64 random_;
};

struct Keyed {
  std::vector<std::byte> key;
  std::string line;
};

Keyed keyed(const order::LineOrder& order, std::string line) {
  const auto bytes = std::as_bytes(std::span(line));
  std::vector<std::byte> key;
  order.normalize(bytes, key);
  std::vector<std::byte> front = key;
  front.resize(16);
  EXPECT_TRUE(std::ranges::equal(order.front(bytes), front)) << "front of '" << line << "'";
  return {std::move(key), std::move(line)};
}

/// What a sort of lines writes, by their normalized keys.
std::string sorted(const std::vector<std::string>& lines, const std::vector<std::string>& words) {
  job::SortRequest request;
  job::Options options;
  job::add_one_sort_options(options, request);
  static_cast<void>(parse_command_line("sort", words, options));
  const order::LineOrder order(
      job::line_options_of(request.lines, {request.records.reverse, request.phases.output.unique || request.stable}));
  std::vector<Keyed> all;
  for (const std::string& line : lines) all.push_back(keyed(order, line));
  std::stable_sort(all.begin(), all.end(), [](const Keyed& a, const Keyed& b) { return a.key < b.key; });
  if (request.phases.output.unique) {
    const auto same = [](const Keyed& a, const Keyed& b) { return a.key == b.key; };
    all.erase(std::unique(all.begin(), all.end(), same), all.end());
  }
  std::string text;
  for (const Keyed& line : all) text += line.line + order.terminator();
  return text;
}

class AgainstSort : public testing::TestWithParam<std::uint64_t> {
 protected:
  /// What sort(1) writes. It does not know --lines.
  std::string expected(const std::vector<std::string>& lines, const std::vector<std::string>& words) const {
    std::string text;
    const bool zero = std::find(words.begin(), words.end(), "-z") != words.end();
    for (const std::string& line : lines) text += line + (zero ? '\0' : '\n');
    write_all(folder_ / "in", text);
    std::string command = "LC_ALL=C sort";
    for (auto word = words.begin() + 1; word != words.end(); ++word) command += " '" + *word + "'";
    EXPECT_EQ(std::system((command + " " + (folder_ / "in") + " >" + (folder_ / "out")).c_str()), 0) << command;
    return read_all(folder_ / "out");
  }

 private:
  io::test::Scratch folder_{io::test::memory_folder()};
};

TEST_P(AgainstSort, lines_are_in_the_same_order) {
  SCOPED_TRACE(hetsort::test::seed_note());
  Draw draw(case_seed(GetParam()));
  for (int text = 0; text < 20; ++text) {
    const std::vector<std::string> words = draw.options();
    const char terminator = std::find(words.begin(), words.end(), "-z") != words.end() ? '\0' : '\n';
    std::vector<std::string> lines;
    for (std::size_t count = draw.below(60); count > 0; --count)
      lines.push_back(lines.empty() || !draw.one_in(8) ? draw.line(terminator) : draw.of(lines));
    const std::string ours = sorted(lines, words);
    const std::string theirs = expected(lines, words);
    if (ours == theirs) continue;
    const auto differ = static_cast<std::size_t>(
        std::mismatch(ours.begin(), ours.end(), theirs.begin(), theirs.end()).first - ours.begin());
    std::string options;
    for (const std::string& word : words) options += word + " ";
    FAIL() << "text " << text << " of the batch, options " << options
           << ", ours from the difference on: " << testing::PrintToString(ours.substr(differ, 80))
           << ", sort's: " << testing::PrintToString(theirs.substr(std::min(differ, theirs.size()), 80));
  }
}

INSTANTIATE_TEST_SUITE_P(Sample, AgainstSort, cases(20, 4));

}  // namespace
}  // namespace hetsort::cli::test
