// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>
#include <sys/mman.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <random>
#include <vector>

#include "sort/failure/request_error.h"
#include "sort/sort.h"
#include "tests/machinery/in_process.h"
#include "tests/seeds.h"
#include "tests/sort/typed_order.h"

namespace hetsort::sort::test {

namespace {

using MemoryRecords = std::vector<std::byte>;

/// MemoryRecords behind which no byte can be read, and a write to which ends the test.
class GuardedMemory {
 public:
  explicit GuardedMemory(const MemoryRecords& records) : bytes_(records.size()), pages_(bytes_ / kPage + 2) {
    void* const memory = ::mmap(nullptr, pages_ * kPage, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    memory_ = static_cast<std::byte*>(memory);
    std::ranges::copy(records, begin());
    ::mprotect(memory_ + (pages_ - 1) * kPage, kPage, PROT_NONE);
    ::mprotect(memory_, (pages_ - 1) * kPage, PROT_READ);
  }
  GuardedMemory(const GuardedMemory&) = delete;
  GuardedMemory& operator=(const GuardedMemory&) = delete;
  ~GuardedMemory() { ::munmap(memory_, pages_ * kPage); }
  std::span<std::byte> writable() {
    ::mprotect(memory_, (pages_ - 1) * kPage, PROT_READ | PROT_WRITE);
    return {begin(), bytes_};
  }
  std::span<const std::byte> span() const { return {begin(), bytes_}; }

 private:
  static constexpr std::size_t kPage = 4096;
  std::byte* begin() const { return memory_ + (pages_ - 1) * kPage - bytes_; }
  std::size_t bytes_;
  std::size_t pages_;
  std::byte* memory_ = nullptr;
};

RecordLayout memory_layout_of(std::mt19937_64& dice) {
  using Kind = KeyKind;
  const std::array layouts{
      RecordLayout{.record_bytes = 1, .key_bytes = 1},
      RecordLayout{.record_bytes = 100},
      RecordLayout{.record_bytes = 37, .key_offset = 5, .key_bytes = 32},
      order::layout_with_keys(8, std::array{KeyField{0, 8, Kind::kUnsigned}}),
      order::layout_with_keys(24, std::array{KeyField{8, 8, Kind::kUnsigned}}),
      order::layout_with_keys(24,
                              std::array{KeyField{16, 8, Kind::kFloat, false, true}, KeyField{0, 2, Kind::kSigned}}),
      order::layout_with_keys(31, std::array{KeyField{0, 1, Kind::kUnsigned}, KeyField{19, 12, Kind::kBytes}}),
  };
  return layouts[dice() % layouts.size()];
}

/// Whether records of `layout` are the stable order of `input`. The comparison shares no code with the sort.
MemoryRecords stable_order(const RecordLayout& layout, const MemoryRecords& input) {
  std::vector<const std::byte*> order;
  for (std::size_t at = 0; at < input.size(); at += layout.record_bytes) order.push_back(input.data() + at);
  std::ranges::stable_sort(order,
                           [&](const std::byte* a, const std::byte* b) { return compare_typed(layout, a, b) < 0; });
  MemoryRecords sorted;
  for (const std::byte* const record : order) sorted.insert(sorted.end(), record, record + layout.record_bytes);
  return sorted;
}

struct MemoryCase {
  RecordLayout layout;
  std::vector<MemoryRecords> of_ranks;
  std::vector<std::size_t> shares;
  MemoryRecords all;
};

/// `most`: records of a rank. Key bytes have few values, so that many keys are equal.
MemoryCase random_memory_case(std::mt19937_64& dice, std::size_t ranks, std::size_t most) {
  MemoryCase one{.layout = memory_layout_of(dice), .of_ranks = {}, .shares = {}, .all = {}};
  const unsigned values = dice() % 2 == 0 ? 3 : 256;
  std::size_t total = 0;
  for (std::size_t rank = 0; rank < ranks; ++rank) {
    MemoryRecords records((dice() % 4 == 0 ? 0 : dice() % most) * one.layout.record_bytes);
    for (std::byte& byte : records) byte = static_cast<std::byte>(dice() % values);
    total += records.size() / one.layout.record_bytes;
    one.all.insert(one.all.end(), records.begin(), records.end());
    one.of_ranks.push_back(std::move(records));
  }
  for (std::size_t rank = 0; rank + 1 < ranks; ++rank) {
    one.shares.push_back(dice() % 3 == 0 ? 0 : dice() % (total + 1));
    total -= one.shares.back();
  }
  one.shares.push_back(total);
  return one;
}

/// What the ranks end with, one after the other; nothing if the sort failed.
MemoryRecords sorted_by_ranks(const MemoryCase& one, std::uint64_t seed, comm::ExchangeMode mode) {
  std::vector<MemoryRecords> results(one.of_ranks.size());
  machinery::InProcessOptions options;
  options.communicator.mode = mode;
  machinery::run_ranks(static_cast<int>(one.of_ranks.size()), seed, options, [&](comm::Communicator& ranks) {
    const auto me = static_cast<std::size_t>(ranks.rank());
    const GuardedMemory records(one.of_ranks[me]);
    GuardedMemory sorted(MemoryRecords(one.shares[me] * one.layout.record_bytes));
    Monitor monitor;
    RankResult result;
    sort_memory({one.layout, records.span(), sorted.writable(), std::uint64_t{64} << 20, 1 + me % 3}, ranks, monitor,
                result);
    results[me].assign(sorted.span().begin(), sorted.span().end());
  });
  MemoryRecords all;
  for (const MemoryRecords& result : results) all.insert(all.end(), result.begin(), result.end());
  return all;
}

}  // namespace

class SortMemory : public ::testing::TestWithParam<std::uint64_t> {};
INSTANTIATE_TEST_SUITE_P(Random, SortMemory, hetsort::test::cases(12, 4));

TEST_P(SortMemory, gives_each_rank_its_share_of_the_stable_order_and_reads_nothing_behind_the_records) {
  const std::uint64_t seed = hetsort::test::case_seed(GetParam());
  SCOPED_TRACE(::testing::Message() << "HETSORT_TEST_SEED=" << hetsort::test::test_seed());
  std::mt19937_64 dice(seed);
  for (const std::size_t ranks : {1, 2, 3, 4}) {
    const MemoryCase one = random_memory_case(dice, ranks, ranks == 1 ? 60'000 : 3000);
    const auto mode = dice() % 2 == 0 ? comm::ExchangeMode::kThread : comm::ExchangeMode::kInline;
    EXPECT_EQ(sorted_by_ranks(one, seed, mode), stable_order(one.layout, one.all))
        << ranks << " ranks, key " << key_text(one.layout);
  }
}

TEST_P(SortMemory, gives_the_places_of_the_stable_order_instead_of_the_records) {
  std::mt19937_64 dice(hetsort::test::case_seed(GetParam()));
  SCOPED_TRACE(::testing::Message() << "HETSORT_TEST_SEED=" << hetsort::test::test_seed());
  const MemoryCase one = random_memory_case(dice, 1, 60'000);
  const std::size_t record_bytes = one.layout.record_bytes;
  const GuardedMemory records(one.all);
  std::vector<std::uint64_t> places(one.all.size() / record_bytes);
  comm::Communicator alone;
  Monitor monitor;
  RankResult result;
  sort_memory({.layout = one.layout, .records = records.span(), .sorted = {}, .threads = 2, .places = places}, alone,
              monitor, result);
  MemoryRecords sorted;
  for (const std::uint64_t place : places) {
    ASSERT_LT(place, places.size());
    const std::byte* const record = one.all.data() + place * record_bytes;
    sorted.insert(sorted.end(), record, record + record_bytes);
  }
  EXPECT_EQ(sorted, stable_order(one.layout, one.all)) << key_text(one.layout);
  for (std::size_t i = 1; i < places.size(); ++i) {
    if (one.layout.compare(records.span().data() + places[i - 1] * record_bytes,
                           records.span().data() + places[i] * record_bytes) == 0) {
      ASSERT_LT(places[i - 1], places[i]);
    }
  }
}

TEST(SortMemoryErrors, places_for_another_number_of_records_are_refused) {
  comm::Communicator alone;
  const MemoryRecords records(100 * 5);
  std::vector<std::uint64_t> places(4);
  Monitor monitor;
  RankResult result;
  EXPECT_THROW(sort_memory({.layout = {}, .records = records, .sorted = {}, .places = places}, alone, monitor, result),
               RequestError);
}

TEST(SortMemoryErrors, shares_that_are_not_all_records_are_refused_on_all_ranks) {
  const std::vector<machinery::RankEnd> ends = machinery::try_ranks(3, 1, {}, [](comm::Communicator& ranks) {
    const MemoryRecords records(100 * 5);
    MemoryRecords sorted(100 * (ranks.rank() == 1 ? 6U : 5U));
    Monitor monitor;
    RankResult result;
    sort_memory({RecordLayout{}, records, sorted}, ranks, monitor, result);
  });
  for (const machinery::RankEnd& end : ends)
    EXPECT_NE(end.conclusion.find("the shares of all ranks have 16 records together, but there are 15 records"),
              std::string::npos)
        << end.conclusion;
}

TEST(SortMemoryErrors, memory_without_room_for_the_index_is_refused) {
  comm::Communicator alone;
  const MemoryRecords records(100 * 100'000);
  MemoryRecords sorted(records.size());
  Monitor monitor;
  RankResult result;
  EXPECT_THROW(sort_memory({RecordLayout{}, records, sorted, 1 << 20, 1}, alone, monitor, result), RequestError);
}

TEST(SortMemoryErrors, a_request_to_stop_ends_the_sort) {
  comm::Communicator alone;
  const MemoryRecords records(100 * 1000);
  MemoryRecords sorted(records.size());
  Monitor monitor;
  std::stop_source stop;
  monitor.stop_on(stop.get_token());
  stop.request_stop();
  RankResult result;
  EXPECT_THROW(sort_memory({RecordLayout{}, records, sorted}, alone, monitor, result), Cancelled);
}

}  // namespace hetsort::sort::test
