// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
//
// The part of phase plan_shares that is about memory: what each rank's memory holds, and blocks of the exchange for
// which all have room.
#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <utility>

#include "io/checked.h"
#include "io/field.h"
#include "io/file_system.h"
#include "sort/exchange/plan_exchange.h"
#include "sort/failure/request_error.h"
#include "sort/plan/merge_needs.h"
#include "sort/plan/plan_sort.h"

namespace hetsort::sort {

namespace {

/// What a rank takes of the input.
struct Taking {
  const Input& input;
  std::uint64_t bytes = 0;
  std::uint64_t segments = 1;
  std::uint64_t runs_a_thread = 1;
  // Sums over the other ranks.
  std::uint64_t other_threads = 0;
  std::uint64_t other_runs = 0;
};

/// The memory that the records of `taking` need where they are placed; what part of the input they are may not be known
/// yet.
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
  request.mean_record_bytes = input.is_stream() ? options.layout.guessed_bytes() : input.mean_record_bytes();
  request.segments = taking.segments;
  request.runs_a_thread = taking.runs_a_thread;
  request.other_threads = taking.other_threads;
  request.other_runs = taking.other_runs;
  request.stream = input.is_stream();
  request.input_bytes = taking.bytes;
  request.exchange_bytes = exchange_bytes;
  request.must_spill = must_spill;
  if (!request.stream) request.placed_bytes = placed_bytes(taking);
  SortPlan plan;
  request.max_merged_runs = options.spill.max_merged_runs;
  plan.memory = plan_memory(request);
  plan.stream = input.is_stream();
  plan.input_bytes = taking.bytes;
  // A stream spills from its first byte on.
  if (must_spill) plan.memory.stream_bytes = 0;
  return plan;
}

/// The plan for the largest part of the input, up to `most_bytes`, that fits memory. Requires: the bytes of `taking`
/// fit.
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

/// Whether this rank's records fit in memory. A stream must be smaller than what memory holds, so that it ends first.
bool fits_memory(const SortPlan& plan) {
  return plan.memory.in_memory || (plan.stream && plan.input_bytes < plan.memory.stream_bytes);
}

/// The number of runs to expect of this rank.
std::uint64_t expected_runs(const SortPlan& plan, std::uint64_t segments) {
  if (!plan.stream) return plan.memory.run_count;
  const std::uint64_t run_bytes = std::max<std::uint64_t>(1, plan.memory.run_bytes);
  return segments + (plan.input_bytes + run_bytes - 1) / run_bytes;
}

void plan_disk(const SortOptions& options, SortPlan& plan) {
  if (plan.memory.in_memory || plan.stream) return;
  plan.temp_bytes = io::checked_multiply(plan.memory.spilled_blocks(plan.input_bytes, options.layout.record_bytes),
                                         plan.memory.spill_block_bytes, "the temporary files");
  const std::uint64_t block_bytes = plan.memory.spill_block_bytes;
  const MemoryPlan merging = plan_merge(plan.memory, plan.memory.run_count, block_bytes);
  plan.one_merge_pass = plan.memory.kept_bytes > 0 || plan.memory.run_count <= max_runs(merging, block_bytes);
}

/// Decides how much of this rank's input spills, from what all ranks need.
class MemoryDecision {
 public:
  /// `range_bytes`: as common_block_bytes().
  MemoryDecision(const SortOptions& options, const Taking& taking, std::size_t me, std::uint64_t range_bytes)
      : options_(options), taking_(taking), me_(me), range_bytes_(range_bytes) {
    if (!options.checkpoint.folders.empty()) spill_all();
  }

  const SortPlan& plan() const { return plan_; }
  /// The memory that this rank needs by its plan.
  MergeNeed need() const {
    const std::uint64_t memory = options_.memory_bytes;
    if (spilling_ == Spilling::kNothing)
      return {.memory_bytes = memory / kExchangeShare, .threads = options_.threads, .runs = taking_.segments};
    MergeNeed need{.threads = plan_.memory.threads, .largest_block_bytes = plan_.memory.largest_block_bytes};
    need.spilling = spilling_;
    if (spilling_ == Spilling::kPart) {
      need.memory_bytes = plan_.memory.slot_bytes();
      need.runs = plan_.memory.slot_runs + 1;
      return need;
    }
    need.memory_bytes = memory;
    need.runs = expected_runs(plan_, taking_.segments);
    need.staging_bytes = plan_.memory.staging_bytes;
    return need;
  }

