// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
#include "sort/merge/fewer_streams.h"

#include <algorithm>
#include <string>
#include <vector>

#include "sort/merge/merge_runs.h"
#include "tests/io/scratch.h"
#include "tests/sort/merge/collecting_sink.h"

namespace hetsort::sort::test {
namespace {

constexpr std::size_t kBlockOfLines = 2000;  // blocks that cut nearly all lines
constexpr std::size_t kLongLine = 20'000;

/// Sorted streams of lines, in small blocks. Counts the streams that have begun and not ended.
class SomeStreams : public RecordStreams {
 public:
  std::size_t streams() const override { return texts_.size(); }
  std::span<const std::byte> next(std::size_t stream) override {
    std::size_t& at = at_[stream];
    if (at == 0 && !texts_[stream].empty()) most_open_ = std::max(most_open_, ++open_);
    const auto left = std::as_bytes(std::span(texts_[stream])).subspan(at);
    if (left.empty() && at > 0) --open_;
    at += std::min(left.size(), kBlockOfLines);
    return left.first(std::min(left.size(), kBlockOfLines));
  }
  void add(std::vector<std::string> lines) {
    std::ranges::stable_sort(lines, {}, &key_of);
    all_.insert(all_.end(), lines.begin(), lines.end());
    std::string& text = texts_.emplace_back();
    for (const std::string& line : lines) text += line + '\n';
    at_.push_back(0);
  }

  std::uint64_t bytes(std::size_t stream) const { return texts_[stream].size(); }
  std::size_t most_open() const { return most_open_; }
  /// All lines in order; equal keys in the order of their streams.
  std::string merged() const {
    std::vector<std::string> lines = all_;
    std::ranges::stable_sort(lines, {}, &key_of);
    std::string text;
    for (const std::string& line : lines) text += line + '\n';
    return text;
  }

 private:
  static std::string key_of(const std::string& line) { return line.substr(0, line.find(' ')); }

  std::vector<std::string> texts_;
  std::vector<std::size_t> at_;
  std::vector<std::string> all_;
  std::size_t open_ = 0;
  std::size_t most_open_ = 0;
};

/// A line of kLongLine bytes.
std::string long_line(const std::string& key, const std::string& text) {
  return (key + ' ' + text).append(kLongLine - 2 - key.size() - text.size(), '.');
}

/// `count` streams of a few long lines with few different keys, and of short ones.
void add_streams(SomeStreams& streams, std::size_t count) {
  for (std::size_t stream = 0; stream < count; ++stream) {
    const std::string name = std::to_string(stream);
    std::vector<std::string> lines{"b " + name};
    for (std::size_t line = 0; line < 3; ++line)
      lines.push_back(long_line(std::string(1 + (stream + line) % 4, 'a'), name + '.' + std::to_string(line)));
    streams.add(std::move(lines));
  }
}

class MergeFewerStreams : public ::testing::Test {
 protected:
  MergeFewerStreams() : staging_(std::size_t{4} << 20) {
    order::LineOptions lines;
    lines.keys.push_back({.last_field = 1});
    lines.last_resort = false;
    context_.layout.record_bytes = 1;
    context_.layout.lines = std::make_shared<const order::LineOrder>(lines);
    context_.plan.spill_block_bytes = kPageBytes;
    context_.plan.staging_blocks = 4;
    context_.monitor = &monitor_;
    context_.options = &options_;
    options_.spill.directories = {folder_.path()};
  }

  /// Merges the streams with memory for so many lines.
  std::string merge(SomeStreams& streams, std::size_t lines) {
    const StopFlag stop{false};
    FewerStreams few(context_, staging_.span(),
                     {kLongLine, std::max(lines * kLongLine, FewerStreams::two_lines(context_, kLongLine))});
    for (std::size_t stream = 0; stream < streams.streams(); ++stream) few.add(streams, stream, streams.bytes(stream));
    RecordStreams& left = few.reduce(stop);
    left_ = left.streams();
    CollectingSink sink(kBlockOfLines);
    OrderVerifier verifier(context_.layout);
    merge_streams(left, context_.layout, {sink, verifier, monitor_, stop});
    EXPECT_TRUE(verifier.in_order());
    const std::span<const char> all(reinterpret_cast<const char*>(sink.collected().data()), sink.collected().size());
    return {all.begin(), all.end()};
  }

  /// Merges `count` streams, with memory for so many lines, as it should. Returns the most streams that were open at a
  /// time.
  std::size_t expect_merged(std::size_t count, std::size_t lines) {
    SomeStreams streams;
    add_streams(streams, count);
    EXPECT_EQ(merge(streams, lines), streams.merged()) << count;
    return streams.most_open();
  }

  io::test::Scratch folder_;
  io::Buffer staging_;
  Monitor monitor_;
  SortOptions options_;
  RankContext context_;
  std::size_t left_ = 0;  // streams after the passes
};

TEST_F(MergeFewerStreams, that_fit_are_left_as_they_are) {
  expect_merged(20, 20);
  EXPECT_EQ(left_, 20U);
}

TEST_F(MergeFewerStreams, in_passes_gives_the_same_lines_and_equal_keys_in_the_order_of_the_streams) {
  // Two lines and the blocks of two runs are the least memory; the blocks have room for lines of streams, too.
  const std::size_t least = FewerStreams::two_lines(context_, kLongLine) / kLongLine;
  ASSERT_LT(least, 8U);
  for (const std::size_t count : {least + 1, std::size_t{60}}) {
    EXPECT_LE(expect_merged(count, 0), least) << count;
    EXPECT_LE(left_, least) << count;
  }
}

TEST_F(MergeFewerStreams, merges_no_more_of_them_than_necessary) {
  expect_merged(32, 30);
  EXPECT_GT(left_, 20U);
}

TEST_F(MergeFewerStreams, of_short_or_no_lines_counts_them_with_their_bytes) {
  SomeStreams streams;
  for (int stream = 0; stream < 500; ++stream)
    streams.add(stream % 2 == 0 ? std::vector<std::string>{"a"} : std::vector<std::string>{});
  EXPECT_EQ(merge(streams, 0), streams.merged());
  EXPECT_EQ(left_, 500U);
}

}  // namespace
}  // namespace hetsort::sort::test
