// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
//
// Whole sorts on many more ranks and threads than the machine has. The threads of a rank work one after the other.
// HETSORT_TEST_RANKS sets the number of ranks: time and memory grow with its square.
#include <sys/prctl.h>

#include <cstdint>
#include <string>

#include "sort/machine/parallel.h"
#include "tests/sort/scenario.h"

namespace hetsort::sort::test {
namespace {

const RecordLayout kTenByteKeys{100, 0, 10};

/// While it lives, memory comes in small pages: each rank touches a little of much memory.
class SmallPages {
 public:
  SmallPages() { ::prctl(PR_SET_THP_DISABLE, 1, 0, 0, 0); }
  SmallPages(const SmallPages&) = delete;
  SmallPages& operator=(const SmallPages&) = delete;
  ~SmallPages() { ::prctl(PR_SET_THP_DISABLE, 0, 0, 0, 0); }
};

SortOptions options_in(const Scratch& folder, std::size_t threads) {
  SortOptions options = sort_of_files({folder / "in"}, folder / "out", kTenByteKeys);
  options.spill.directories = {folder.path()};
  options.threads = threads;
  options.memory_bytes = std::uint64_t{2} << 30;
  options.output.sync = false;
  options.hooks.block_bytes = 2 * kTenByteKeys.record_bytes;  // the blocks of all ranks are in one machine's memory
  return options;
}

TEST(ManyRanks, of_16_threads_sort_as_the_oracle_does) {
  SCOPED_TRACE(seed_note());
  constexpr std::size_t kThreads = 16;
  constexpr std::size_t kRecordsOfThread = 20;
  const auto count = static_cast<int>(environment_number("HETSORT_TEST_RANKS", kSanitized ? 12 : 100));
  const std::size_t records = static_cast<std::size_t>(count) * kThreads * kRecordsOfThread;
  const Bytes input = make_records({Distribution::kFewKeys, kTenByteKeys, records, test_seed()});
  const SmallPages pages;
  const Scratch folder(io::test::memory_folder());
  write_bytes(folder / "in", input);
  machinery::InProcessOptions job;
  job.rendezvous = 0;  // MPI copies messages as short as these
  job.communicator.stall_timeout_seconds = 600;
  const auto body = [&](comm::Communicator& ranks) {
    const OneThread simulated;
    Monitor monitor;
    RankResult result;
    sort_records(options_in(folder, kThreads), ranks, monitor, result);
    EXPECT_TRUE(result.in_memory);
    EXPECT_EQ(result.all.records, records);
  };
  for (const machinery::RankEnd& end : machinery::try_ranks(count, test_seed(), job, body)) {
    EXPECT_EQ(end.message, "");
    EXPECT_EQ(end.conclusion, "");
  }
  EXPECT_TRUE(is_sorted_form(read_bytes(folder / "out"), input, kTenByteKeys));
}

}  // namespace
}  // namespace hetsort::sort::test