  /// Plans again for what the ranks need now. `all`: the last need() of each rank.
  void decide(const std::vector<MergeNeed>& all) {
    if (spilling_ == Spilling::kNothing) keep_all(all);
    if (spilling_ == Spilling::kPart && !blocks_fit(all)) keep_part(all);
  }

 private:
  void keep_all(const std::vector<MergeNeed>& all) {
    exchange_bytes_ = exchange_bytes_of(all, me_, common_block_bytes(all, options_.layout, range_bytes_));
    Taking whole = taking_;
    whole.runs_a_thread = 1;
    plan_ = plan_memory_of(options_, whole, exchange_bytes_, false);
    if (fits_memory(plan_)) return;
    spilling_ = Spilling::kPart;
    plan_ = {};
  }

  /// Whether the smallest blocks of all streams fit in the slot of the plan.
  bool blocks_fit(const std::vector<MergeNeed>& all) const {
    if (plan_.memory.kept_bytes == 0) return false;
    std::vector<MergeNeed> needs = all;
    needs[me_] = need();
    const std::uint64_t own = plan_.memory.threads * plan_.memory.slot_runs;
    const std::uint64_t block = spill_block_bytes(kMinBlockBytes, options_.layout);
    return exchange_bytes_of(needs, me_, block) + exchange_memory_bytes(0, own, block) <= plan_.memory.slot_bytes();
  }

  /// Keeps as much in memory as leaves room for the streams of all ranks. If that is nothing, or if the runs that spill
  /// are not larger than in the plan before, everything spills.
  void keep_part(const std::vector<MergeNeed>& all) {
    const std::uint64_t run_bytes_before = plan_.memory.kept_bytes > 0 ? plan_.memory.run_bytes : 0;
    Taking part = taking_;
    for (std::size_t rank = 0; rank < all.size(); ++rank) {
      if (rank == me_) continue;
      part.other_threads += all[rank].threads;
      part.other_runs += all[rank].runs;
    }
    plan_ = plan_memory_of(options_, part, exchange_bytes_, false);
    if (plan_.memory.kept_bytes > 0 && plan_.memory.run_bytes > run_bytes_before) {
      plan_.memory.stream_bytes = 0;
      return;
    }
    spill_all();
  }

  void spill_all() {
    spilling_ = Spilling::kAll;
    plan_ = plan_memory_of(options_, taking_, 0, true);
  }

  const SortOptions& options_;
  Taking taking_;
  std::size_t me_;
  std::uint64_t range_bytes_;
  SortPlan plan_;
  Spilling spilling_ = Spilling::kNothing;
  std::uint64_t exchange_bytes_ = 0;  // memory for the exchange if nothing spills
};

}  // namespace

void PlannedSort::plan_memory_for_all() {
  if (input.is_memory()) {
    plan.memory = plan_index();
    return;
  }
  const bool must_spill = !options.checkpoint.folders.empty();
  plan = ranks.size() == 1 ? plan_memory_of(options, {input, capacity_bytes, segments->most()}, 0, must_spill)
                           : plan_memory_with_others();
  plan.claims = claims != nullptr;
  if (must_spill) take_blocks_of_checkpoint();
  fit_exchange_memory();
  if (ranks.size() == 1) plan.spills = plan.any_rank_spills = !plan.memory.in_memory;
  if (options.hooks.block_bytes != 0)
    plan.memory.spill_block_bytes =
        plan.any_rank_spills
            ? block_near(std::min(options.hooks.block_bytes, plan.memory.spill_block_bytes), options.layout)
            : std::max(options.hooks.block_bytes, std::uint64_t{options.layout.record_bytes});
  plan.output_bytes =
      (output_is_shared ? shares.total_records() : shares.records[rank()]) * options.layout.record_bytes;
  plan.records = shares.total_records();
  plan_disk(options, plan);
}

