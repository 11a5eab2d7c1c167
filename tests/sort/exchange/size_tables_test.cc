// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
//
// Ranks swap their tables of sizes.
#include "sort/exchange/size_tables.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <string>
#include <vector>

#include "sort/failure/report_failure.h"
#include "tests/machinery/in_process.h"
#include "tests/seeds.h"

namespace hetsort::sort::test {
namespace {

using hetsort::test::seed_note;
using hetsort::test::test_seed;

/// Some ranks have no runs, and some receive nothing.
std::size_t count_of(std::size_t from, std::size_t to) { return from % 4 * ((to + 1) % 3); }

std::vector<StreamSize> table_of(std::size_t from, std::size_t to) {
  std::vector<StreamSize> table(count_of(from, to));
  for (std::size_t at = 0; at < table.size(); ++at) table[at] = {100 * from + to, at};
  return table;
}

bool are_equal(const std::vector<StreamSize>& some, const std::vector<StreamSize>& others) {
  return std::ranges::equal(some, others, [](const StreamSize& one, const StreamSize& other) {
    return one.records == other.records && one.blocks == other.blocks;
  });
}

void swap_on(comm::Communicator& ranks) {
  const auto me = static_cast<std::size_t>(ranks.rank());
  SizeTables::Tables to;
  for (std::size_t rank = 0; rank < static_cast<std::size_t>(ranks.size()); ++rank) to.push_back(table_of(me, rank));
  SizeTables tables(ranks, ranks.take_tags(1));
  const WakeOnFailure waking(ranks, tables);
  try {
    const SizeTables::Tables from = tables.swap(std::move(to), count_of, progress_of(ranks));
    for (std::size_t rank = 0; rank < from.size(); ++rank)
      EXPECT_TRUE(rank == me ? from[rank].empty() : are_equal(from[rank], table_of(rank, me))) << rank << " to " << me;
  } catch (const std::exception& error) {
    report_failure(ranks, error);
    ranks.drain();
    throw;
  }
}

TEST(SizeTables, reach_every_rank_whatever_the_number_of_ranks) {
  SCOPED_TRACE(seed_note());
  for (const comm::ExchangeMode mode : {comm::ExchangeMode::kThread, comm::ExchangeMode::kInline})
    for (int count = 1; count <= 17; ++count) {
      machinery::InProcessOptions job;
      job.communicator.mode = mode;
      machinery::run_ranks(count, test_seed(), job, swap_on);
    }
}

TEST(SizeTables, that_arrive_damaged_fail_the_sort) {
  SCOPED_TRACE(seed_note());
  constexpr int kRanks = 6;
  for (std::uint64_t message = 1; message <= kRanks * 3; ++message) {
    machinery::InProcessOptions job;
    job.corrupt_message = message;
    for (const machinery::RankEnd& end : machinery::try_ranks(kRanks, test_seed(), job, swap_on))
      EXPECT_NE(end.conclusion.find("sizes of streams from rank"), std::string::npos) << end.conclusion;
  }
}

}  // namespace
}  // namespace hetsort::sort::test
