// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
//
// Whole sorts on many more ranks and threads than the machine has. The threads of a rank work one after the other.
// HETSORT_TEST_RANKS sets the number of ranks.
#include <sys/prctl.h>
#include <sys/resource.h>

#include <cstdint>
#include <set>
#include <string>
#include <string_view>

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

/// While it lives, this process may have as many files open as the system lets it: each rank has some.
class ManyFiles {
 public:
  ManyFiles() {
    ::getrlimit(RLIMIT_NOFILE, &before_);
    const rlimit most{before_.rlim_max, before_.rlim_max};
    ::setrlimit(RLIMIT_NOFILE, &most);
  }
  ManyFiles(const ManyFiles&) = delete;
  ManyFiles& operator=(const ManyFiles&) = delete;
  ~ManyFiles() { ::setrlimit(RLIMIT_NOFILE, &before_); }
  rlim_t most() const { return before_.rlim_max; }

 private:
  rlimit before_{};
};

/// Files that a rank has open: the socket of its bell, the input, the output, and queues that read and write.
constexpr rlim_t kFilesOfRank = 6;
constexpr std::size_t kThreads = 16;
constexpr std::size_t kRecordsOfThread = 20;
constexpr std::size_t kBlockRecords = 8;  // a stream has several times as many blocks as credits

SortOptions options_in(const Scratch& folder) {
  SortOptions options = sort_of_files({folder / "in"}, folder / "out", kTenByteKeys);
  options.spill.directories = {folder.path()};
  options.threads = kThreads;
  options.memory_bytes = std::uint64_t{2} << 30;
  options.output.sync = false;
  options.hooks.block_bytes = kBlockRecords * kTenByteKeys.record_bytes;
  return options;
}

/// The number of threads that have merged.
std::size_t threads_that_merged(const Monitor& monitor) {
  std::set<std::size_t> threads;
  for (const TraceEvent& event : monitor.events())
    if (event.name == std::string_view("merge and write")) threads.insert(event.thread);
  return threads.size();
}

/// Sorts on ranks of 16 threads, of which `merging_threads` merge. `all_merge`: whether threads merge even if their
/// streams are tiny.
void sort_on(int count, bool all_merge, std::size_t merging_threads) {
  SCOPED_TRACE(seed_note());
  const ManyFiles files;
  ASSERT_GE(files.most(), kFilesOfRank * static_cast<rlim_t>(count))
      << "open files (ulimit -Hn): set HETSORT_TEST_RANKS";
  const std::size_t records = static_cast<std::size_t>(count) * kThreads * kRecordsOfThread;
  // Each rank has records for a quarter of all ranks; few keys show how ties are broken.
  const Bytes input =
      make_records({all_merge ? Distribution::kFewKeys : Distribution::kUniform, kTenByteKeys, records, test_seed()});
  const SmallPages pages;
  const Scratch folder(io::test::memory_folder());
  write_bytes(folder / "in", input);
  machinery::InProcessOptions job;
  job.rendezvous = 0;  // MPI copies messages as short as these
  job.communicator.stall_timeout_seconds = 600;
  job.communicator.heartbeat_seconds = 20;
  if (!all_merge) job.longest_delay_microseconds = 0;  // a rank that waits for a late message looks for it often
  SortOptions options = options_in(folder);
  if (!all_merge) options.hooks.min_stream_bytes.reset();
  const auto body = [&](comm::Communicator& ranks) {
    const OneThread simulated;
    Monitor monitor(ranks.rank() == 0);
    RankResult result;
    sort_records(options, ranks, monitor, result);
    EXPECT_TRUE(result.in_memory);
    EXPECT_EQ(result.threads, kThreads);
    if (ranks.rank() == 0) {
      EXPECT_EQ(threads_that_merged(monitor), merging_threads);
    }
    EXPECT_EQ(result.all.records, records);
  };
  for (const machinery::RankEnd& end : machinery::try_ranks(count, test_seed(), job, body)) {
    EXPECT_EQ(end.message, "");
    EXPECT_EQ(end.conclusion, "");
  }
  EXPECT_TRUE(is_sorted_form(read_bytes(folder / "out"), input, kTenByteKeys));
}

int ranks_of_test(std::uint64_t usual) {
  return static_cast<int>(environment_number("HETSORT_TEST_RANKS", kSanitized ? 12 : usual));
}

TEST(ManyRanks, of_16_threads_sort_as_the_oracle_does) { sort_on(ranks_of_test(1000), false, 1); }

TEST(ManyRanks, whose_16_threads_all_merge_sort_as_the_oracle_does) { sort_on(ranks_of_test(100), true, kThreads); }

}  // namespace
}  // namespace hetsort::sort::test
