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
  return plan.memory.in_memory || plan.input_bytes == 0 || (plan.stream && plan.input_bytes < plan.memory.stream_bytes);
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
  plan.one_merge_pass = plan.memory.run_count <= merge_memory_bytes(plan.memory) / each;
}

/// What one rank's memory must hold for blocks of the exchange while it merges.
struct MergeNeed {
  std::uint64_t memory_bytes = 0;
  std::uint64_t threads = 1;
  std::uint64_t runs = 0;
  std::uint64_t staging_bytes = 0;  ///< a thread's
};

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

/// Bytes that rank `me` reserves for blocks of the exchange when all records are in memory.
std::uint64_t exchange_bytes_in_memory(const std::vector<MergeNeed>& needs, std::size_t me, std::uint64_t block) {
  return exchange_memory_bytes(streams_out(needs, me), streams_in(needs, me), block);
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
  if (ranks_.size() == 1) plan.spills = !plan.memory.in_memory;
  if (options_.hooks.block_bytes != 0)
    plan.memory.spill_block_bytes =
        plan.spills ? block_near(std::min(options_.hooks.block_bytes, plan.memory.spill_block_bytes), options_.layout)
                    : std::max(options_.hooks.block_bytes, std::uint64_t{options_.layout.record_bytes});
  plan.output_bytes =
      (output_is_shared ? shares.total_records() : shares.records[rank()]) * options_.layout.record_bytes;
  plan.records = shares.total_records();
  plan_disk(options_, plan);
  // Measured rates decide the size of an own output later, and a stream's size is known at its end.
  output_size_is_known_ = !size_is_unknown() && (!options_.shares.output_by_rates || output_is_shared);
}

/// The plan if all stays in memory. Ranks that claim are allowed as many slices as leave room for that.
SortPlan PreparedSort::plan_in_memory(std::uint64_t& exchange_bytes) {
  std::vector<MergeNeed> needs;
  for (const std::vector<std::uint64_t>& rank :
       ranks_.all_gather({options_.memory_bytes, options_.threads, segments->most()}))
    needs.push_back({.memory_bytes = rank[0] / kExchangeShare, .threads = rank[1], .runs = rank[2]});
  if (claims != nullptr) claims->allow_slices(slices_that_fit(needs, segments->most()));
  while (true) {
    const std::uint64_t block = spill_block_bytes(block_for(needs), options_.layout);
    exchange_bytes = exchange_bytes_in_memory(needs, rank(), block);
    SortPlan own = plan_memory_of(options_, {input, capacity_bytes, segments->most()}, exchange_bytes, false);
    own.memory.spill_block_bytes = block;
    std::vector<std::uint64_t> spilling{fits_memory(own) ? std::uint64_t{0} : 1};
    ranks_.all_reduce_sum(spilling);
    own.spills = spilling[0] != 0;
    if (!own.spills || claims == nullptr || segments->most() == 1) return own;
    claims->allow_slices(1);
    for (MergeNeed& need : needs) need.runs = 1;
  }
}

SortPlan PreparedSort::plan_memory_with_others() {
  std::uint64_t exchange_bytes = 0;
  SortPlan own = plan_in_memory(exchange_bytes);
  if (!own.spills) {
    if (claims == nullptr) return own;
    const std::uint64_t block = own.memory.spill_block_bytes;
    const std::uint64_t planned_bytes = capacity_bytes;
    own = plan_for_most(options_, {input, capacity_bytes, segments->most()}, exchange_bytes, input.total_bytes());
    capacity_bytes = std::exchange(own.input_bytes, planned_bytes);
    own.memory.spill_block_bytes = block;
    return own;
  }
  // Enough runs for a slow rank to leave some of its share to others before it has begun them.
  constexpr std::uint64_t kRunsToClaim = 8;
  if (claims != nullptr) claims->allow_slices(ClaimedSegments::kMaxSlices);
  const Taking taking{input, capacity_bytes, segments->most(), claims != nullptr ? kRunsToClaim : 1};
  own = plan_memory_of(options_, taking, 0, true);
  own.spills = true;
  std::vector<MergeNeed> needs;
  std::uint64_t largest = own.memory.largest_block_bytes;
  for (const std::vector<std::uint64_t>& rank :
       ranks_.all_gather({options_.memory_bytes, own.memory.threads, expected_runs(own, segments->most()),
                          own.memory.staging_bytes, own.memory.largest_block_bytes})) {
    needs.push_back({rank[0], rank[1], rank[2], rank[3]});
    largest = std::min(largest, rank[4]);
  }
  own.memory.spill_block_bytes = spill_block_bytes(std::min(block_for(needs), largest), options_.layout);
  return own;
}

}  // namespace hetsort::sort
