// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
#include "sort/runs/memory_run.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <cassert>
#include <utility>
#include <vector>

#include "sort/machine/parallel.h"
#include "sort/model/record_order.h"

namespace hetsort::sort {

void MemoryRun::copy(std::uint64_t position, std::uint64_t count, std::span<Element> scratch, std::byte* to) const {
  // 16 KiB of elements stay in the first-level cache until their records are copied.
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
  if (position < records()) index->sort_bucket(index->bucket_of(position), memory.base, scratch);
}

LineCursor::LineCursor(const MemoryRun& run, std::uint64_t position, std::span<Element> scratch)
    : run_(&run), scratch_(scratch), bucket_(run.index->buckets()) {
  if (position >= run.records()) return;
  const auto [task, first] = run.index->task_at(position);
  bucket_ = task.bucket;
  open_bucket();
  element_ = batch_first_ = task.first;
  std::uint64_t at = first;
  for (; at < position; pass_line()) at += line().size();
  assert(at == position);
}

void LineCursor::open_bucket() {
  while (bucket_ < run_->index->buckets() && run_->index->bucket_size(bucket_) == 0) ++bucket_;
  element_ = 0;
  batch_.clear();
  batch_first_ = 0;
  if (bucket_ < run_->index->buckets()) run_->index->sort_bucket(bucket_, run_->memory.base, scratch_);
}

std::span<const std::byte> LineCursor::line() {
  assert(bucket_ < run_->index->buckets());
  constexpr std::size_t kBatchElements = 1024;
  if (element_ == batch_first_ + batch_.size()) {
    batch_first_ = element_;
    batch_.resize(std::min(kBatchElements, run_->index->bucket_size(bucket_) - element_));
    run_->index->copy_part(bucket_, element_, batch_);
  }
  return LineKeys(*run_->memory.layout.lines).line_at(run_->memory.base + place_of(batch_[element_ - batch_first_]));
}

void LineCursor::pass_line() {
  passed_ = 0;
  if (++element_ < run_->index->bucket_size(bucket_)) return;
  ++bucket_;
  open_bucket();
}

void LineCursor::copy(std::uint64_t count, std::byte* to) {
  while (count > 0) {
    const std::span<const std::byte> rest = line().subspan(passed_);
    const std::size_t bytes = std::min<std::uint64_t>(count, rest.size());
    to = std::copy_n(rest.begin(), bytes, to);
    count -= bytes;
    passed_ += bytes;
    if (bytes == rest.size()) pass_line();
  }
}

RunCursor::RunCursor(const MemoryRun& run, std::uint64_t position, std::span<Element> scratch)
    : run_(&run), position_(position), scratch_(scratch) {
  if (run.memory.layout.is_lines()) lines_.emplace(run, position, scratch);
}

void RunCursor::copy(std::uint64_t count, std::byte* to) {
  if (lines_) return lines_->copy(count, to);
  run_->copy(position_, count, scratch_, to);
  position_ += count;
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
