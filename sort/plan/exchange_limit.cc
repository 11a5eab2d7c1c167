// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
#include "sort/plan/exchange_limit.h"

#include <algorithm>

#include "sort/exchange/plan_exchange.h"
#include "sort/model/memory_plan.h"
#include "sort/runs/run_reader.h"

namespace hetsort::sort {

namespace {

// Besides blocks, a thread that merges has queues and tables of its streams.
constexpr std::uint64_t kThreadBytes = std::uint64_t{512} << 10;
constexpr std::uint64_t kMebibyte = std::uint64_t{1} << 20;

/// One rank's side of the exchange.
struct Side {
  std::uint64_t threads = 1;
  std::uint64_t runs = 0;
  std::uint64_t staging_bytes = 0;  ///< bytes that a thread needs
};

Side side_of(const ExchangeShape& shape, const ExchangingRank& rank) {
  // A pass that merges two runs into one makes progress: no rank is asked to keep fewer than two.
  constexpr std::uint64_t kMinRuns = 2;
  Side side{rank.threads, rank.runs, 0};
  if (rank.all_spill) {
    const MemoryPlan plan = plan_memory(
        {.layout = shape.layout, .memory_bytes = rank.memory_bytes, .threads = rank.threads, .must_spill = true});
    side = {plan.threads, std::min(rank.runs, std::max(kMinRuns, rank.min_runs)), plan.staging_bytes};
  }
  if (shape.to_stream) side.threads = 1;
  return side;
}

/// Pages of `streams` streams with two blocks each, if `bytes` go through all of them. Only what holds records is used.
/// `whole`: blocks that lie on disk are read as a whole.
std::uint64_t used_bytes(std::uint64_t streams, std::uint64_t bytes, const ExchangeShape& shape, bool whole) {
  constexpr std::uint64_t kPagesOfPart = 2;  // a part begins in one page, and its trailer ends in another
  const std::uint64_t blocks = streams + bytes / std::max<std::uint64_t>(1, shape.block_bytes);
  const std::uint64_t held = whole ? blocks * (round_up(std::min(shape.block_bytes, bytes), kPageBytes) + kPageBytes)
                                   : bytes + blocks * kPagesOfPart * kPageBytes;
  return std::min(exchange_memory_bytes(streams, 0, shape.block_bytes), held);
}

/// Whether both ranks have the same side of the exchange.
bool have_same_side(const ExchangingRank& one, const ExchangingRank& other) {
  return one.memory_bytes == other.memory_bytes && one.threads == other.threads && one.runs == other.runs &&
         one.min_runs == other.min_runs && one.all_spill == other.all_spill;
}

struct Sums {
  std::vector<Side> sides;
  std::uint64_t threads = 0;
  std::uint64_t runs = 0;
};

Sums sum_up(const ExchangeShape& shape, const std::vector<ExchangingRank>& ranks) {
  Sums sums;
  for (std::size_t at = 0; at < ranks.size(); ++at) {
    // Planning memory takes longer than the rest, and ranks are often alike.
    const Side side =
        at > 0 && have_same_side(ranks[at], ranks[at - 1]) ? sums.sides.back() : side_of(shape, ranks[at]);
    sums.sides.push_back(side);
    sums.threads += side.threads;
    sums.runs += side.runs;
  }
  return sums;
}

std::uint64_t use_of(const ExchangeShape& shape, const ExchangingRank& rank, const Side& mine, const Sums& all) {
  const std::uint64_t streams_out = mine.runs * (all.threads - mine.threads);
  const std::uint64_t streams_in = mine.threads * (all.runs - mine.runs);
  const std::uint64_t streams_own = mine.threads * mine.runs;
  const std::uint64_t staging = mine.threads * mine.staging_bytes;
  const std::uint64_t planned =
      exchange_memory_bytes(streams_out, streams_in + streams_own, shape.block_bytes) + staging;
  if (planned <= rank.memory_bytes) return planned;  // they lie in the memory that formed the runs
  return used_bytes(streams_out, rank.input_bytes, shape, true) +
         used_bytes(streams_in, rank.output_bytes, shape, false) +
         used_bytes(streams_own, rank.input_bytes, shape, true) + staging + mine.threads * kThreadBytes;
}

std::uint64_t allowed_bytes(const ExchangingRank& rank) {
  return rank.memory_bytes + beside_memory_bytes(rank.ranks_on_host);
}

std::vector<ExchangingRank> with_threads(std::vector<ExchangingRank> ranks, std::uint64_t most) {
  for (ExchangingRank& rank : ranks) rank.threads = std::min(rank.threads, most);
  return ranks;
}

std::vector<ExchangingRank> with_memory(std::vector<ExchangingRank> ranks, std::uint64_t least) {
  for (ExchangingRank& rank : ranks) rank.memory_bytes = std::max(rank.memory_bytes, least);
  return ranks;
}

std::uint64_t most_threads(const std::vector<ExchangingRank>& ranks) {
  return std::ranges::max(ranks, {}, &ExchangingRank::threads).threads;
}

/// The most threads of each rank with which it fits; 0 if one is too many.
std::uint64_t sufficient_threads(const ExchangeShape& shape, const std::vector<ExchangingRank>& ranks) {
  std::uint64_t low = 0;
  for (std::uint64_t high = most_threads(ranks); low < high;) {
    const std::uint64_t middle = low + (high - low + 1) / 2;
    if (exchange_fits(shape, with_threads(ranks, middle)))
      low = middle;
    else
      high = middle - 1;
  }
  return low;
}

/// The least memory with which fit_exchange() finds an exchange, near the first one that is found by doubling.
/// Requires: it finds none for these ranks.
std::optional<std::uint64_t> sufficient_memory(const ExchangeShape& shape, const std::vector<ExchangingRank>& ranks) {
  constexpr std::uint64_t kMost = std::uint64_t{1} << 46;
  const auto suffice = [&](std::uint64_t mebibytes) {
    return fit_exchange(shape, with_memory(ranks, mebibytes * kMebibyte)).has_value();
  };
  std::uint64_t low = std::ranges::min(ranks, {}, &ExchangingRank::memory_bytes).memory_bytes / kMebibyte;
  std::uint64_t high = std::max<std::uint64_t>(1, 2 * low);
  for (; !suffice(high); high *= 2) {
    if (high * kMebibyte > kMost) return std::nullopt;
    low = high;
  }
  while (high - low > 1) {
    const std::uint64_t middle = low + (high - low) / 2;
    (suffice(middle) ? high : low) = middle;
  }
  return high * kMebibyte;
}

}  // namespace

std::uint64_t exchange_use_bytes(const ExchangeShape& shape, const std::vector<ExchangingRank>& ranks, std::size_t me) {
  const Sums all = sum_up(shape, ranks);
  return use_of(shape, ranks[me], all.sides[me], all);
}

bool exchange_fits(const ExchangeShape& shape, const std::vector<ExchangingRank>& ranks) {
  const Sums all = sum_up(shape, ranks);
  for (std::size_t rank = 0; rank < ranks.size(); ++rank)
    if (ranks[rank].all_spill && use_of(shape, ranks[rank], all.sides[rank], all) > allowed_bytes(ranks[rank]))
      return false;
  return true;
}

ExchangeShape smallest_exchange(ExchangeShape shape) {
  // Disks and networks are much slower with smaller blocks.
  constexpr std::uint64_t kSmallestBlockBytes = std::uint64_t{16} << 10;
  shape.block_bytes = std::min(shape.block_bytes, block_near(kSmallestBlockBytes, shape.layout));
  return shape;
}

std::optional<ExchangeFit> fit_exchange(const ExchangeShape& shape, const std::vector<ExchangingRank>& ranks) {
  constexpr std::uint64_t kMostThreadsLess = 4;
  const std::uint64_t most = most_threads(ranks);
  ExchangeShape smaller = shape;
  if (const std::uint64_t threads = shape.keeps_blocks ? sufficient_threads(shape, ranks) : 0; threads > 0)
    return ExchangeFit{threads, shape.block_bytes};
  for (const std::uint64_t smallest = smallest_exchange(shape).block_bytes;;) {
    const std::uint64_t threads = sufficient_threads(smaller, ranks);
    const bool is_last = smaller.block_bytes == smallest;
    if (kMostThreadsLess * threads >= most || (is_last && threads > 0))
      return ExchangeFit{threads, smaller.block_bytes};
    if (is_last) return std::nullopt;
    smaller.block_bytes = std::max(smallest, block_near(smaller.block_bytes / 2, shape.layout));
  }
}

std::optional<ExchangeShortage> exchange_shortage(const ExchangeShape& shape,
                                                  const std::vector<ExchangingRank>& ranks) {
  if (fit_exchange(shape, ranks)) return std::nullopt;
  const ExchangeShape smallest = smallest_exchange(shape);
  const std::vector<ExchangingRank> alone = with_threads(ranks, 1);
  const Sums all = sum_up(smallest, alone);
  ExchangeShortage shortage;
  std::uint64_t most = 0;
  for (std::size_t rank = 0; rank < ranks.size(); ++rank) {
    if (!ranks[rank].all_spill) continue;
    const std::uint64_t use = use_of(smallest, alone[rank], all.sides[rank], all);
    const std::uint64_t lacks = use - std::min(use, allowed_bytes(ranks[rank]));
    if (lacks <= most) continue;
    most = lacks;
    shortage.rank = rank;
    shortage.needed_bytes = use;
  }
  shortage.memory_bytes = sufficient_memory(shape, ranks);
  return shortage;
}

std::uint64_t slices_to_exchange(const ExchangeShape& shape, std::vector<ExchangingRank> ranks, std::uint64_t most) {
  for (std::uint64_t slices = most; slices > 1; --slices) {
    for (ExchangingRank& rank : ranks) rank.min_runs = slices;
    if (exchange_fits(shape, ranks)) return slices;
  }
  return 1;
}

}  // namespace hetsort::sort
