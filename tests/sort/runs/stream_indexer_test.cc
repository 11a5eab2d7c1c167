// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
//
// Streams of lines so long that they are indexed while they are read, in any order and of any length, in memory and
// beyond it.
#include "sort/runs/stream_indexer.h"

#include <algorithm>
#include <chrono>
#include <functional>
#include <string>
#include <thread>

#include "tests/sort/support.h"

namespace hetsort::sort::test {
namespace {

constexpr std::size_t kStreamBytes = std::size_t{10} << 20;

struct Kind {
  std::string name;
  std::function<std::string(std::mt19937_64& random, std::size_t number)> line;
};

void PrintTo(const Kind& kind, std::ostream* stream) { *stream << kind.name; }

std::string padded(std::size_t number) {
  return std::string(10 - std::to_string(number).size(), '0') + std::to_string(number);
}

/// A search for races needs few of them.
std::vector<Kind> kinds() {
  std::vector<Kind> all{
      {"random", [](auto& random, std::size_t) { return std::to_string(random()) + std::string(random() % 50, 'x'); }},
      {"sorted", [](auto& random, std::size_t number) { return padded(number) + std::string(random() % 50, 'x'); }},
      {"reversed", [](auto&, std::size_t number) { return padded(1'000'000'000 - number) + " and more"; }},
      {"other_keys_behind_the_sample",
       [](auto& random, std::size_t number) { return (number < 400'000 ? "a" : "b") + std::to_string(random()); }},
      {"short_behind_the_sample",
       [](auto& random, std::size_t number) { return std::string(number < 100'000 ? 90 : random() % 2, 'y'); }},
      {"all_equal", [](auto&, std::size_t) { return std::string(30, 'z'); }},
      {"long",
       [](auto& random, std::size_t) { return std::to_string(random()) + std::string(random() % 3'000'000, 'l'); }}};
  if (hetsort::test::kSanitized) all.resize(hetsort::test::kSeeksRaces ? 1 : 2);
  return all;
}

Bytes text_of(const Kind& kind, std::mt19937_64& random) {
  Bytes text;
  for (std::size_t number = 0; text.size() < kStreamBytes; ++number) {
    const std::string line = kind.line(random, number) + '\n';
    const auto* const bytes = reinterpret_cast<const std::byte*>(line.data());
    text.insert(text.end(), bytes, bytes + line.size());
  }
  return text;
}

Bytes sorted(const Bytes& text) {
  std::vector<std::string_view> lines;
  const std::string_view all(reinterpret_cast<const char*>(text.data()), text.size());
  for (std::size_t at = 0, end = 0; at < all.size(); at = end) {
    end = all.find('\n', at) + 1;
    lines.push_back(all.substr(at, end - at - 1));
  }
  std::ranges::sort(lines);
  Bytes result;
  for (const std::string_view line : lines) {
    const auto* const bytes = reinterpret_cast<const std::byte*>(line.data());
    result.insert(result.end(), bytes, bytes + line.size());
    result.push_back(std::byte{'\n'});
  }
  return result;
}

class LongStreams : public testing::TestWithParam<Kind> {};

TEST_P(LongStreams, are_sorted_in_memory_and_beyond_it) {
  SCOPED_TRACE(seed_note());
  std::mt19937_64 random(test_seed());
  const Bytes text = text_of(GetParam(), random);
  const Bytes expected = sorted(text);
  for (const std::uint64_t memory : {std::uint64_t{256} << 20, std::uint64_t{25} << 20})
    for (const std::size_t threads : {1U, 2U, 3U}) {
      if (threads < 3 && (hetsort::test::kSanitized || random() % 2 == 0)) continue;
      const Scratch folder;
      Pipe pipe;
      SortOptions options = sort_of_files({pipe.read_from(text)}, folder / "out", plain_lines());
      options.spill.directories = {folder.path()};
      options.memory_bytes = memory;
      options.threads = threads;
      options.output.sync = false;
      const RankResult result = run_sort(options);
      EXPECT_TRUE(result.in_memory || memory >> 20 != 256) << threads;
      EXPECT_TRUE(read_bytes(folder / "out") == expected) << memory << " bytes, " << threads << " threads";
    }
}

INSTANTIATE_TEST_SUITE_P(Of, LongStreams, testing::ValuesIn(kinds()),
                         [](const testing::TestParamInfo<Kind>& test) { return test.param.name; });

/// The lines that an indexer has indexed of a text that arrives in pieces of random length; 0 if it has given up.
std::uint64_t indexed_lines(const Bytes& text, std::uint64_t expected_bytes, std::mt19937_64& random) {
  Pipe pipe;
  const Input input({pipe.read_from(text)}, input_format(plain_lines(), {}), io::Access::kAuto);
  const Bench bench(plain_lines(), input, std::uint64_t{1} << 30, 2);
  const std::span<std::byte> memory = bench.context().shared_records();
  EXPECT_LE(text.size(), bench.context().plan.stream_bytes);
  StreamIndexer indexer(bench.context(), memory, bench.context().plan.stream_bytes, expected_bytes);
  indexer.index_while([&] {
    for (std::size_t at = 0; at < text.size();) {
      const std::size_t bytes = std::min<std::size_t>(text.size() - at, random() % 500'000);
      std::copy_n(text.begin() + static_cast<std::ptrdiff_t>(at), bytes,
                  memory.begin() + static_cast<std::ptrdiff_t>(at));
      indexer.arrived(at += bytes);
    }
  });
  MultisetDigest digest;
  const std::optional<MemoryRun> run = indexer.take_run(0, digest);
  EXPECT_EQ(run ? run->index->records() : 0, run ? text.size() : 0);
  return run ? digest.records : 0;
}

TEST(StreamIndexer, indexes_what_arrives_unless_it_is_short_or_much_longer_than_expected) {
  SCOPED_TRACE(seed_note());
  std::mt19937_64 random(test_seed());
  Bytes text = text_of(kinds().front(), random);
  const auto lines = static_cast<std::uint64_t>(std::ranges::count(text, std::byte{'\n'}));
  EXPECT_EQ(indexed_lines(text, text.size(), random), lines);
  EXPECT_EQ(indexed_lines(text, 10 * text.size(), random), lines);
  EXPECT_EQ(indexed_lines(text, text.size() / 2, random), lines);
  const std::uint64_t least_expected = std::uint64_t{8} << 20;  // the bytes of the sample
  const Bytes once = text;
  while (text.size() <= 3 * least_expected) text.insert(text.end(), once.begin(), once.end());
  EXPECT_EQ(indexed_lines(text, 1, random), 0);
  text.resize(std::size_t{1} << 20);
  text.back() = std::byte{'\n'};
  EXPECT_EQ(indexed_lines(text, text.size(), random), 0);
}

TEST(StreamIndexer, ends_when_reading_fails) {
  const Input input(1);
  const Bench bench(plain_lines(), input, std::uint64_t{1} << 30, 3);
  StreamIndexer indexer(bench.context(), bench.context().shared_records(), bench.context().plan.stream_bytes, 1);
  const auto fail = [] {
    std::this_thread::sleep_for(std::chrono::milliseconds(50));  // the others wait for lines by then
    throw io::Error("read", "stream", "broken");
  };
  EXPECT_THROW(indexer.index_while(fail), io::Error);
}

}  // namespace
}  // namespace hetsort::sort::test