/// Takes blocks of the size that those of earlier processes have. Collective. Throws: MemoryTooSmall.
void PlannedSort::take_blocks_of_checkpoint() {
  const std::uint64_t bytes = ranks.all_reduce_max(checkpoint ? checkpoint->block_bytes() : 0);
  keeps_blocks = bytes > 0;
  if (!keeps_blocks) return;
  if (bytes > plan.memory.largest_block_bytes)
    throw MemoryTooSmall(fmt::format(
        "checkpoint {}: it has runs in blocks of {}, and {} {} has room for blocks of {} only: give as much "
        "memory as before, or {}",
        options.checkpoint.folders.front(), io::human_size(bytes), io::field("memory"),
        io::human_size(options.memory_bytes + codec_bytes), io::human_size(plan.memory.largest_block_bytes),
        io::field("restart")));
  plan.memory.spill_block_bytes = bytes;
}

/// The memory for the index over records that lie in memory already, for the exchange, and for a copy of the records if
/// keys would be read behind the last one. Collective. Throws: MemoryTooSmall.
MemoryPlan PlannedSort::plan_index() {
  // The number of records for which starting a thread takes about as long as its work.
  constexpr std::uint64_t kMinRecordsOfThread = std::uint64_t{1} << 14;
  MemoryRequest asked{.layout = options.layout, .memory_bytes = options.memory_bytes};
  const std::uint64_t records = input.total_bytes() / options.layout.record_bytes;
  asked.threads = std::clamp<std::size_t>(records / kMinRecordsOfThread, 1, options.threads);
  asked.input_bytes = input.total_bytes();
  asked.elsewhere = keys_are_read_inside(options.layout);
  const std::vector<MergeNeed> needs =
      gather_needs({.memory_bytes = options.memory_bytes / kExchangeShare, .threads = asked.threads, .runs = 1}, ranks);
  const std::uint64_t block = common_block_bytes(needs, options.layout);
  if (ranks.size() > 1) asked.exchange_bytes = exchange_bytes_of(needs, rank(), block);
  MemoryPlan found = plan_memory(asked);
  if (!found.in_memory)
    throw MemoryTooSmall(
        fmt::format("memory of {} beside the result does not suffice to sort {} records of {} bytes in memory; sort "
                    "them as files, or allow more",
                    io::human_size(options.memory_bytes), records, options.layout.record_bytes));
  found.spill_block_bytes = block;
  return found;
}

SortPlan PlannedSort::plan_memory_with_others() {
  if (claims == nullptr) return agree_on_memory();
  std::vector<MergeNeed> needs =
      gather_needs({.memory_bytes = options.memory_bytes / kExchangeShare, .threads = options.threads}, ranks);
  claims->allow_slices(slices_that_fit(needs, segments->most()));
  SortPlan own = agree_on_memory();
  if (own.any_rank_spills && segments->most() > 1) {
    // Several slices would need several indexes, which take memory.
    claims->allow_slices(1);
    own = agree_on_memory();
  }
  if (own.any_rank_spills) {
    claims->allow_slices(ClaimedSegments::kMaxSlices);
    own = agree_on_memory();
    // Between the slices of a rank lie records of others: their runs cannot be merged before the exchange.
    const std::uint64_t slices =
        slices_to_exchange(exchange_shape(own), gather_exchanging(own), ClaimedSegments::kMaxSlices);
    if (slices < ClaimedSegments::kMaxSlices) {
      claims->allow_slices(slices);
      own = agree_on_memory();
    }
  }
  if (own.spills) return own;
  const Taking taking{input, capacity_bytes, segments->most()};
  SortPlan most = plan_for_most(options, taking, own.memory.exchange_bytes, input.total_bytes());
  most.memory.spill_block_bytes = own.memory.spill_block_bytes;
  most.any_rank_spills = own.any_rank_spills;
  capacity_bytes = std::exchange(most.input_bytes, capacity_bytes);
  return most;
}

/// Returns the bytes of the largest range that a thread of any rank merges, as planned by now. Collective.
std::uint64_t PlannedSort::largest_range_bytes() {
  std::uint64_t records = 0;
  std::size_t number = 0;
  for (const std::uint64_t threads : ranks.all_gather(output.is_stream() ? std::uint64_t{1} : options.threads))
    records = std::max(records, shares.records[number++] / std::max<std::uint64_t>(1, threads) + 1);
  return records * options.layout.record_bytes;
}

