// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
#include "sort/runs/memory_run.h"

#include "sort/runs/form_runs.h"
#include "tests/sort/support.h"

namespace hetsort::sort::test {
namespace {

TEST(MemoryRun, buckets_that_threads_sort_concurrently_are_in_order) {
  SCOPED_TRACE(seed_note());
  const RecordLayout layout{16, 0, 16};
  constexpr std::size_t kMany = 600'000;
  constexpr std::size_t kThreads = 4;
  const Bytes records = make_records({Distribution::kUniform, layout, kMany, test_seed()});
  const Scratch folder;
  write_bytes(folder / "in", records);
  Input input({folder / "in"}, {.record_bytes = layout.record_bytes}, io::Access::kBuffered);
  const Bench bench(layout, input, std::uint64_t{128} << 20, kThreads);
  ListedSegments whole({{0, records.size(), 0}});
  const FormedRuns runs = form_runs(input, bench.context(), {.directories = {folder.path()}}, whole);
  ASSERT_TRUE(runs.in_memory());
  ASSERT_GT(runs.kept[0].index->buckets(), 4 * kThreads);
  sort_buckets(runs.kept, bench.context());
  Bytes sorted(records.size());
  std::vector<Element> scratch(BucketIndex::kScratchElements);
  runs.kept[0].copy(0, kMany, scratch, sorted.data());
  EXPECT_TRUE(sorted == reference_sort(records, layout));
}

}  // namespace
}  // namespace hetsort::sort::test
