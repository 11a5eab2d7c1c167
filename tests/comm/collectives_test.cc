// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <atomic>
#include <numeric>

#include "tests/comm/harness.h"

namespace hetsort::comm::test {

namespace {

Bytes bytes_of(const std::string& text) {
  const auto* begin = reinterpret_cast<const std::byte*>(text.data());
  return {begin, begin + text.size()};
}

std::string text_of(const Bytes& bytes) { return {reinterpret_cast<const char*>(bytes.data()), bytes.size()}; }

using CommCollectives = CommSuite;
INSTANTIATE_TEST_SUITE_P(All, CommCollectives, ::testing::ValuesIn(settings()), setting_name);

TEST_P(CommCollectives, ranks_know_their_places_and_hosts) {
  on_ranks(GetParam(), [&](Communicator& ranks) {
    EXPECT_EQ(ranks.size(), GetParam().ranks);
    EXPECT_EQ(ranks.mode(), GetParam().mode);
    std::uint64_t rank_sum = static_cast<std::uint64_t>(ranks.rank());
    ranks.all_reduce_sum({&rank_sum, 1});
    EXPECT_EQ(rank_sum, static_cast<std::uint64_t>(ranks.size() * (ranks.size() - 1) / 2));
    for (int rank = 0; rank < ranks.size(); ++rank) EXPECT_NE(ranks.host(rank), "");
    EXPECT_EQ(ranks.host(), ranks.host(ranks.rank()));
    int same = 0;
    for (int rank = 0; rank < ranks.size(); ++rank) same += ranks.host(rank) == ranks.host() ? 1 : 0;
    EXPECT_EQ(ranks.ranks_on_host(), same);
  });
}

TEST_P(CommCollectives, sums_are_the_same_on_all_ranks) {
  on_ranks(GetParam(), [](Communicator& ranks) {
    const auto size = static_cast<std::uint64_t>(ranks.size());
    for (const std::size_t count : {0U, 1U, 5U, 1000U}) {
      std::vector<std::uint64_t> values(count);
      std::iota(values.begin(), values.end(), static_cast<std::uint64_t>(ranks.rank()));
      ranks.all_reduce_sum(values);
      for (std::size_t i = 0; i < count; ++i) ASSERT_EQ(values[i], size * (size - 1) / 2 + size * i);
    }
    // Sums of fingerprints wrap.
    std::uint64_t wrapped = ~std::uint64_t{0};
    ranks.all_reduce_sum({&wrapped, 1});
    EXPECT_EQ(wrapped, ~std::uint64_t{0} * size);
  });
}

TEST_P(CommCollectives, a_barrier_waits_for_all_ranks) {
  std::atomic<int> entered{0};
  on_ranks(GetParam(), [&](Communicator& ranks) {
    // Under mpirun each process counts only its own rank.
    if (ranks.rank() == ranks.size() - 1) std::this_thread::sleep_for(std::chrono::milliseconds(5));
    ++entered;
    ranks.barrier();
    EXPECT_GE(entered, has_all_ranks() ? ranks.size() : 1);
    ranks.barrier();
    --entered;
  });
}

TEST_P(CommCollectives, numbers_of_all_ranks_are_gathered_everywhere) {
  on_ranks(GetParam(), [](Communicator& ranks) {
    // Rank r has r numbers.
    const auto numbers = [](int rank) {
      return std::vector<std::uint64_t>(static_cast<std::size_t>(rank), static_cast<std::uint64_t>(100 + rank));
    };
    const auto all = ranks.all_gather_lists(numbers(ranks.rank()));
    ASSERT_EQ(all.size(), static_cast<std::size_t>(ranks.size()));
    for (int rank = 0; rank < ranks.size(); ++rank) EXPECT_EQ(all[static_cast<std::size_t>(rank)], numbers(rank));
  });
}

TEST_P(CommCollectives, structs_of_all_ranks_are_gathered_everywhere) {
  struct Measured {
    std::uint64_t records;
    double seconds;
  };
  on_ranks(GetParam(), [](Communicator& ranks) {
    const auto mine = static_cast<std::uint64_t>(ranks.rank());
    const std::vector<Measured> all = ranks.all_gather(Measured{10 * mine, 0.5 * static_cast<double>(mine)});
    ASSERT_EQ(all.size(), static_cast<std::size_t>(ranks.size()));
    for (std::size_t rank = 0; rank < all.size(); ++rank) {
      EXPECT_EQ(all[rank].records, 10 * rank);
      EXPECT_EQ(all[rank].seconds, 0.5 * static_cast<double>(rank));
    }
    EXPECT_EQ(ranks.all_reduce_sum(mine + 1), all.size() * (all.size() + 1) / 2);
  });
}

TEST_P(CommCollectives, the_maximum_is_the_same_on_all_ranks) {
  on_ranks(GetParam(), [](Communicator& ranks) {
    const auto mine = static_cast<std::uint64_t>(ranks.rank());
    EXPECT_EQ(ranks.all_reduce_max(mine), static_cast<std::uint64_t>(ranks.size() - 1));
    EXPECT_EQ(ranks.all_reduce_max(100 - mine), 100);
  });
}

TEST_P(CommCollectives, sums_of_different_lengths_are_an_error) {
  if (GetParam().ranks == 1) return;
  on_ranks(
      GetParam(),
      [](Communicator& ranks) {
        std::vector<std::uint64_t> values(ranks.rank() == 0 ? 2 : 3);
        ranks.all_reduce_sum(values);
      },
      [](const machinery::RankEnd& end) {
        EXPECT_NE(end.conclusion.find("a message between ranks is too"), std::string::npos);
      });
}

TEST_P(CommCollectives, combine_sees_neighbours_in_rank_order) {
  on_ranks(GetParam(), [](Communicator& ranks) {
    const std::string mine = "(" + std::to_string(ranks.rank()) + ")";
    const auto combine = [](Bytes low, const Bytes& high) {
      low.insert(low.end(), high.begin(), high.end());
      return low;
    };
    const Bytes all = ranks.all_reduce(bytes_of(mine), combine);
    std::string expected;
    for (int rank = 0; rank < ranks.size(); ++rank) expected += "(" + std::to_string(rank) + ")";
    EXPECT_EQ(text_of(all), expected);
    EXPECT_EQ(text_of(ranks.reduce(bytes_of(mine), combine)), ranks.rank() == 0 ? expected : "");
  });
}

TEST_P(CommCollectives, parts_of_any_size_are_gathered_and_broadcast) {
  on_ranks(GetParam(), [](Communicator& ranks) {
    // Some sizes are at the border where a second part becomes necessary.
    constexpr std::array<std::size_t, 9> kSizes{0, 1, 1999, 2006, 2007, 2014, 2015, 2016, 300000};
    const auto size_at = [&](int rank, std::size_t turn) {
      return kSizes.at((static_cast<std::size_t>(rank) + turn) % kSizes.size());
    };
    for (std::size_t turn = 0; turn < kSizes.size(); ++turn) {
      const std::vector<Bytes> parts =
          ranks.gather(pattern(size_at(ranks.rank(), turn), static_cast<std::uint64_t>(ranks.rank())));
      ASSERT_EQ(parts.size(), ranks.rank() == 0 ? static_cast<std::size_t>(ranks.size()) : 0);
      for (int rank = 0; rank < static_cast<int>(parts.size()); ++rank)
        ASSERT_TRUE(parts[static_cast<std::size_t>(rank)] ==
                    pattern(size_at(rank, turn), static_cast<std::uint64_t>(rank)));
      const Bytes received = ranks.broadcast(ranks.rank() == 0 ? pattern(kSizes.at(turn), turn) : bytes_of("not me"));
      ASSERT_TRUE(received == pattern(kSizes.at(turn), turn));
    }
    EXPECT_EQ(ranks.collectives(), 2 * kSizes.size());
  });
}

TEST_P(CommCollectives, ranks_may_run_ahead_of_each_other) {
  on_ranks(GetParam(), [](Communicator& ranks) {
    // Only the last rank is slow. Messages to it, or to rank 0, must wait without harm.
    for (std::uint64_t i = 0; i < 50; ++i) {
      if (ranks.rank() == ranks.size() - 1 && i == 10) std::this_thread::sleep_for(std::chrono::milliseconds(30));
      const Bytes received = ranks.broadcast(pattern(10 + i, i));
      ASSERT_TRUE(received == pattern(10 + i, i));
      const auto parts = ranks.gather(pattern(i, i));
      for (const Bytes& part : parts) ASSERT_TRUE(part == pattern(i, i));
    }
  });
}

TEST_P(CommCollectives, the_job_started_at_one_moment) {
  on_ranks(GetParam(), [](Communicator& ranks) {
    EXPECT_LE(ranks.job_start(), Communicator::Clock::now());
    // These ranks have one clock.
    const std::int64_t mine = ranks.job_start().time_since_epoch().count();
    Bytes bytes(sizeof(mine));
    std::memcpy(bytes.data(), &mine, sizeof(mine));
    for (const Bytes& part : ranks.gather(bytes)) {
      std::int64_t other = 0;
      std::memcpy(&other, part.data(), sizeof(other));
      EXPECT_LT(std::abs(other - mine), 50'000'000) << "nanoseconds";
    }
  });
}

TEST(CommAlone, one_rank_needs_no_transport) {
  Communicator alone;
  EXPECT_EQ(alone.rank(), 0);
  EXPECT_EQ(alone.size(), 1);
  EXPECT_EQ(alone.ranks_on_host(), 1);
  EXPECT_NE(alone.host(), "");
  std::array<std::uint64_t, 2> values{3, 4};
  alone.all_reduce_sum(values);
  EXPECT_EQ(values, (std::array<std::uint64_t, 2>{3, 4}));
  EXPECT_EQ(text_of(alone.all_reduce(bytes_of("x"), {})), "x");
  EXPECT_EQ(alone.gather(bytes_of("abc")), std::vector<Bytes>{bytes_of("abc")});
  EXPECT_EQ(text_of(alone.broadcast(bytes_of("abc"))), "abc");
  const int tag = alone.take_tags(10);
  EXPECT_EQ(alone.take_tags(1), tag + 10);
  EXPECT_FALSE(alone.progress());
  EXPECT_EQ(alone.bytes_sent() + alone.bytes_received(), 0);
  EXPECT_EQ(alone.cpu_seconds(), 0);
  alone.drain();
  EXPECT_EQ(alone.conclude(), "");
}

TEST(CommAlone, its_failure_is_reported_without_rank_and_host) {
  Communicator alone;
  int woken = 0;
  alone.on_failure([&] { ++woken; });
  alone.check();
  alone.fail("write out: No space left on device");
  alone.fail("and more");
  EXPECT_EQ(woken, 1);
  EXPECT_THROW(alone.check(), PeerFailed);
  std::uint64_t value = 1;
  EXPECT_THROW(alone.all_reduce_sum({&value, 1}), PeerFailed);
  EXPECT_EQ(alone.conclude(), "write out: No space left on device");
  EXPECT_EQ(alone.conclude(), "write out: No space left on device");
}

}  // namespace

}  // namespace hetsort::comm::test
