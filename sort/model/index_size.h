// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
//
// The memory that an index over records takes. runs/bucket_index.h describes the index.
#pragma once

#include <cstddef>

namespace hetsort::sort {

struct IndexSize {
  /// Elements in a chunk: one page, so that the tail's address shows when a chunk is full.
  static constexpr std::size_t kChunkElements = 256;
  /// Intended elements in a bucket: these and the staging of their records fit a 1 MiB second-level cache.
  static constexpr std::size_t kBucketElements = std::size_t{1} << 14;
  /// Elements that a thread's scratch holds; sampling makes larger buckets rare.
  static constexpr std::size_t kScratchElements = 4 * kBucketElements;
  static constexpr std::size_t kMaxBuckets = 4096;

  /// How many buckets to make for `records` records.
  static std::size_t bucket_count(std::size_t records);
  /// The bytes of a pool that suffice for `records` elements from `threads` threads, whatever their keys. With
  /// `indexes`, the bytes of up to that many pools that hold `records` elements together.
  static std::size_t pool_bytes(std::size_t records, std::size_t threads, std::size_t indexes = 1);
};

}  // namespace hetsort::sort
