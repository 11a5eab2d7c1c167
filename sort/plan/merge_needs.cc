// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
#include "sort/plan/merge_needs.h"

#include <algorithm>

#include "sort/exchange/outgoing_streams.h"
#include "sort/exchange/plan_exchange.h"

namespace hetsort::sort {

namespace {

// The smallest block that no disk reads or writes.
constexpr std::uint64_t kMinSentBytes = std::uint64_t{16} << 10;

/// The threads and runs of all ranks.
struct Totals {
  explicit Totals(const std::vector<MergeNeed>& needs) {
    for (const MergeNeed& need : needs) {
      threads += need.threads;
      runs += need.runs;
    }
  }
  std::uint64_t streams_out(const MergeNeed& rank) const { return rank.runs * (threads - rank.threads); }
  std::uint64_t streams_in(const MergeNeed& rank) const { return rank.threads * (runs - rank.runs); }
  /// The memory of such blocks for the streams that leave a rank and for those that arrive there.
  std::uint64_t exchange_bytes(const MergeNeed& rank, std::uint64_t block_bytes) const {
    return exchange_memory_bytes(streams_out(rank), streams_in(rank), block_bytes);
  }

  std::uint64_t threads = 0;
  std::uint64_t runs = 0;
};

}  // namespace

std::vector<MergeNeed> gather_needs(const MergeNeed& mine, comm::Communicator& ranks) {
  std::vector<MergeNeed> needs = ranks.all_gather(mine);
  for (MergeNeed& need : needs) need.spilling = std::min(need.spilling, Spilling::kAll);
  return needs;
}

std::uint64_t common_block_bytes(const std::vector<MergeNeed>& needs, const RecordLayout& layout,
                                 std::uint64_t range_bytes) {
  std::uint64_t block = kMaxBlockBytes;
  const Totals all(needs);
  for (const MergeNeed& need : needs) {
    const std::uint64_t own = need.threads * need.runs;
    const std::uint64_t streams = std::max<std::uint64_t>(1, all.streams_out(need) + all.streams_in(need) + own);
    const std::uint64_t staging = std::min(need.memory_bytes, need.threads * need.staging_bytes);
    const std::uint64_t with_pages = (need.memory_bytes - staging) / (kInitialCredits * streams);
    block =
        std::min({block, with_pages - std::min<std::uint64_t>(with_pages, 2 * kPageBytes), need.largest_block_bytes});
  }
  const bool spills =
      std::ranges::any_of(needs, [](const MergeNeed& need) { return need.spilling != Spilling::kNothing; });
  block = spills ? spill_block_bytes(block, layout) : block_near(std::max(block, kMinSentBytes), layout);
  return range_bytes < block ? block_near(range_bytes + kPageBytes, layout) : block;
}

std::uint64_t exchange_bytes_of(const std::vector<MergeNeed>& needs, std::size_t me, std::uint64_t block_bytes) {
  return Totals(needs).exchange_bytes(needs[me], block_bytes);
}

std::uint64_t slices_that_fit(std::vector<MergeNeed>& needs, std::uint64_t most) {
  for (std::uint64_t slices = most;; --slices) {
    for (MergeNeed& need : needs) need.runs = slices;
    const Totals all(needs);
    const bool fits = std::ranges::all_of(
        needs, [&](const MergeNeed& need) { return all.exchange_bytes(need, kMinBlockBytes) <= need.memory_bytes; });
    if (fits || slices <= 1) return slices;
  }
}

}  // namespace hetsort::sort
