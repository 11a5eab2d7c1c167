// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
//
// The index of a run in memory: one element a record, distributed to buckets by key while the records are in cache, and
// sorted bucket by bucket.
//
// In: records in any order, from several threads. Out: the order of the records.
// Idea: each thread fills chunks of its own, a chain of chunks for each bucket, all cut from one pool. Buckets are
// ranges of (key, place) between splitters from a sample, so equal keys spread over buckets like any others. With keys
// longer than the prefix, buckets are ranges of the prefix alone, so that keys with equal prefixes stay together. A
// bucket that outgrows a thread's scratch (many keys with one prefix, or an unlucky sample) is laid out contiguously
// and sorted by all threads in finalize(); the others are sorted when they are needed. Cost: one write and one read of
// 16 bytes a record; log2(buckets) comparisons a record to distribute, n log n to sort. Sanders and Winkel, Super
// Scalar Sample Sort, ESA 2004.
#pragma once

#include <atomic>
#include <cassert>
#include <cstddef>
#include <cstdint>
#include <span>
#include <stdexcept>
#include <utility>
#include <vector>

#include "sort/model/index_size.h"
#include "sort/model/record_order.h"
#include "sort/runs/splitter_tree.h"

namespace hetsort::sort {

/// Consecutive records in sorted order that one thread processes at a time: a bucket, or a part of an oversized one.
struct IndexTask {
  std::size_t bucket = 0;
  std::size_t first = 0;    ///< number of the first record within the bucket; 0 unless the bucket is oversized
  std::size_t records = 0;  ///< number of records or lines
  std::uint64_t bytes = 0;
};

class BucketIndex : public IndexSize {
 public:
  /// `pool`: page-aligned, at least pool_bytes(). `sample`: elements of the data, in any order.
  BucketIndex(const RecordLayout& layout, std::span<std::byte> pool, std::size_t threads, std::vector<Element> sample,
              std::size_t buckets);

  /// Whether the pool has room for `records` records in all, whatever their keys.
  bool has_room_for(std::size_t records) const;
  /// Thrown by add() for more lines than the pool has room for.
  struct Full : std::length_error {
    Full() : std::length_error("there are more lines than memory was planned for") {}
  };

  /// Adds `count` consecutive records, of which the first lies at `base` + `first`. If records are lines, `count` is
  /// the bytes of whole lines. Thread safety: concurrent calls need different `thread` numbers.
  void add(std::size_t thread, const std::byte* base, std::size_t first, std::size_t count);

  /// Sorts oversized buckets with `threads` threads and lists the tasks in key order. Call once, after the last add().
  /// Throws: what parallel work throws.
  void finalize(const std::byte* base, std::size_t threads);

  /// All tasks, in the order of the records; after finalize().
  std::span<const IndexTask> tasks() const { return tasks_; }

  // The index as one sorted sequence of records; after finalize(). If records are lines, these records are their bytes.

  /// The bytes of the longest line; 0 without lines.
  std::uint64_t longest_line() const { return longest_line_; }
  std::uint64_t records() const { return bucket_first_.back(); }
  std::size_t buckets() const { return bucket_first_.size() - 1; }
  /// The task that holds byte `position`, and the position of its first byte. Requires: position <
  /// records().
  std::pair<IndexTask, std::uint64_t> task_at(std::uint64_t position) const;
  /// The number of records, or lines, in the bucket.
  std::size_t bucket_size(std::size_t bucket) const;
  std::uint64_t records_before(std::size_t bucket) const { return bucket_first_[bucket]; }
  /// The bucket that holds record `position`. Requires: position < records().
  std::size_t bucket_of(std::uint64_t position) const;
  /// No element of `bucket` is below this splitter; all elements of earlier buckets are. Requires: 0 < bucket <
  /// buckets.
  Element splitter(std::size_t bucket) const {
    assert(0 < bucket && bucket < buckets());
    return tree_.splitter(bucket - 1);
  }
  /// Element `position` in sorted order; sorts its bucket in place if needed. Where keys are longer than the prefix,
  /// only the place is meaningful. Not for lines. Thread safety: one thread, and no concurrent sorted().
  Element element(std::uint64_t position, const std::byte* base, std::span<Element> scratch);
  /// Sorts a bucket in place if needed. Thread safety: as copy_sorted().
  void sort_bucket(std::size_t bucket, const std::byte* base, std::span<Element> scratch);
  /// Fills `to` with the sorted elements from `position` on; sorts their buckets in place if needed.
  /// Requires: position + to.size() <= records(); no lines. Thread safety: concurrent calls need different buckets and
  /// scratches.
  void copy_sorted(std::uint64_t position, std::span<Element> to, const std::byte* base, std::span<Element> scratch);

