// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
#include "sort/exchange/plan_exchange.h"

#include <algorithm>
#include <bit>
#include <memory>
#include <numeric>
#include <stdexcept>
#include <string>
#include <utility>

#include "sort/exchange/outgoing_streams.h"
#include "sort/merge/fewer_streams.h"
#include "sort/merge/merge_runs.h"
#include "sort/select/divide_parts.h"
#include "sort/select/select_across_ranks.h"
#include "sort/select/sorted_runs.h"

namespace hetsort::sort {

namespace {

/// Returns `all` after every rank has merged its runs down to `max_runs`, or as far as they can be merged.
std::vector<RankRuns> with_at_most(std::uint64_t max_runs, std::vector<RankRuns> all) {
  for (RankRuns& rank : all) {
    const std::uint64_t merged = rank.runs - std::min(rank.runs, std::max(max_runs, rank.min_runs));
    rank.runs -= merged;
    rank.spilled_runs -= std::min(rank.spilled_runs, merged);
  }
  return all;
}

/// The sum of a number of all ranks.
std::uint64_t total(const ExchangePlan& plan, std::uint64_t RankRuns::*number) {
  std::uint64_t sum = 0;
  for (const RankRuns& rank : plan.of_rank) sum += rank.*number;
  return sum;
}

/// Whether every rank has memory for two blocks of each of its streams and for a line of each stream that it merges.
/// `memory_bytes`: each rank's memory for both.
bool fits(const ExchangePlan& plan, const std::vector<std::uint64_t>& memory_bytes, std::uint64_t line_bytes) {
  const std::uint64_t all_threads = total(plan, &RankRuns::threads);
  const std::uint64_t all_runs = total(plan, &RankRuns::runs);
  for (std::size_t rank = 0; rank < memory_bytes.size(); ++rank) {
    const RankRuns& runs = plan.of_rank[rank];
    const std::uint64_t out = (all_threads - runs.threads) * runs.runs;
    const std::uint64_t in = runs.threads * (all_runs - runs.runs + runs.spilled_runs);
    const std::uint64_t blocks = exchange_memory_bytes(out, in, plan.block_bytes);
    if (blocks + in * line_bytes > memory_bytes[rank]) return false;
  }
  return true;
}

constexpr std::uint64_t kMaxThreadsOfRank = 1 << 16;
constexpr std::uint64_t kMaxPartsOfRank = 1 << 16;

/// Whether a job of `records` records can have such runs. Memory, tags and loops are sized by these numbers.
bool is_possible(const RankRuns& rank, std::uint64_t records) {
  return rank.threads >= 1 && rank.threads <= kMaxThreadsOfRank && rank.parts >= 1 && rank.parts <= kMaxPartsOfRank &&
         rank.runs <= records && rank.min_runs <= rank.runs && rank.spilled_runs <= rank.runs;
}

/// Checks the numbers that ranks announce. Throws: std::runtime_error if no rank can have them.
void check_runs(const ExchangePlan& plan) {
  std::uint64_t records = 0;
  for (const std::uint64_t share : plan.shares) records += share;
  for (std::size_t rank = 0; rank < plan.of_rank.size(); ++rank)
    if (!is_possible(plan.of_rank[rank], records))
      throw std::runtime_error("rank " + std::to_string(rank) +
                               " announces impossible numbers of runs and threads: network or memory changed them");
}

/// The memory of this rank for blocks: what was reserved if all runs are in memory, the slot if some are, else the
/// arena.
std::uint64_t block_memory_bytes(const FormedRuns& runs, const RankContext& context, const RankRuns& mine) {
  if (runs.in_memory()) return context.plan.exchange_bytes;
  if (!runs.kept.empty()) return context.slot().size();
  const std::uint64_t staging_bytes = mine.threads * context.plan.staging_bytes;
  return context.arena.size() - std::min(context.arena.size(), staging_bytes);
}

/// Where the numbers that a rank announces are in its list; behind them is the place of each run.
struct Announced {
  enum : std::size_t { kThreads, kParts, kSpilledRuns, kMinRuns, kMemory, kWork, kSeconds, kInput, kNumbers };
};

std::vector<std::uint64_t> numbers_of(const FormedRank& mine) {
  const RankRuns& runs = mine.runs;
  std::vector<std::uint64_t> numbers{runs.threads,
                                     runs.parts,
                                     runs.spilled_runs,
                                     runs.min_runs,
                                     mine.memory_bytes,
                                     mine.work.records,
                                     std::bit_cast<std::uint64_t>(mine.work.seconds),
                                     mine.input_records};
  numbers.insert(numbers.end(), runs.places.begin(), runs.places.end());
  return numbers;
}

/// Throws: std::runtime_error if these are not the numbers of a rank.
FormedRank rank_with(const std::vector<std::uint64_t>& numbers) {
  if (numbers.size() < Announced::kNumbers) throw std::runtime_error("a message between ranks is too short");
  FormedRank rank{.work = {numbers[Announced::kWork], std::bit_cast<double>(numbers[Announced::kSeconds])},
                  .input_records = numbers[Announced::kInput],
                  .memory_bytes = numbers[Announced::kMemory]};
  rank.runs = {numbers[Announced::kThreads],         numbers[Announced::kParts],
               numbers.size() - Announced::kNumbers, numbers[Announced::kSpilledRuns],
               numbers[Announced::kMinRuns],         {numbers.begin() + Announced::kNumbers, numbers.end()}};
  return rank;
}

/// The least bytes of the mean stream if several threads of a rank merge. A stream costs messages, and a block of its
/// own at both ends. With smaller streams this takes longer than it saves to divide the merge among threads.
constexpr std::uint64_t kMinStreamBytes = std::uint64_t{16} << 10;

/// Leaves as many threads of each rank as are worth their streams. The streams of a single rank are no messages.
void limit_threads(const RankContext& context, ExchangePlan& plan) {
  if (plan.of_rank.size() == 1) return;
  const std::uint64_t least = context.options->hooks.min_stream_bytes.value_or(kMinStreamBytes);
  const std::uint64_t bytes = std::reduce(plan.shares.begin(), plan.shares.end()) * context.layout.record_bytes;
  const std::uint64_t most = threads_worth_merging(plan.of_rank, bytes, least);
  for (RankRuns& rank : plan.of_rank) rank.threads = std::min(rank.threads, most);
}

/// Adds to the plan which runs and how many ranges each rank has, after the merge passes that memory requires.
/// Collective.
void agree_on_runs(FormedRuns& runs, const RankContext& context, ExchangeRequest& request, ExchangePlan& plan) {
  std::uint64_t most_threads = kMaxThreadsOfRank;
  while (true) {
    std::vector<std::uint64_t> memory_bytes;
    plan.of_rank.clear();
    for (FormedRank& rank : request.formed) {
      plan.of_rank.push_back(std::move(rank.runs));
      memory_bytes.push_back(rank.memory_bytes);
    }
    check_runs(plan);
    for (std::size_t rank = 0; rank < plan.of_rank.size(); ++rank) {
      RankRuns& planned = plan.of_rank[rank];
      planned.parts = std::min(planned.parts, request.shares.parts_of(rank));
      planned.threads = std::min(planned.threads, most_threads);
    }
    // Passes that merge runs make streams larger. More threads would then need the memory that the passes have freed.
    limit_threads(context, plan);
    most_threads = std::ranges::max(plan.of_rank, {}, &RankRuns::threads).threads;
    const std::uint64_t max_runs =
        std::min(runs_that_fit(plan, memory_bytes, runs.longest_line), context.plan.max_merged_runs);
    const auto has_few = [&](const RankRuns& rank) { return rank.runs <= std::max(max_runs, rank.min_runs); };
    if (std::ranges::all_of(plan.of_rank, has_few)) return;
    if (plan.me == 0) context.monitor->note("there are more runs than one pass can merge: neighbours are merged first");
    reduce_runs(runs, context, max_runs);
    request.formed = gather_formed(runs, context, request.output, {});
  }
}

/// The mean bytes of a stream.
std::uint64_t mean_stream_bytes(const RecordLayout& layout, const ExchangePlan& plan) {
  const std::uint64_t threads = std::max<std::uint64_t>(1, total(plan, &RankRuns::threads));
  const std::uint64_t runs = std::max<std::uint64_t>(1, total(plan, &RankRuns::runs));
  return std::reduce(plan.shares.begin(), plan.shares.end()) / threads / runs * layout.record_bytes;
}

/// If all runs are in memory, divides the memory of two large blocks into several small ones. A merge waits for its
/// slowest stream; meanwhile the other streams continue as far as they have free blocks, so that links stay busy.
/// Blocks that are larger than most streams would take memory that nothing fills. Blocks of spilled runs are sent as
/// they are on disk.
void divide_blocks(const RecordLayout& layout, ExchangePlan& plan) {
  constexpr std::uint64_t kMinBlockBytes = std::uint64_t{16} << 10;
  constexpr std::uint64_t kMaxBlockBytes = std::uint64_t{128} << 10;
  if (std::ranges::any_of(plan.of_rank, [](const RankRuns& rank) { return rank.spilled_runs > 0; })) return;
  const std::uint64_t room = exchange_memory_bytes(1, 0, plan.block_bytes);
  const std::uint64_t mean = mean_stream_bytes(layout, plan);
  plan.is_sparse = mean < kMaxBlockBytes;
  const std::uint64_t wanted = std::clamp(mean, kMinBlockBytes, kMaxBlockBytes);
  plan.block_bytes =
      std::min(plan.block_bytes, std::max<std::uint64_t>(wanted / layout.record_bytes, 1) * layout.record_bytes);
  plan.credits = std::clamp(room / exchange_memory_bytes(1, 0, plan.block_bytes, 1), kInitialCredits, kMaxCredits);
}

/// Whether the mean stream is worth mapping memory of another rank, which costs as much as copying some pages.
bool is_worth_sharing(const RankContext& context, const ExchangePlan& plan) {
  constexpr std::uint64_t kMinSharedBytes = std::uint64_t{128} << 10;
  return mean_stream_bytes(context.layout, plan) >= context.options->hooks.min_stream_bytes.value_or(kMinSharedBytes);
}

/// Gives each thread several ranges if ranges may be dealt and portions have many blocks: a cut costs a few more
/// records of each run to compare, and a block that is read twice if its run spilled.
void cut_finer(const Redeal& redeal, const RecordLayout& layout, ExchangePlan& plan) {
  constexpr std::uint64_t kMaxParts = 16;
  constexpr std::uint64_t kMinBlocksOfPortion = 16;
  // Each rank receives the sizes of all portions of all ranks, 16 bytes each: at most 1 MiB.
  constexpr std::uint64_t kMaxPortions = std::uint64_t{1} << 16;
  const std::uint64_t portions = total(plan, &RankRuns::threads) * total(plan, &RankRuns::runs);  // one range a thread
  const std::uint64_t blocks = mean_stream_bytes(layout, plan) / plan.block_bytes;
  const std::uint64_t useful =
      std::min({kMaxParts, blocks / kMinBlocksOfPortion, kMaxPortions / std::max<std::uint64_t>(portions, 1)});
  const std::uint64_t parts = redeal.parts > 0 ? redeal.parts : useful;
  plan.is_dealt = parts > 1;
  if (!plan.is_dealt) return;
  for (RankRuns& rank : plan.of_rank) rank.parts = parts;
}

/// The borders in the output that runs are cut at exactly, both ends included: those of all parts of all ranks, or
/// those of shares if ranges are dealt.
std::vector<std::uint64_t> part_borders(const Shares& shares, const ExchangePlan& plan) {
  std::vector<std::uint64_t> borders{0};
  for (std::size_t rank = 0; rank < plan.of_rank.size(); ++rank)
    for (const std::uint64_t part : equal_parts(shares.records[rank], plan.is_dealt ? 1 : plan.of_rank[rank].parts))
      borders.push_back(borders.back() + part);
  return borders;
}

/// The parts between these borders.
PartsOfRanks parts_of_ranks(const ExchangePlan& plan) {
  PartsOfRanks parts;
  for (const RankRuns& rank : plan.of_rank) {
    const std::uint64_t borders = plan.is_dealt ? 1 : rank.parts;
    parts.of_rank.push_back(borders);
    parts.ranges.insert(parts.ranges.end(), borders, rank.ranges() / borders);
  }
  return parts;
}

/// The records of all ranks before each cut. Collective.
std::vector<std::uint64_t> records_before(const std::vector<Cut>& cuts, comm::Communicator& ranks) {
  std::vector<std::uint64_t> before;
  before.reserve(cuts.size());
  for (const Cut& cut : cuts) before.push_back(std::accumulate(cut.begin(), cut.end(), std::uint64_t{0}));
  ranks.all_reduce_sum(before);
  return before;
}

/// Moves each cut to the begin of the line that it lies in.
void move_to_lines(SortedRuns& runs, std::vector<Cut>& cuts) {
  for (Cut& cut : cuts) {
    for (std::size_t run = 0; run < cut.size(); ++run) cut[run] = runs.line_start(run, cut[run]);
    runs.forget();
  }
}

/// Adds to the plan where this rank's volumes of lines begin. Each rank has `volumes` volumes. Collective.
void cut_volumes(const RankedRuns& runs, std::size_t volumes, comm::Communicator& ranks, ExchangePlan& plan) {
  std::vector<std::uint64_t> wanted;
  std::uint64_t at = 0;
  for (const std::uint64_t share : plan.shares)
    for (const std::uint64_t part : equal_parts(share, volumes)) wanted.push_back(std::exchange(at, at + part));
  std::vector<Cut> cuts = select_across_ranks(runs, wanted, ranks);
  move_to_lines(runs.runs, cuts);
  const std::vector<std::uint64_t> first = records_before(cuts, ranks);
  const std::size_t own = plan.me * volumes;
  for (std::size_t volume = 1; volume < volumes; ++volume)
    plan.volume_first.push_back(first[own + volume] - first[own]);
}

/// Adds to the plan the share of each rank, as its ranges of whole lines are. Collective.
void measure_shares(comm::Communicator& ranks, ExchangePlan& plan) {
  std::vector<Cut> cuts;
  for (const std::size_t first : plan.first_ranges()) cuts.push_back(plan.cuts[first]);
  const std::vector<std::uint64_t> borders = records_before(cuts, ranks);
  for (std::size_t rank = 0; rank < plan.shares.size(); ++rank) plan.shares[rank] = borders[rank + 1] - borders[rank];
}

/// Cuts the runs at the borders of all ranges of all ranks: exactly where parts begin, nearly at equal sizes between
/// the ranges of a part, and for lines at the begin of a line. Collective.
void cut_runs(const RankedRuns& runs, const Shares& shares, comm::Communicator& ranks, ExchangePlan& plan) {
  const std::vector<std::uint64_t> borders = part_borders(shares, plan);
  plan.cuts = divide_parts(runs, select_across_ranks(runs, borders, ranks), parts_of_ranks(plan), ranks);
  if (runs.key_bytes == kAnyKeyBytes) {
    move_to_lines(runs.runs, plan.cuts);
    measure_shares(ranks, plan);
  }
  if (plan.is_dealt) plan.range_first = records_before(plan.cuts, ranks);
}

std::unique_ptr<SortedRuns> view_of_all(const FormedRuns& runs, const RankContext& context) {
  auto view = std::make_unique<JoinedRunsView>();
  if (!runs.kept.empty()) view->add(view_of(runs.kept, context.beside_shared(0).scratch));
  if (!runs.spilled.empty()) view->add(view_of(runs.spilled, *runs.space, context.layout));
  return view;
}

}  // namespace

std::size_t ExchangePlan::first_range(std::size_t rank) const {
  std::size_t range = 0;
  for (std::size_t before = 0; before < rank; ++before) range += of_rank[before].ranges();
  return range;
}

std::vector<std::size_t> ExchangePlan::first_ranges() const {
  std::vector<std::size_t> first{0};
  for (const RankRuns& rank : of_rank) first.push_back(first.back() + rank.ranges());
  return first;
}

std::size_t ExchangePlan::streams_out(std::size_t rank) const {
  std::size_t threads = 0;
  for (const RankRuns& other : of_rank) threads += other.threads;
  return (threads - of_rank[rank].threads) * of_rank[rank].runs;
}

std::size_t ExchangePlan::streams_in(std::size_t rank) const {
  std::size_t runs = 0;
  for (const RankRuns& other : of_rank) runs += other.runs;
  return runs - of_rank[rank].runs;
}

std::uint64_t exchange_memory_bytes(std::uint64_t out, std::uint64_t in, std::uint64_t block_bytes,
                                    std::uint64_t credits) {
  // Each block is followed by a page for its trailer.
  return credits * (out + in) * (round_up(block_bytes, kPageBytes) + kPageBytes);
}

bool needs_exchange(const FormedRuns& runs, const RankContext& context, const Shares& shares, const Output& output) {
  const bool has_parts = !output.is_stream() && shares.parts_of(context.rank()) > 1;
  return context.ranks->size() > 1 || has_parts || (!runs.kept.empty() && (runs.count() > 1 || !runs.in_memory()));
}

std::vector<FormedRank> gather_formed(const FormedRuns& runs, const RankContext& context, const Output& output,
                                      const FormedRank& mine) {
  FormedRank all_of_mine = mine;
  // An output that is a stream is written from front to back, by one thread.
  RankRuns& own = all_of_mine.runs;
  own.threads = output.is_stream() ? 1 : std::min(context.plan.threads, context.plan.merging_threads);
  own.parts = output.is_stream() ? 1 : kMaxPartsOfRank;
  own.spilled_runs = runs.spilled.size();
  own.min_runs = min_runs(runs);
  for (const MemoryRun& run : runs.kept) own.places.push_back(run.first_record);
  for (const SpilledRun& run : runs.spilled) own.places.push_back(run.first_record);
  all_of_mine.memory_bytes = block_memory_bytes(runs, context, own);
  std::vector<FormedRank> all;
  for (const std::vector<std::uint64_t>& numbers : context.ranks->all_gather_lists(numbers_of(all_of_mine)))
    all.push_back(rank_with(numbers));
  return all;
}

std::uint64_t threads_worth_merging(const std::vector<RankRuns>& ranks, std::uint64_t output_bytes,
                                    std::uint64_t min_stream_bytes) {
  std::uint64_t runs = 0;
  std::uint64_t most = 1;
  for (const RankRuns& rank : ranks) {
    runs += rank.runs;
    most = std::max(most, rank.threads);
  }
  if (min_stream_bytes == 0 || runs == 0) return most;
  const std::uint64_t ranges = output_bytes / min_stream_bytes / runs;
  const auto are_worth = [&](std::uint64_t threads) {
    std::uint64_t all = 0;
    for (const RankRuns& rank : ranks) all += std::min(rank.threads, threads);
    return all <= ranges;
  };
  std::uint64_t low = 1;
  for (std::uint64_t high = most; low < high;) {
    const std::uint64_t middle = low + (high - low + 1) / 2;
    if (are_worth(middle))
      low = middle;
    else
      high = middle - 1;
  }
  return low;
}

std::uint64_t runs_that_fit(const ExchangePlan& plan, const std::vector<std::uint64_t>& memory_bytes,
                            std::uint64_t line_bytes) {
  constexpr std::uint64_t kMinRuns = 2;  // a pass that merges two runs into one makes progress
  std::uint64_t high = 1;
  for (const RankRuns& rank : plan.of_rank) high = std::max(high, rank.runs);
  // Fewer runs never need more memory.
  for (std::uint64_t low = std::min(kMinRuns, high); low < high;) {
    const std::uint64_t middle = low + (high - low + 1) / 2;
    ExchangePlan fewer;
    fewer.of_rank = with_at_most(middle, plan.of_rank);
    fewer.block_bytes = plan.block_bytes;
    if (fits(fewer, memory_bytes, line_bytes))
      low = middle;
    else
      high = middle - 1;
  }
  return high;
}

std::uint64_t memory_for_lines(const ExchangePlan& plan, const FormedRuns& runs, const RankContext& context) {
  // The first and the last line of a range, and the one that is being verified; and two keys of the filter.
  const std::uint64_t lines_beside_streams = context.options->output.unique ? 5 : 3;
  const RankRuns& mine = plan.of_rank[plan.me];
  const auto ranks_on_host = static_cast<std::uint64_t>(context.ranks->ranks_on_host());
  const std::uint64_t memory = block_memory_bytes(runs, context, mine) + beside_memory_bytes(ranks_on_host);
  const std::uint64_t in = mine.threads * (plan.streams_in(plan.me) + mine.spilled_runs);
  const std::uint64_t blocks = exchange_memory_bytes(plan.streams_out(plan.me), in, plan.block_bytes, plan.credits);
  const std::uint64_t each = (memory - std::min(memory, blocks)) / mine.threads;
  const std::uint64_t room = each - std::min(each, lines_beside_streams * runs.longest_line);
  return std::max(context.options->hooks.held_line_bytes.value_or(room),
                  FewerStreams::two_lines(context, runs.longest_line));
}

ExchangePlan plan_exchange(FormedRuns& runs, const RankContext& context, ExchangeRequest request) {
  const Shares& shares = request.shares;
  ExchangePlan plan{.me = context.rank(), .shares = shares.records, .block_bytes = context.plan.spill_block_bytes};
  agree_on_runs(runs, context, request, plan);
  divide_blocks(context.layout, plan);
  plan.shares_memory = is_worth_sharing(context, plan);
  if (request.redeal) cut_finer(*request.redeal, context.layout, plan);
  const std::unique_ptr<SortedRuns> view = view_of_all(runs, context);
  const RankedRuns ranked{*view, plan.of_rank[plan.me].places, context.layout.common_key_bytes()};
  cut_runs(ranked, shares, *context.ranks, plan);
  const std::size_t volumes = request.output.volumes().size();
  if (context.layout.is_lines() && volumes > 1) cut_volumes(ranked, volumes, *context.ranks, plan);
  return plan;
}

}  // namespace hetsort::sort
