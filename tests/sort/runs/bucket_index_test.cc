// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
//
// The pools are exactly pool_bytes() large and end at an unmapped page: an index that takes one chunk more crashes.
#include "sort/runs/bucket_index.h"

#include <sys/mman.h>

#include <thread>

#include "sort/runs/form_runs.h"
#include "tests/sort/inputs.h"
#include "tests/sort/oracle.h"

namespace hetsort::sort::test {
namespace {

class GuardedPool {
 public:
  explicit GuardedPool(std::size_t bytes) : bytes_(bytes) {
    void* const mapped =
        ::mmap(nullptr, bytes_ + kGuardBytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (mapped == MAP_FAILED) std::abort();
    data_ = static_cast<std::byte*>(mapped);
    if (::mprotect(data_ + bytes_, kGuardBytes, PROT_NONE) != 0) std::abort();
  }
  GuardedPool(const GuardedPool&) = delete;
  GuardedPool& operator=(const GuardedPool&) = delete;
  ~GuardedPool() { ::munmap(data_, bytes_ + kGuardBytes); }
  std::span<std::byte> span() const { return {data_, bytes_}; }

 private:
  static constexpr std::size_t kGuardBytes = 4096;
  std::byte* data_ = nullptr;
  std::size_t bytes_;
};

struct IndexCase {
  InputRequest input;
  std::size_t threads = 1;
  std::size_t samples = ~std::size_t{0};  // at most
};

/// Places of all records in the order of the index.
std::vector<std::size_t> order_by_index(const IndexCase& index_case, const Bytes& records) {
  const RecordLayout& layout = index_case.input.layout;
  const std::size_t count = index_case.input.records;
  const GuardedPool pool(BucketIndex::pool_bytes(count, index_case.threads));
  const std::size_t buckets = BucketIndex::bucket_count(count);
  const Segment whole{nullptr, 0, count * layout.record_bytes, 0};
  std::vector<Element> sample = sample_records({records.data(), layout}, {&whole, 1}, buckets);
  sample.resize(std::min(sample.size(), index_case.samples));
  BucketIndex index(layout, pool.span(), index_case.threads, sample, buckets);
  std::vector<std::thread> threads;
  for (std::size_t thread = 0; thread < index_case.threads; ++thread)
    threads.emplace_back([&, thread] {
      // Threads add small pieces in turn, as they do while they read.
      constexpr std::size_t kPiece = 777;
      for (std::size_t first = thread * kPiece; first < count; first += index_case.threads * kPiece)
        index.add(thread, records.data(), first * layout.record_bytes, std::min(kPiece, count - first));
    });
  for (std::thread& thread : threads) thread.join();
  index.finalize(records.data(), index_case.threads);
  std::vector<Element> scratch(BucketIndex::kScratchElements);
  std::vector<std::size_t> order;
  for (const IndexTask& task : index.tasks()) {
    const std::span<const Element> elements = index.sorted(task, records.data(), scratch);
    EXPECT_EQ(elements.size(), task.records);
    EXPECT_LE(task.records, BucketIndex::kScratchElements);
    for (const Element element : elements) order.push_back(place_of(element) / layout.record_bytes);
  }
  return order;
}

void expect_stable_order(const IndexCase& index_case) {
  SCOPED_TRACE(std::string(name_of(index_case.input.distribution)) + ", " + std::to_string(index_case.input.records) +
               " records, " + std::to_string(index_case.threads) + " threads");
  const Bytes records = with_slack(make_records(index_case.input));
  const std::span<const std::byte> all =
      std::span(records).first(index_case.input.records * index_case.input.layout.record_bytes);
  EXPECT_TRUE(order_by_index(index_case, records) == reference_order(all, index_case.input.layout));
}

const RecordLayout kShortKeys{.record_bytes = 20, .key_offset = 5, .key_bytes = 10};
const RecordLayout kLongKeys{.record_bytes = 40, .key_offset = 2, .key_bytes = 37};
constexpr std::size_t kManyRecords = kSanitized ? 50'000 : 200'000;

TEST(BucketIndex, sorts_stably_for_all_keys_and_threads) {
  SCOPED_TRACE(seed_note());
  for (const Distribution distribution : kDistributions)
    for (const RecordLayout& layout : {kShortKeys, kLongKeys})
      expect_stable_order(
          {{distribution, layout, kManyRecords, test_seed()}, distribution == Distribution::kZipf ? 4U : 2U});
}

TEST(BucketIndex, sorts_stably_at_the_borders_of_chunks_and_buckets) {
  for (const std::size_t records :
       {0U, 1U, 2U, 7U, 8U, 9U, 255U, 256U, 257U, 511U, 512U, 513U, 16'383U, 16'384U, 32'768U, 32'769U})
    for (const std::size_t threads : {1U, 3U})
      expect_stable_order({{Distribution::kUniform, kShortKeys, records, test_seed()}, threads});
}

TEST(BucketIndex, copies_any_range_of_sorted_and_unsorted_buckets) {
  SCOPED_TRACE(seed_note());
  Dice dice(test_seed());
  // Samples with and without oversized buckets.
  for (const std::size_t samples : {2U, 1U << 20}) {
    const Bytes records = with_slack(make_records({Distribution::kFewKeys, kLongKeys, kManyRecords, test_seed()}));
    const std::span<const std::byte> all = std::span(records).first(kManyRecords * kLongKeys.record_bytes);
    const GuardedPool pool(BucketIndex::pool_bytes(kManyRecords, 1));
    const std::size_t buckets = BucketIndex::bucket_count(kManyRecords);
    const Segment whole{nullptr, 0, all.size(), 0};
    std::vector<Element> sample = sample_records({records.data(), kLongKeys}, {&whole, 1}, buckets);
    sample.resize(std::min(sample.size(), samples));
    BucketIndex index(kLongKeys, pool.span(), 1, sample, buckets);
    index.add(0, records.data(), 0, kManyRecords);
    index.finalize(records.data(), 1);
    const std::vector<std::size_t> order = reference_order(all, kLongKeys);
    std::vector<Element> scratch(BucketIndex::kScratchElements);
    for (int part = 0; part < 50; ++part) {
      const std::uint64_t first = dice.number() % kManyRecords;
      std::vector<Element> elements(std::min<std::uint64_t>(dice.number() % 60'000, kManyRecords - first));
      index.copy_sorted(first, elements, records.data(), scratch);
      std::vector<std::size_t> copied;
      for (const Element element : elements) copied.push_back(place_of(element) / kLongKeys.record_bytes);
      EXPECT_TRUE(std::ranges::equal(copied, std::span(order).subspan(first, elements.size())));
    }
  }
}

TEST(BucketIndex, spreads_a_single_short_key_over_buckets_by_place) {
  const Bytes records = with_slack(make_records({Distribution::kAllEqual, kShortKeys, kManyRecords, test_seed()}));
  const GuardedPool pool(BucketIndex::pool_bytes(kManyRecords, 1));
  const std::size_t buckets = BucketIndex::bucket_count(kManyRecords);
  const Segment whole{nullptr, 0, kManyRecords * kShortKeys.record_bytes, 0};
  BucketIndex index(kShortKeys, pool.span(), 1, sample_records({records.data(), kShortKeys}, {&whole, 1}, buckets),
                    buckets);
  index.add(0, records.data(), 0, kManyRecords);
  index.finalize(records.data(), 1);
  EXPECT_EQ(index.tasks().size(), buckets);
  for (const IndexTask& task : index.tasks()) EXPECT_LT(task.records, 2 * BucketIndex::kBucketElements);
}

TEST(BucketIndex, lays_out_several_oversized_buckets) {
  // A sample of the first few records only makes very uneven buckets, several of them oversized.
  for (const std::size_t samples : kSeeksRaces ? std::vector<std::size_t>{2} : std::vector<std::size_t>{0, 2, 40})
    for (const Distribution distribution : {Distribution::kUniform, Distribution::kFewKeys, Distribution::kSlices})
      for (const RecordLayout& layout : {kShortKeys, kLongKeys})
        expect_stable_order({{distribution, layout, kManyRecords, test_seed() + samples}, 3, samples});
}

TEST(BucketIndex, keeps_long_keys_of_one_prefix_together) {
  const RecordLayout layout{.record_bytes = 64, .key_offset = 0, .key_bytes = 64};
  for (const Distribution distribution :
       {Distribution::kSharedPrefix, Distribution::kDeepTies, Distribution::kAllEqual})
    expect_stable_order({{distribution, layout, kManyRecords, test_seed()}, 2});
}

TEST(BucketIndex, pool_holds_any_distribution_of_records_to_threads) {
  // Each thread leaves one chunk of each bucket partly filled: the worst case for the pool.
  for (const std::size_t threads : {1U, 2U, 8U})
    for (const std::size_t records : {1U, 300U, 40'000U, 100'000U})
      expect_stable_order({{Distribution::kUniform, kShortKeys, records, test_seed()}, threads});
}

}  // namespace
}  // namespace hetsort::sort::test
