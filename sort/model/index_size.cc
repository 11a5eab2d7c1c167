// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
#include "sort/model/index_size.h"

#include <algorithm>

#include "sort/model/record_order.h"

namespace hetsort::sort {

std::size_t IndexSize::bucket_count(std::size_t records) {
  return std::clamp<std::size_t>(records / kBucketElements, 1, kMaxBuckets);
}

std::size_t IndexSize::pool_bytes(std::size_t records, std::size_t threads, std::size_t indexes) {
  const std::size_t buckets = indexes == 1 ? bucket_count(records) : records / kBucketElements + indexes;
  const std::size_t chunks = records / kChunkElements + threads * (buckets + indexes) + indexes;
  return chunks * kChunkElements * sizeof(Element);
}

}  // namespace hetsort::sort
