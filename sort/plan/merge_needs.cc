// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
#include "sort/plan/merge_needs.h"

#include <algorithm>

#include "sort/exchange/outgoing_streams.h"
#include "sort/exchange/plan_exchange.h"

namespace hetsort::sort {

namespace {

std::uint64_t streams_out(const std::vector<MergeNeed>& needs, std::size_t me) {
  std::uint64_t threads = 0;
  for (const MergeNeed& need : needs) threads += need.threads;
  return needs[me].runs * (threads - needs[me].threads);
}

std::uint64_t streams_in(const std::vector<MergeNeed>& needs, std::size_t me) {
  std::uint64_t runs = 0;
  for (const MergeNeed& need : needs) runs += need.runs;
  return needs[me].threads * (runs - needs[me].runs);
}

}  // namespace

std::vector<MergeNeed> gather_needs(const MergeNeed& mine, comm::Communicator& ranks) {
  std::vector<MergeNeed> needs = ranks.all_gather(mine);
  for (MergeNeed& need : needs) need.spilling = std::min(need.spilling, Spilling::kAll);
  return needs;
}

std::uint64_t common_block_bytes(const std::vector<MergeNeed>& needs, const RecordLayout& layout,
                                 std::uint64_t range_bytes) {
  std::uint64_t block = kMaxBlockBytes;
  for (std::size_t rank = 0; rank < needs.size(); ++rank) {
    const MergeNeed& need = needs[rank];
    const std::uint64_t own = need.threads * need.runs;
    const std::uint64_t streams = std::max<std::uint64_t>(1, streams_out(needs, rank) + streams_in(needs, rank) + own);
    const std::uint64_t staging = std::min(need.memory_bytes, need.threads * need.staging_bytes);
    const std::uint64_t with_pages = (need.memory_bytes - staging) / (kInitialCredits * streams);
    block =
        std::min({block, with_pages - std::min<std::uint64_t>(with_pages, 2 * kPageBytes), need.largest_block_bytes});
  }
  block = spill_block_bytes(block, layout);
  return range_bytes < block ? block_near(range_bytes + kPageBytes, layout) : block;
}

std::uint64_t exchange_bytes_of(const std::vector<MergeNeed>& needs, std::size_t me, std::uint64_t block_bytes) {
  return exchange_memory_bytes(streams_out(needs, me), streams_in(needs, me), block_bytes);
}

std::uint64_t slices_that_fit(std::vector<MergeNeed>& needs, std::uint64_t most) {
  for (std::uint64_t slices = most;; --slices) {
    for (MergeNeed& need : needs) need.runs = slices;
    bool fits = true;
    for (std::size_t rank = 0; rank < needs.size(); ++rank)
      fits = fits && exchange_bytes_of(needs, rank, kMinBlockBytes) <= needs[rank].memory_bytes;
    if (fits || slices <= 1) return slices;
  }
}

}  // namespace hetsort::sort
