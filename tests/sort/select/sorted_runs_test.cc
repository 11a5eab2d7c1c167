// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
#include "sort/select/sorted_runs.h"

#include <memory>

#include "sort/model/memory_plan.h"
#include "tests/sort/inputs.h"

namespace hetsort::sort::test {
namespace {

TEST(MemoryRunsView, marks_only_records_of_the_run_although_more_were_sampled) {
  const RecordLayout layout{16, 0, 10};
  constexpr std::size_t kSampled = 200'000;
  constexpr std::size_t kOwn = 150'000;
  std::vector<std::byte> records = with_slack(make_records({Distribution::kFewKeys, layout, kSampled, test_seed()}));
  std::vector<Element> sample;
  for (std::size_t at = 0; at < kSampled; at += 500)
    sample.push_back(key_prefix(layout, records.data() + at * 16) | (at * 16));
  std::vector<std::byte> pool(BucketIndex::pool_bytes(kSampled, 1) + kPageBytes);
  void* aligned = pool.data();
  std::size_t room = pool.size();
  std::align(kPageBytes, BucketIndex::pool_bytes(kSampled, 1), aligned, room);
  std::vector<MemoryRun> runs(1);
  runs[0] = {0, {records.data(), layout}, nullptr, kOwn * 16};
  runs[0].index = std::make_unique<BucketIndex>(
      layout, std::span(static_cast<std::byte*>(aligned), BucketIndex::pool_bytes(kSampled, 1)), 1, sample,
      BucketIndex::bucket_count(kSampled));
  runs[0].index->add(0, records.data(), 0, kOwn);
  runs[0].index->finalize(records.data(), 1);
  std::vector<Element> scratch(BucketIndex::kScratchElements);
  MemoryRunsView view(runs, scratch);
  const std::vector<RunMark> marks = view.sample(0, 0, kOwn, 64);
  EXPECT_GT(marks.size(), 3U);
  for (const RunMark& mark : marks) EXPECT_EQ(mark.key, view.key(0, mark.before)) << mark.before;
}

}  // namespace
}  // namespace hetsort::sort::test