  /// Fills `to` with the elements of a sorted bucket from its `offset`-th on.
  void copy_part(std::size_t bucket, std::uint64_t offset, std::span<Element> to) const;

  /// The task's elements, sorted by (key, place): stable. They live in `scratch` (kScratchElements) or in the pool.
  /// Thread safety: concurrent calls need different tasks and scratches.
  std::span<const Element> sorted(const IndexTask& task, const std::byte* base, std::span<Element> scratch) const;

 private:
  struct Chain {
    Element* tail = nullptr;  // where the next element goes; at a chunk's border the next chunk is not taken yet
    std::uint32_t chunk = 0;  // the chunk being filled
  };
  struct Chunk {
    std::uint32_t number = 0;  // its place in the pool
    std::uint32_t elements = 0;
  };
  static constexpr std::uint32_t kNoChunk = ~std::uint32_t{0};

  template <typename Prefix>
  void add_with(const Prefix& prefix, std::size_t thread, const std::byte* base, std::size_t first, std::size_t count);
  void add_records(const FixedRecords& records, std::size_t thread, const std::byte* base, std::size_t first,
                   std::size_t count);
  void add_records(const LineKeys& keys, std::size_t thread, const std::byte* base, std::size_t first,
                   std::size_t bytes);
  void push(Chain& chain, Element element) {
    constexpr std::uintptr_t kChunkMask = kChunkElements * sizeof(Element) - 1;
    if ((reinterpret_cast<std::uintptr_t>(chain.tail) & kChunkMask) == 0) open_chunk(chain);
    *chain.tail++ = element;
  }
  void open_chunk(Chain& chain);
  Element* chunk_at(std::uint32_t number) const { return pool_ + std::size_t{number} * kChunkElements; }
  std::span<const Chunk> chunks_of(std::size_t bucket) const;
  std::uint64_t bucket_bytes(std::size_t bucket) const;
  void list_chunks();
  void lay_out_contiguously(std::span<const std::size_t> oversized);
  void list_tasks(std::size_t threads);
  void measure_tasks(const std::byte* base, std::size_t threads);
  std::span<Element> copy_out(std::size_t bucket, std::span<Element> scratch) const;

  RecordLayout layout_;
  Element* pool_;
  SplitterTree tree_;
  std::vector<Chain> chains_;                 // thread-major: [thread * buckets + bucket]
  std::vector<std::uint64_t> further_bytes_;  // bytes of the records of each chain, without record_bytes each
  std::atomic<std::uint64_t> longest_line_{0};
  std::vector<std::uint32_t> previous_;  // chunk -> the chunk before it in its chain
  std::atomic<std::uint32_t> next_chunk_{0};
  std::vector<Chunk> chunks_;              // bucket by bucket; after finalize()
  std::vector<std::size_t> first_chunk_;   // bucket -> its first entry in chunks_
  std::vector<std::span<Element>> whole_;  // bucket -> its sorted elements, if oversized
  std::vector<IndexTask> tasks_;
  std::vector<std::uint64_t> task_first_;    // bytes before each task
  std::vector<std::uint64_t> bucket_first_;  // records before each bucket; at the end, all records
  std::vector<char> sorted_in_place_;        // whether each bucket is sorted, over its chunks one after the other
};

}  // namespace hetsort::sort
