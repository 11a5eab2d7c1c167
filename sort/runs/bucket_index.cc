// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
#include "sort/runs/bucket_index.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cassert>
#include <utility>

#include "sort/machine/parallel.h"
#include "sort/model/record_order.h"
#include "sort/runs/sort_elements.h"

namespace hetsort::sort {

namespace {

/// Returns every (sample / buckets)-th element of the sorted sample. Without `by_place` splitters are prefixes only.
std::vector<Element> choose_splitters(std::vector<Element> sample, std::size_t buckets, bool by_place) {
  sort_elements(sample);
  std::vector<Element> splitters;
  for (std::size_t i = 1; i < buckets && !sample.empty(); ++i) {
    const Element candidate = sample[i * sample.size() / buckets];
    splitters.push_back(by_place ? candidate : prefix_of(candidate));
  }
  return splitters;
}

}  // namespace

BucketIndex::BucketIndex(const RecordLayout& layout, std::span<std::byte> pool, std::size_t threads,
                         std::vector<Element> sample, std::size_t buckets)
    : layout_(layout),
      pool_(reinterpret_cast<Element*>(pool.data())),
      tree_(choose_splitters(std::move(sample), buckets, prefix_is_whole_key(layout))),
      chains_(threads * tree_.buckets(), Chain{nullptr, kNoChunk}),
      further_bytes_(chains_.size()),
      previous_(pool.size() / (kChunkElements * sizeof(Element)), kNoChunk) {}

bool BucketIndex::has_room_for(std::size_t records) const {
  return records / kChunkElements + chains_.size() + 1 <= previous_.size();
}

void BucketIndex::open_chunk(Chain& chain) {
  const std::uint32_t number = next_chunk_.fetch_add(1, std::memory_order_relaxed);
  if (number >= previous_.size()) throw Full{};
  previous_[number] = chain.chunk;
  chain = {chunk_at(number), number};
}

void BucketIndex::add(std::size_t thread, const std::byte* base, std::size_t first, std::size_t count) {
  with_records(layout_, [&](const auto& records) { add_records(records, thread, base, first, count); });
}

void BucketIndex::add_records(const FixedRecords& records, std::size_t thread, const std::byte* base, std::size_t first,
                              std::size_t count) {
  with_key_prefix(records.layout, [&](const auto& prefix) { add_with(prefix, thread, base, first, count); });
}

template <typename Prefix>
void BucketIndex::add_with(const Prefix& prefix, std::size_t thread, const std::byte* base, std::size_t first,
                           std::size_t count) {
  constexpr std::size_t kBatch = SplitterTree::kBatch;
  Chain* chains = chains_.data() + thread * tree_.buckets();
  const std::size_t record_bytes = layout_.record_bytes;
  // A copy of `prefix`, which no store can change.
  const Prefix key_prefix_of = prefix;  // NOLINT(performance-unnecessary-copy-initialization): see above
  std::array<Element, kBatch> elements;
  std::array<std::uint32_t, kBatch> buckets{};
  std::size_t place = first;
  for (std::size_t done = 0; done < count; done += kBatch) {
    const std::size_t batch = std::min(kBatch, count - done);
    for (std::size_t i = 0; i < batch; ++i, place += record_bytes) elements[i] = key_prefix_of(base + place) | place;
    std::fill(elements.begin() + static_cast<std::ptrdiff_t>(batch), elements.end(), Element{0});
    tree_.classify(elements.data(), buckets.data());
    for (std::size_t i = 0; i < batch; ++i) push(chains[buckets[i]], elements[i]);
  }
}

void BucketIndex::add_records(const LineKeys& keys, std::size_t thread, const std::byte* base, std::size_t first,
                              std::size_t bytes) {
  constexpr std::size_t kBatch = SplitterTree::kBatch;
  Chain* const chains = chains_.data() + thread * tree_.buckets();
  std::uint64_t* const bytes_of = further_bytes_.data() + thread * tree_.buckets();
  std::array<Element, kBatch> elements;
  std::array<std::size_t, kBatch> sizes{};
  std::array<std::uint32_t, kBatch> buckets{};
  const std::size_t end = first + bytes;
  std::uint64_t longest = 0;
  while (first < end) {
    elements.fill(0);
    std::size_t batch = 0;
    for (; batch < kBatch && first < end; ++batch) {
      const std::span<const std::byte> line(base + first, keys.end_of_line(base + first, base + end));
      elements[batch] = keys.prefix(line) | first;
      sizes[batch] = line.size();
      first += line.size();
    }
    tree_.classify(elements.data(), buckets.data());
    for (std::size_t i = 0; i < batch; ++i) {
      push(chains[buckets[i]], elements[i]);
      bytes_of[buckets[i]] += sizes[i] - 1;
    }
    longest = std::max(longest, *std::max_element(sizes.begin(), sizes.end()));
  }
  for (std::uint64_t known = longest_line_; known < longest && !longest_line_.compare_exchange_weak(known, longest);) {
  }
}

void BucketIndex::list_chunks() {
  const std::size_t buckets = tree_.buckets();
  first_chunk_.assign(1, 0);
  for (std::size_t bucket = 0; bucket < buckets; ++bucket) {
    for (std::size_t at = bucket; at < chains_.size(); at += buckets) {
      const Chain& chain = chains_[at];
      if (chain.chunk == kNoChunk) continue;
      chunks_.push_back({chain.chunk, static_cast<std::uint32_t>(chain.tail - chunk_at(chain.chunk))});
      for (std::uint32_t full = previous_[chain.chunk]; full != kNoChunk; full = previous_[full])
        chunks_.push_back({full, static_cast<std::uint32_t>(kChunkElements)});
    }
    first_chunk_.push_back(chunks_.size());
  }
}

std::span<const BucketIndex::Chunk> BucketIndex::chunks_of(std::size_t bucket) const {
  return std::span(chunks_).subspan(first_chunk_[bucket], first_chunk_[bucket + 1] - first_chunk_[bucket]);
}

std::size_t BucketIndex::bucket_size(std::size_t bucket) const {
  std::size_t size = 0;
  for (const Chunk& chunk : chunks_of(bucket)) size += chunk.elements;
  return size;
}

std::uint64_t BucketIndex::bucket_bytes(std::size_t bucket) const {
  std::uint64_t bytes = bucket_size(bucket) * layout_.record_bytes;
  for (std::size_t at = bucket; at < further_bytes_.size(); at += tree_.buckets()) bytes += further_bytes_[at];
  return bytes;
}

void BucketIndex::lay_out_contiguously(std::span<const std::size_t> oversized) {
  std::vector<std::size_t> entry_at(next_chunk_.load());  // place in the pool -> entry of chunks_
  for (std::size_t entry = 0; entry < chunks_.size(); ++entry) entry_at[chunks_[entry].number] = entry;
  std::uint32_t next = 0;
  for (const std::size_t bucket : oversized) {
    Element* const begin = chunk_at(next);
    Element* end = begin;
    for (std::size_t entry = first_chunk_[bucket]; entry < first_chunk_[bucket + 1]; ++entry, ++next) {
      Chunk& chunk = chunks_[entry];
      if (chunk.number != next) {
        std::swap_ranges(chunk_at(next), chunk_at(next) + kChunkElements, chunk_at(chunk.number));
        const std::size_t displaced = entry_at[next];
        chunks_[displaced].number = chunk.number;
        entry_at[chunk.number] = displaced;
        chunk.number = next;
      }
      end = std::copy_n(chunk_at(next), chunk.elements, end);  // closes the gaps that half-full chunks leave
    }
    whole_[bucket] = {begin, end};
  }
}

void BucketIndex::list_tasks(std::size_t threads) {
  for (std::size_t bucket = 0; bucket < tree_.buckets(); ++bucket) {
    const std::size_t size = bucket_size(bucket);
    const std::size_t parts = whole_[bucket].empty() ? 1 : std::max(threads, size / kBucketElements);
    for (std::size_t part = 0; part < parts; ++part) {
      const std::size_t first = size * part / parts;
      const std::size_t records = size * (part + 1) / parts - first;
      if (records > 0) tasks_.push_back({bucket, first, records, records * layout_.record_bytes});
      if (records > 0 && records == size) tasks_.back().bytes = bucket_bytes(bucket);
    }
  }
}

/// Counts the lines of the parts of oversized buckets, and adds up the tasks.
void BucketIndex::measure_tasks(const std::byte* base, std::size_t threads) {
  std::vector<IndexTask*> parts;
  for (IndexTask& task : tasks_) {
    const std::size_t records = bucket_size(task.bucket);
    if (task.records != records && bucket_bytes(task.bucket) != records * layout_.record_bytes) parts.push_back(&task);
  }
  std::atomic<std::size_t> next{0};
  if (!parts.empty())
    run_workers(threads, [&](std::size_t, const StopFlag&) {
      const LineKeys keys(*layout_.lines);
      for (std::size_t at = next++; at < parts.size(); at = next++) {
        IndexTask& task = *parts[at];
        task.bytes = 0;
        for (const Element element : whole_[task.bucket].subspan(task.first, task.records))
          task.bytes += keys.line_at(base + place_of(element)).size();
      }
    });
  std::uint64_t first = 0;
  for (const IndexTask& task : tasks_) task_first_.push_back(std::exchange(first, first + task.bytes));
}

void BucketIndex::finalize(const std::byte* base, std::size_t threads) {
  list_chunks();
  whole_.resize(tree_.buckets());
  std::vector<std::size_t> oversized;
  for (std::size_t bucket = 0; bucket < tree_.buckets(); ++bucket)
    if (bucket_size(bucket) > kScratchElements) oversized.push_back(bucket);
  if (!oversized.empty()) lay_out_contiguously(oversized);
  for (const std::size_t bucket : oversized) {
    sort_elements(whole_[bucket], threads);
    resolve_equal_prefixes(whole_[bucket], base, layout_, threads);
  }
  list_tasks(threads);
  measure_tasks(base, threads);
  bucket_first_.assign(1, 0);
  for (std::size_t bucket = 0; bucket < tree_.buckets(); ++bucket)
    bucket_first_.push_back(bucket_first_.back() + bucket_bytes(bucket) / layout_.record_bytes);
  sorted_in_place_.assign(tree_.buckets(), 0);
}

std::pair<IndexTask, std::uint64_t> BucketIndex::task_at(std::uint64_t position) const {
  assert(position < records());
  const auto above = std::upper_bound(task_first_.begin(), task_first_.end(), position);
  const auto at = static_cast<std::size_t>(above - task_first_.begin()) - 1;
  return {tasks_[at], task_first_[at]};
}

std::size_t BucketIndex::bucket_of(std::uint64_t position) const {
  assert(position < records());
  const auto above = std::upper_bound(bucket_first_.begin(), bucket_first_.end(), position);
  return static_cast<std::size_t>(above - bucket_first_.begin()) - 1;
}

std::span<Element> BucketIndex::copy_out(std::size_t bucket, std::span<Element> scratch) const {
  Element* end = scratch.data();
  for (const Chunk& chunk : chunks_of(bucket)) end = std::copy_n(chunk_at(chunk.number), chunk.elements, end);
  return {scratch.data(), end};
}

void BucketIndex::sort_bucket(std::size_t bucket, const std::byte* base, std::span<Element> scratch) {
  if (!whole_[bucket].empty() || sorted_in_place_[bucket] != 0) return;
  const std::span<Element> elements = copy_out(bucket, scratch);
  sort_elements(elements, scratch.subspan(elements.size()));
  resolve_equal_prefixes(elements, base, layout_);
  const Element* from = elements.data();
  for (const Chunk& chunk : chunks_of(bucket)) {
    std::copy_n(from, chunk.elements, chunk_at(chunk.number));
    from += chunk.elements;
  }
  sorted_in_place_[bucket] = 1;
}

Element BucketIndex::element(std::uint64_t position, const std::byte* base, std::span<Element> scratch) {
  Element found = 0;
  copy_sorted(position, {&found, 1}, base, scratch);
  return found;
}

void BucketIndex::copy_part(std::size_t bucket, std::uint64_t offset, std::span<Element> to) const {
  if (!whole_[bucket].empty()) {
    std::copy_n(whole_[bucket].begin() + static_cast<std::ptrdiff_t>(offset), to.size(), to.begin());
    return;
  }
  for (const Chunk& chunk : chunks_of(bucket)) {
    if (to.empty()) return;
    if (offset >= chunk.elements) {
      offset -= chunk.elements;
      continue;
    }
    const std::size_t count = std::min<std::uint64_t>(chunk.elements - offset, to.size());
    std::copy_n(chunk_at(chunk.number) + offset, count, to.begin());
    to = to.subspan(count);
    offset = 0;
  }
}

void BucketIndex::copy_sorted(std::uint64_t position, std::span<Element> to, const std::byte* base,
                              std::span<Element> scratch) {
  assert(position + to.size() <= records());
  while (!to.empty()) {
    const std::size_t bucket = bucket_of(position);
    sort_bucket(bucket, base, scratch);
    const std::size_t count = std::min<std::uint64_t>(bucket_first_[bucket + 1] - position, to.size());
    copy_part(bucket, position - bucket_first_[bucket], to.first(count));
    to = to.subspan(count);
    position += count;
  }
}

std::span<const Element> BucketIndex::sorted(const IndexTask& task, const std::byte* base,
                                             std::span<Element> scratch) const {
  if (!whole_[task.bucket].empty()) return whole_[task.bucket].subspan(task.first, task.records);
  const std::span<Element> elements = copy_out(task.bucket, scratch);
  if (sorted_in_place_[task.bucket] != 0) return elements;
  sort_elements(elements, scratch.subspan(elements.size()));
  resolve_equal_prefixes(elements, base, layout_);
  return elements;
}

}  // namespace hetsort::sort
