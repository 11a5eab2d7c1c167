// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
//
// The part of phase plan_shares that is about memory: what each rank's holds, and blocks of the exchange that all can.
#include <algorithm>
#include <utility>

#include "io/checked.h"
#include "sort/exchange/outgoing_streams.h"
#include "sort/exchange/plan_exchange.h"
#include "sort/plan/plan_sort.h"
#include "sort/runs/run_reader.h"

namespace hetsort::sort {

namespace {

/// What a rank takes of its input.
struct Taking {
  const Input& input;
  std::uint64_t bytes = 0;
  std::uint64_t segments = 1;
  std::uint64_t runs_a_thread = 1;
};

/// Memory that what is taken needs where it is placed; what part of the input it is may not be known yet.
std::uint64_t placed_bytes(const Taking& taking) {
  std::uint64_t placed = 0;
  if (taking.bytes == taking.input.total_bytes()) {
    static_cast<void>(taking.input.place(0, taking.bytes, placed));
    return placed;
  }
  return round_up(taking.bytes, kPageBytes) + 2 * kPageBytes * taking.input.files().size();
}

SortPlan plan_memory_of(const SortOptions& options, const Taking& taking, std::uint64_t exchange_bytes,
                        bool must_spill) {
  const Input& input = taking.input;
  MemoryRequest request{.layout = options.layout, .memory_bytes = options.memory_bytes, .threads = options.threads};
  request.segments = taking.segments;
  request.runs_a_thread = taking.runs_a_thread;
  request.stream = input.is_stream();
  request.input_bytes = taking.bytes;
  request.exchange_bytes = exchange_bytes;
  request.must_spill = must_spill;
  if (!request.stream) request.placed_bytes = placed_bytes(taking);
  SortPlan plan;
  plan.memory = plan_memory(request);
  plan.stream = input.is_stream();
  plan.input_bytes = taking.bytes;
  // Nothing is read of a stream before it spills.
  if (must_spill) plan.memory.stream_bytes = 0;
  return plan;
}

/// The plan for the most bytes up to `most_bytes` that fit memory. Requires: those of `taking` do.
SortPlan plan_for_most(const SortOptions& options, const Taking& taking, std::uint64_t exchange_bytes,
                       std::uint64_t most_bytes) {
  const std::uint64_t record_bytes = options.layout.record_bytes;
  std::uint64_t low = taking.bytes / record_bytes;
  std::uint64_t high = most_bytes / record_bytes;
  const auto plan = [&](std::uint64_t records) {
    return plan_memory_of(options, {taking.input, records * record_bytes, taking.segments}, exchange_bytes, false);
  };
  while (low < high) {
    const std::uint64_t middle = low + (high - low + 1) / 2;
    if (plan(middle).memory.in_memory)
      low = middle;
    else
      high = middle - 1;
  }
  return plan(low);
}

/// Whether this rank's records are expected to fit in memory. The length of a stream is only estimated.
bool fits_memory(const SortPlan& plan) {
  return plan.memory.in_memory || (plan.stream && plan.input_bytes < plan.memory.stream_bytes);
}

/// Runs to expect of this rank.
std::uint64_t expected_runs(const SortPlan& plan, std::uint64_t segments) {
  if (!plan.stream) return plan.memory.run_count;
  const std::uint64_t run_bytes = std::max<std::uint64_t>(1, plan.memory.run_bytes);
  return segments + (plan.input_bytes + run_bytes - 1) / run_bytes;
}

void plan_disk(const SortOptions& options, SortPlan& plan) {
  if (plan.memory.in_memory || plan.stream) return;
  plan.temp_bytes = io::checked_multiply(plan.memory.spilled_blocks(plan.input_bytes, options.layout.record_bytes),
                                         plan.memory.spill_block_bytes, "the temporary files");
  const std::uint64_t each = RunReader::memory_needed(1, plan.memory.spill_block_bytes);
  plan.one_merge_pass = plan.memory.kept_bytes > 0 || plan.memory.run_count <= merge_memory_bytes(plan.memory) / each;
}

/// What one rank's memory must hold for blocks of the exchange while it merges.
struct MergeNeed {
  std::uint64_t memory_bytes = 0;
  std::uint64_t threads = 1;
  std::uint64_t runs = 0;
  std::uint64_t staging_bytes = 0;  ///< a thread's
};

/// In memory the exchange gets this part: a few blocks suffice, and the records need the rest.
constexpr std::uint64_t kExchangeShare = 16;

/// Streams that leave rank `me` and that arrive there, for all its threads.
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

/// The largest block for which all streams of every rank have two of it at both ends.
std::uint64_t block_for(const std::vector<MergeNeed>& needs) {
  std::uint64_t block = kMaxBlockBytes;
  for (std::size_t rank = 0; rank < needs.size(); ++rank) {
    const MergeNeed& need = needs[rank];
    const std::uint64_t own = need.threads * need.runs;
    const std::uint64_t streams = std::max<std::uint64_t>(1, streams_out(needs, rank) + streams_in(needs, rank) + own);
    const std::uint64_t staging = std::min(need.memory_bytes, need.threads * need.staging_bytes);
    const std::uint64_t with_pages = (need.memory_bytes - staging) / (kInitialCredits * streams);
    block = std::min(block, with_pages - std::min<std::uint64_t>(with_pages, 2 * kPageBytes));
  }
  return block;
}

/// Bytes that rank `me` reserves for blocks of the exchange when its runs are in memory.
std::uint64_t exchange_bytes_in_memory(const std::vector<MergeNeed>& needs, std::size_t me, std::uint64_t block) {
  return exchange_memory_bytes(streams_out(needs, me), streams_in(needs, me), block);
}

/// What a rank needs in either case, and what it does as far as is decided.
struct RankNeeds {
  MergeNeed in_memory;
  MergeNeed spilling;
  std::uint64_t largest_block_bytes = 0;  ///< that its staging has room for
  bool spills = false;
};

/// `spilling`: this rank's plan if it spills; `most`: its segments. Collective. Throws: PeerFailed.
std::vector<RankNeeds> gather_needs(const SortOptions& options, const SortPlan& spilling, std::uint64_t most,
                                    comm::Communicator& ranks) {
  std::vector<RankNeeds> all;
  for (const std::vector<std::uint64_t>& rank : ranks.all_gather(
           {options.memory_bytes, options.threads, most, spilling.memory.threads, expected_runs(spilling, most),
            spilling.memory.staging_bytes, spilling.memory.largest_block_bytes}))
    all.push_back({.in_memory = {.memory_bytes = rank[0] / kExchangeShare, .threads = rank[1], .runs = rank[2]},
                   .spilling = {rank[0], rank[3], rank[4], rank[5]},
                   .largest_block_bytes = rank[6]});
  return all;
}

std::vector<MergeNeed> needs_of(const std::vector<RankNeeds>& all) {
  std::vector<MergeNeed> needs;
  for (const RankNeeds& rank : all) needs.push_back(rank.spills ? rank.spilling : rank.in_memory);
  return needs;
}

/// The size of all ranks' blocks in the exchange, and of those on disk.
std::uint64_t common_block(const std::vector<RankNeeds>& all, const RecordLayout& layout) {
  std::uint64_t block = block_for(needs_of(all));
  for (const RankNeeds& rank : all)
    if (rank.spills) block = std::min(block, rank.largest_block_bytes);
  return spill_block_bytes(block, layout);
}

/// Enters in `all` whether each rank spills. Returns whether that is new for some rank. Collective. Throws: PeerFailed.
bool share_decisions(bool spills, comm::Communicator& ranks, std::vector<RankNeeds>& all) {
  bool changed = false;
  const std::vector<std::vector<std::uint64_t>> decisions = ranks.all_gather({spills ? std::uint64_t{1} : 0});
  for (std::size_t rank = 0; rank < all.size(); ++rank) {
    const bool decided = decisions[rank][0] != 0;
    changed |= decided != all[rank].spills;
    all[rank].spills = decided;
  }
  return changed;
}

/// The most slices, up to `most`, with which the smallest blocks of every rank's streams fit what is meant for them; 1
/// if none do. Sets the needs' runs to that.
std::uint64_t slices_that_fit(std::vector<MergeNeed>& needs, std::uint64_t most) {
  for (std::uint64_t slices = most;; --slices) {
    for (MergeNeed& need : needs) need.runs = slices;
    bool fits = true;
    for (std::size_t rank = 0; rank < needs.size(); ++rank)
      fits = fits && exchange_bytes_in_memory(needs, rank, kMinBlockBytes) <= needs[rank].memory_bytes;
    if (fits || slices <= 1) return slices;
  }
}

}  // namespace

void PreparedSort::plan_memory_for_all() {
  plan = ranks_.size() == 1 ? plan_memory_of(options_, {input, capacity_bytes, segments->most()}, 0, false)
                            : plan_memory_with_others();
  plan.claims = claims != nullptr;
  if (ranks_.size() == 1) plan.spills = plan.any_rank_spills = !plan.memory.in_memory;
  if (options_.hooks.block_bytes != 0)
    plan.memory.spill_block_bytes =
        plan.any_rank_spills
            ? block_near(std::min(options_.hooks.block_bytes, plan.memory.spill_block_bytes), options_.layout)
            : std::max(options_.hooks.block_bytes, std::uint64_t{options_.layout.record_bytes});
  plan.output_bytes =
      (output_is_shared ? shares.total_records() : shares.records[rank()]) * options_.layout.record_bytes;
  plan.records = shares.total_records();
  plan_disk(options_, plan);
  // Measured rates decide the size of an own output later, and a stream's size is known at its end.
  output_size_is_known_ = !size_is_unknown() && (!options_.shares.output_by_rates || output_is_shared);
}

SortPlan PreparedSort::plan_memory_with_others() {
  if (claims == nullptr) return agree_on_memory();
  std::vector<MergeNeed> needs;
  for (const std::vector<std::uint64_t>& rank : ranks_.all_gather({options_.memory_bytes, options_.threads}))
    needs.push_back({.memory_bytes = rank[0] / kExchangeShare, .threads = rank[1]});
  claims->allow_slices(slices_that_fit(needs, segments->most()));
  SortPlan own = agree_on_memory();
  if (own.any_rank_spills && segments->most() > 1) {
    // An index of each slice takes memory.
    claims->allow_slices(1);
    own = agree_on_memory();
  }
  if (own.any_rank_spills) {
    claims->allow_slices(ClaimedSegments::kMaxSlices);
    own = agree_on_memory();
  }
  if (own.spills) return own;
  const Taking taking{input, capacity_bytes, segments->most()};
  SortPlan most = plan_for_most(options_, taking, own.memory.exchange_bytes, input.total_bytes());
  most.memory.spill_block_bytes = own.memory.spill_block_bytes;
  most.any_rank_spills = own.any_rank_spills;
  capacity_bytes = std::exchange(most.input_bytes, capacity_bytes);
  return most;
}

/// Starts with all ranks in memory. A rank without room for its records and for the blocks of the exchange spills. The
/// number of its runs changes what the others need for blocks, so they plan again. A rank that spills once stays with
/// it, so this ends after at most as many rounds as there are ranks.
SortPlan PreparedSort::agree_on_memory() {
  // Enough runs for a slow rank to leave some of its share to others before it has begun them.
  constexpr std::uint64_t kRunsToClaim = 8;
  const std::uint64_t most = segments->most();
  SortPlan spilling =
      plan_memory_of(options_, {input, capacity_bytes, most, claims != nullptr ? kRunsToClaim : 1}, 0, true);
  std::vector<RankNeeds> all = gather_needs(options_, spilling, most, ranks_);
  while (true) {
    const std::vector<MergeNeed> needs = needs_of(all);
    const std::uint64_t block = common_block(all, options_.layout);
    SortPlan kept =
        plan_memory_of(options_, {input, capacity_bytes, most}, exchange_bytes_in_memory(needs, rank(), block), false);
    const bool spills = all[rank()].spills || !fits_memory(kept);
    if (!share_decisions(spills, ranks_, all)) {
      SortPlan& own = spills ? spilling : kept;
      own.memory.spill_block_bytes = block;
      own.spills = spills;
      own.any_rank_spills = std::ranges::any_of(all, &RankNeeds::spills);
      return own;
    }
  }
}

}  // namespace hetsort::sort
