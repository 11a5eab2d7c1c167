// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
#include "sort/runs/memory_run.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <utility>
#include <vector>

#include "sort/parallel.h"

namespace hetsort::sort {

void MemoryRun::copy(std::uint64_t position, std::uint64_t count, std::span<Element> scratch, std::byte* to) const {
  // 16 KiB of elements: they are still in the first-level cache when their records are copied.
  std::array<Element, 1024> elements;
  while (count > 0) {
    const std::span<Element> batch = std::span(elements).first(std::min<std::uint64_t>(elements.size(), count));
    index->copy_sorted(position, batch, memory.base, scratch);
    copy_permuted(batch, memory, to);
    position += batch.size();
    count -= batch.size();
    to += batch.size() * memory.layout.record_bytes;
  }
}

void MemoryRun::sort_border(std::uint64_t position, std::span<Element> scratch) const {
  if (position < records()) static_cast<void>(index->element(position, memory.base, scratch));
}

void sort_buckets(std::span<const MemoryRun> runs, const RankContext& context) {
  std::vector<std::pair<const MemoryRun*, std::size_t>> buckets;
  for (const MemoryRun& run : runs)
    for (std::size_t bucket = 0; bucket < run.index->buckets(); ++bucket) buckets.emplace_back(&run, bucket);
  std::atomic<std::size_t> next{0};
  run_workers(context.plan.threads, [&](std::size_t worker, const StopFlag& stop) {
    const std::span<Element> scratch = context.beside_shared(worker).scratch;
    for (std::size_t at = next++; at < buckets.size() && !stop; at = next++) {
      const auto& [run, bucket] = buckets[at];
      run->index->sort_bucket(bucket, run->memory.base, scratch);
    }
  });
}

}  // namespace hetsort::sort
