// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
//
// Benchmark records (100 bytes, the first 10 are the key) for the suites of sort/, the same in every run.
#pragma once

#include <benchmark/benchmark.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <random>
#include <span>
#include <vector>

#include "io/calls/buffer.h"
#include "sort/model/memory_plan.h"
#include "sort/runs/form_runs.h"
#include "sort/runs/sort_elements.h"

namespace hetsort::sort::bench {

inline const RecordLayout kLayout{.record_bytes = 100, .key_offset = 0, .key_bytes = 10};
inline constexpr std::uint64_t kSeed = 1;

enum Keys : std::int64_t { kUniform, kSkewed, kFewKeys };
inline constexpr std::array<const char*, 3> kKeyNames{"uniform", "skewed", "few keys"};

/// Makes records in memory with readable slack behind them.
inline io::Buffer make_records(std::size_t records, std::int64_t keys) {
  io::Buffer buffer(records * kLayout.record_bytes + kPageBytes);
  std::mt19937_64 random(kSeed);
  for (std::size_t i = 0; i < records; ++i) {
    std::byte* const record = buffer.data() + i * kLayout.record_bytes;
    for (std::size_t at = 0; at + 8 <= kLayout.record_bytes; at += 8) {
      const std::uint64_t value = random();
      std::memcpy(record + at, &value, sizeof value);
    }
    if (keys == kUniform) continue;
    // Skewed: the k-th of a thousand keys about once in k. Few: eight keys.
    const std::uint64_t rank = keys == kFewKeys ? random() % 8 : 1000 / (1 + random() % 1000);
    const std::uint64_t key = __builtin_bswap64(rank << 50);
    std::memcpy(record, &key, sizeof key);
    std::memset(record + sizeof key, 0, kLayout.key_bytes - sizeof key);
  }
  return buffer;
}

inline std::vector<Element> elements_of(const std::byte* records, std::size_t count) {
  std::vector<Element> elements(count);
  for (std::size_t i = 0; i < count; ++i) {
    const std::size_t place = i * kLayout.record_bytes;
    elements[i] = key_prefix(kLayout, records + place) | place;
  }
  return elements;
}

/// An index over records in memory, as form_runs makes it with one thread.
class Indexed {
 public:
  explicit Indexed(const io::Buffer& records, std::size_t count)
      : records_(&records), count_(count), pool_(BucketIndex::pool_bytes(count, 1)) {
    const Segment whole{nullptr, 0, count * kLayout.record_bytes, 0};
    buckets_ = BucketIndex::bucket_count(count);
    sample_ = sample_records({records.data(), kLayout}, {&whole, 1}, buckets_);
  }

  BucketIndex make() const { return {kLayout, pool_.span(), 1, sample_, buckets_}; }
  /// Adds the records in pieces that fit the second-level cache.
  void add_all(BucketIndex& index) const {
    constexpr std::size_t kPieceRecords = 2560;
    for (std::size_t first = 0; first < count_; first += kPieceRecords)
      index.add(0, records_->data(), first * kLayout.record_bytes, std::min(kPieceRecords, count_ - first));
  }

 private:
  const io::Buffer* records_;
  std::size_t count_;
  io::Buffer pool_;
  std::vector<Element> sample_;
  std::size_t buckets_ = 1;
};

inline void set_rates(benchmark::State& state, std::size_t records) {
  state.SetBytesProcessed(static_cast<std::int64_t>(state.iterations() * records * kLayout.record_bytes));
  state.counters["per_record"] = benchmark::Counter(
      static_cast<double>(records), benchmark::Counter::kIsIterationInvariantRate | benchmark::Counter::kInvert);
}

/// Sizes of the local sort, each with all kinds of keys.
inline void all_sizes_and_keys(benchmark::internal::Benchmark* benchmark) {
  for (std::int64_t records = 10'000; records <= 10'000'000; records *= 10)
    for (const std::int64_t keys : {kUniform, kSkewed, kFewKeys}) benchmark->Args({records, keys});
  benchmark->ArgNames({"records", "keys"})->Unit(benchmark::kMillisecond);
}

}  // namespace hetsort::sort::bench
