// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
#include "gen/ordered_pipeline.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <stdexcept>
#include <thread>
#include <vector>

namespace hetsort::gen::test {
namespace {

std::size_t make_numbered(std::uint64_t index, std::span<std::byte> buffer) {
  buffer[0] = static_cast<std::byte>(index);
  return 1;
}

std::vector<int> consumed(const PipelineOptions& options, const MakeChunk& make) {
  std::vector<int> seen;
  run_ordered(options, make, [&](std::span<const std::byte> chunk) { seen.push_back(static_cast<int>(chunk[0])); });
  return seen;
}

std::vector<int> counting(std::uint64_t count) {
  std::vector<int> numbers;
  for (std::uint64_t i = 0; i < count; ++i) numbers.push_back(static_cast<int>(i % 256));
  return numbers;
}

TEST(RunOrdered, chunks_come_in_order_for_any_threads_and_counts) {
  for (const unsigned threads : {0U, 1U, 2U, 7U})
    for (const std::uint64_t chunks : {0U, 1U, 2U, 3U, 100U, 1000U})
      ASSERT_EQ(consumed({.chunks = chunks, .buffer_bytes = 8, .threads = threads}, make_numbered), counting(chunks))
          << threads << " threads, " << chunks << " chunks";
}

TEST(RunOrdered, one_slow_chunk_delays_but_never_stops_the_others) {
  const auto make = [](std::uint64_t index, std::span<std::byte> buffer) {
    if (index % 37 == 0) std::this_thread::sleep_for(std::chrono::milliseconds(1));
    return make_numbered(index, buffer);
  };
  EXPECT_EQ(consumed({.chunks = 300, .buffer_bytes = 8, .threads = 4}, make), counting(300));
}

TEST(RunOrdered, chunks_are_consumed_one_at_a_time) {
  std::atomic<int> inside{0};
  int max_inside = 0;
  run_ordered({.chunks = 300, .buffer_bytes = 8, .threads = 4}, make_numbered, [&](std::span<const std::byte>) {
    max_inside = std::max(max_inside, ++inside);
    std::this_thread::yield();
    --inside;
  });
  EXPECT_EQ(max_inside, 1);
}

TEST(RunOrdered, failure_while_making_comes_out_and_nothing_behind_it_is_consumed) {
  for (const unsigned threads : {1U, 2U, 6U}) {
    std::vector<int> seen;
    const auto make = [](std::uint64_t index, std::span<std::byte> buffer) {
      if (index == 20) throw std::runtime_error("no");
      return make_numbered(index, buffer);
    };
    EXPECT_THROW(run_ordered({.chunks = 500, .buffer_bytes = 8, .threads = threads}, make,
                             [&](std::span<const std::byte> chunk) { seen.push_back(static_cast<int>(chunk[0])); }),
                 std::runtime_error);
    EXPECT_LE(seen.size(), 20U);
    EXPECT_EQ(seen, counting(seen.size()));
  }
}

TEST(RunOrdered, failure_while_consuming_comes_out_and_ends_consuming) {
  for (const unsigned threads : {1U, 2U, 6U}) {
    int calls = 0;
    EXPECT_THROW(run_ordered({.chunks = 500, .buffer_bytes = 8, .threads = threads}, make_numbered,
                             [&](std::span<const std::byte>) {
                               if (++calls == 10) throw std::runtime_error("full");
                             }),
                 std::runtime_error);
    EXPECT_EQ(calls, 10);
  }
}

}  // namespace
}  // namespace hetsort::gen::test