ExchangeShape PlannedSort::exchange_shape(const SortPlan& own) const {
  return {options.layout, own.memory.spill_block_bytes, output.is_stream(), keeps_blocks};
}

/// Returns what all ranks exchange. Collective.
std::vector<ExchangingRank> PlannedSort::gather_exchanging(const SortPlan& own) {
  const bool all_spill = own.spills && own.memory.kept_bytes == 0;
  // A rank that turns out to be fast gets more than its planned share.
  const std::uint64_t share = (options.shares.output_by_rates ? 2 : 1) * options.layout.record_bytes;
  const std::uint64_t runs = own.spills ? expected_runs(own, segments->most()) : segments->most();
  // Runs of one slice are neighbours, and so are all runs of a rank that claims nothing.
  const std::uint64_t min_runs = claims != nullptr ? segments->most() : 1;
  std::vector<ExchangingRank> exchanging =
      ranks.all_gather(ExchangingRank{.memory_bytes = options.memory_bytes,
                                      .threads = options.threads,
                                      .runs = runs,
                                      .min_runs = min_runs,
                                      .input_bytes = capacity_bytes,
                                      .all_spill = all_spill,
                                      .ranks_on_host = static_cast<std::uint64_t>(ranks.ranks_on_host())});
  for (std::size_t rank = 0; rank < exchanging.size(); ++rank)
    exchanging[rank].output_bytes = shares.records[rank] * share;
  return exchanging;
}

/// Plans an exchange that stays within the memory of all ranks. Throws: RequestError if there is none, on all ranks
/// alike.
void PlannedSort::fit_exchange_memory() {
  if (ranks.size() == 1 || !plan.any_rank_spills) return;
  const std::vector<ExchangingRank> exchanging = gather_exchanging(plan);
  const ExchangeShape shape = exchange_shape(plan);
  if (const std::optional<ExchangeFit> fit = fit_exchange(shape, exchanging)) {
    plan.memory.merging_threads = fit->threads;
    plan.memory.spill_block_bytes = fit->block_bytes;
    return;
  }
  const std::optional<ExchangeShortage> shortage = exchange_shortage(shape, exchanging);
  if (!shortage) return;
  const ExchangingRank& rank = exchanging[shortage->rank];
  throw RequestError(fmt::format(
      "plan the exchange: rank {} ({}) needs {} for its streams even if one thread of each of {} ranks merges, but {} "
      "allows {}: give {}",
      shortage->rank, ranks.host(static_cast<int>(shortage->rank)), io::human_size(shortage->needed_bytes),
      ranks.size(), io::field("memory"), io::human_size(rank.memory_bytes),
      shortage->memory_bytes ? fmt::format("{} {}M or more", io::field("memory"), *shortage->memory_bytes >> 20)
                             : "fewer ranks"));
}

/// Starts with all ranks in memory. A rank without room for its records and for the blocks of the exchange spills a
/// part, or all. The number of its runs changes what the others need for blocks, so they plan again. This ends: no rank
/// returns to an earlier state, and a rank that plans its part again has larger runs than before.
SortPlan PlannedSort::agree_on_memory() {
  // The number of runs with which a slow rank can leave some of its share to others before it has begun them.
  constexpr std::uint64_t kRunsToClaim = 8;
  const std::uint64_t most = segments->most();
  const std::uint64_t range_bytes = largest_range_bytes();
  MemoryDecision decision(options, {input, capacity_bytes, most, claims != nullptr ? kRunsToClaim : 1}, rank(),
                          range_bytes);
  std::vector<MergeNeed> all;
  for (std::vector<MergeNeed> now = gather_needs(decision.need(), ranks); now != all;
       now = gather_needs(decision.need(), ranks)) {
    all = std::move(now);
    decision.decide(all);
  }
  SortPlan own = decision.plan();
  own.memory.spill_block_bytes = common_block_bytes(all, options.layout, range_bytes);
  own.spills = all[rank()].spilling != Spilling::kNothing;
  own.any_rank_spills =
      std::ranges::any_of(all, [](const MergeNeed& need) { return need.spilling != Spilling::kNothing; });
  return own;
}

}  // namespace hetsort::sort
