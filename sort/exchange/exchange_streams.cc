// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
#include "sort/exchange/exchange_streams.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>

#include "io/field.h"
#include "io/file_system.h"
#include "sort/runs/spill_writer.h"
#include "sort/select/sorted_runs.h"

namespace hetsort::sort {

namespace {

bool is_empty(const std::vector<StreamSize>& parts) {
  return std::ranges::all_of(parts, [](const StreamSize& part) { return part.records == 0; });
}

/// Lists outgoing streams with their portions.
class PortionLister {
 public:
  PortionLister(const FormedRuns& runs, const ExchangePlan& plan, const RankContext& context)
      : runs_(runs), plan_(plan), layout_(context.layout), first_ranges_(plan.first_ranges()) {
    listed_.sizes_to.resize(plan.is_dealt ? 0 : plan.of_rank.size());
  }

  /// Adds the stream of `run` for `thread` of `rank`.
  void add(std::size_t rank, std::size_t thread, std::size_t run) {
    const bool is_spilled = run >= runs_.kept.size();
    const auto number = static_cast<std::uint32_t>(thread * plan_.of_rank[plan_.me].runs + run);
    OutgoingStream stream{static_cast<int>(rank), number,
                          is_spilled ? add_spilled(rank, thread, run) : add_in_memory(rank, thread, run)};
    if (!plan_.is_dealt) {
      std::vector<StreamSize>& table = listed_.sizes_to[rank];
      table.insert(table.end(), stream.parts.begin(), stream.parts.end());
      if (is_empty(stream.parts)) return is_spilled ? listed_.spilled.pop_back() : listed_.in_memory.pop_back();
    }
    listed_.is_spilled.push_back(is_spilled);
    listed_.streams.push_back(std::move(stream));
  }
  OutgoingPortions take() { return std::move(listed_); }

 private:
  /// Calls visit(first, last) with the records of `run` for this thread of the rank, for each part of the rank's share.
  template <typename Visit>
  void for_each_part(std::size_t rank, std::size_t thread, std::size_t run, const Visit& visit) const {
    const RankRuns& to = plan_.of_rank[rank];
    for (std::size_t part = 0; part < (plan_.is_dealt ? 1 : to.parts); ++part) {
      const std::size_t range = first_ranges_[rank] + part * to.threads + thread;
      visit(plan_.cuts[range][run], plan_.cuts[range + 1][run]);
    }
  }

  std::vector<StreamSize> add_in_memory(std::size_t rank, std::size_t thread, std::size_t run) {
    std::vector<StreamSize> sizes;
    MemoryPortions& portions = listed_.in_memory.emplace_back();
    for_each_part(rank, thread, run, [&](std::uint64_t first, std::uint64_t last) {
      portions.push_back({&runs_.kept[run], first, last});
      sizes.push_back(MemoryBlocks::size_of(portions.back(), plan_.block_bytes / layout_.record_bytes));
    });
    return sizes;
  }

  std::vector<StreamSize> add_spilled(std::size_t rank, std::size_t thread, std::size_t run) {
    std::vector<StreamSize> sizes;
    SpilledPortions& portions = listed_.spilled.emplace_back();
    for_each_part(rank, thread, run, [&](std::uint64_t first, std::uint64_t last) {
      portions.push_back({&runs_.spilled[run - runs_.kept.size()], first, last});
      sizes.push_back(SpilledBlocks::size_of(portions.back(), records_per_block(*runs_.space, layout_)));
    });
    return sizes;
  }

  const FormedRuns& runs_;
  const ExchangePlan& plan_;
  const RecordLayout& layout_;
  std::vector<std::size_t> first_ranges_;
  OutgoingPortions listed_;
};

}  // namespace

OutgoingPortions list_outgoing(const FormedRuns& runs, const ExchangePlan& plan, const RankContext& context) {
  PortionLister lister(runs, plan, context);
  for (std::size_t rank = 0; rank < plan.of_rank.size(); ++rank) {
    if (rank == plan.me) continue;
    for (std::size_t thread = 0; thread < plan.of_rank[rank].threads; ++thread)
      for (std::size_t run = 0; run < plan.of_rank[plan.me].runs; ++run) lister.add(rank, thread, run);
  }
  return lister.take();
}

std::vector<std::vector<StreamSize>> sizes_of_ranges(const FormedRuns& runs, const ExchangePlan& plan,
                                                     const RankContext& context) {
  std::vector<std::vector<StreamSize>> sizes(plan.ranges());
  for (std::size_t range = 0; range < sizes.size(); ++range) {
    for (std::size_t run = 0; run < runs.count(); ++run) {
      const std::uint64_t first = plan.cuts[range][run];
      const std::uint64_t last = plan.cuts[range + 1][run];
      sizes[range].push_back(
          run < runs.kept.size()
              ? MemoryBlocks::size_of({nullptr, first, last}, plan.block_bytes / context.layout.record_bytes)
              : SpilledBlocks::size_of({nullptr, first, last}, records_per_block(*runs.space, context.layout)));
    }
  }
  return sizes;
}

SizeTables::Tables tables_of_ranges(const ExchangePlan& plan, const std::vector<std::vector<StreamSize>>& of_ranges) {
  std::vector<StreamSize> table;
  for (const std::vector<StreamSize>& range : of_ranges) table.insert(table.end(), range.begin(), range.end());
  return SizeTables::Tables(plan.of_rank.size(), table);
}

SizeTables::Count sizes_in_tables(const ExchangePlan& plan) {
  return [&plan, ranges = plan.ranges()](std::size_t from, std::size_t to) {
    const RankRuns& receiver = plan.of_rank[to];
    return plan.of_rank[from].runs * (plan.is_dealt ? ranges : receiver.threads * receiver.parts);
  };
}

std::vector<StreamSize> sizes_of_range(const ExchangePlan& plan, const std::vector<std::vector<StreamSize>>& sizes,
                                       std::uint64_t range, std::span<const std::size_t> copied) {
  std::vector<StreamSize> found;
  for (std::size_t rank = 0; rank < plan.of_rank.size(); ++rank) {
    if (rank == plan.me) continue;
    const std::size_t runs = plan.of_rank[rank].runs;
    const auto first = sizes[rank].begin() + static_cast<std::ptrdiff_t>(range * runs);
    if (std::ranges::binary_search(copied, rank))
      found.resize(found.size() + runs);
    else
      found.insert(found.end(), first, first + static_cast<std::ptrdiff_t>(runs));
  }
  return found;
}

std::vector<RunCopies::Original> originals_of(const ExchangePlan& plan, std::size_t rank,
                                              const std::vector<std::vector<StreamSize>>& sizes) {
  std::vector<RunCopies::Original> originals;
  const RankRuns& of_rank = plan.of_rank[rank];
  for (std::size_t run = 0; run < of_rank.runs; ++run) {
    RunCopies::Original& original = originals.emplace_back(RunCopies::Original{of_rank.places[run], {0}});
    for (std::size_t range = 0; range < plan.ranges(); ++range)
      original.cuts.push_back(original.cuts.back() + sizes[rank][range * of_rank.runs + run].records);
  }
  return originals;
}

std::vector<std::vector<std::uint64_t>> records_of_streams(const ExchangePlan& plan,
                                                           const std::vector<std::vector<StreamSize>>& sizes,
                                                           std::size_t range) {
  const RankRuns& mine = plan.of_rank[plan.me];
  const std::size_t own = range - plan.first_range(plan.me);
  std::vector<std::vector<std::uint64_t>> records(plan.of_rank.size());
  for (std::size_t rank = 0; rank < records.size(); ++rank) {
    const std::size_t runs = plan.of_rank[rank].runs;
    for (std::size_t run = 0; run < runs; ++run) {
      if (rank == plan.me)
        records[rank].push_back(plan.cuts[range + 1][run] - plan.cuts[range][run]);
      else if (plan.is_dealt)
        records[rank].push_back(sizes[rank][range * runs + run].records);
      else
        records[rank].push_back(
            sizes[rank][(own % mine.threads * runs + run) * mine.parts + own / mine.threads].records);
    }
  }
  return records;
}

std::vector<std::uint64_t> firsts_of_ranges(const ExchangePlan& plan,
                                            const std::vector<std::vector<StreamSize>>& sizes) {
  if (plan.is_dealt) return plan.range_first;
  const std::size_t first = plan.first_range(plan.me);
  std::vector<std::uint64_t> firsts{0};
  for (std::size_t range = first; range < first + plan.of_rank[plan.me].ranges(); ++range) {
    std::uint64_t records = 0;
    for (const std::vector<std::uint64_t>& of_rank : records_of_streams(plan, sizes, range))
      records = std::reduce(of_rank.begin(), of_rank.end(), records);
    firsts.push_back(firsts.back() + records);
  }
  if (firsts.back() != plan.shares[plan.me]) refuse_summaries();
  return firsts;
}

void say_passes(const ExchangePlan& plan, const std::vector<std::vector<StreamSize>>& sizes,
                const FewerStreams::Limits& limits, const RankContext& context) {
  bool has_room = true;
  const std::size_t first = plan.first_range(plan.me);
  for (std::size_t range = first; range < first + plan.of_rank[plan.me].ranges(); ++range) {
    std::uint64_t held = 0;
    for (const std::vector<std::uint64_t>& of_rank : records_of_streams(plan, sizes, range))
      for (const std::uint64_t bytes : of_rank) held += std::min(bytes, limits.longest_line);
    has_room = has_room && held <= limits.held_bytes;
  }
  std::vector<std::uint64_t> ranks{has_room ? 0U : 1U};
  context.ranks->all_reduce_sum(ranks);
  if (plan.me == 0 && ranks[0] > 0)
    context.monitor->note(
        fmt::format("{} of {} ranks merge lines of up to {} in several passes: {} has no room for one of each stream",
                    ranks[0], plan.of_rank.size(), io::human_size(limits.longest_line), io::field("memory")));
}

std::vector<std::vector<IncomingStream>> list_incoming(const ExchangePlan& plan,
                                                       const std::vector<std::vector<StreamSize>>& sizes) {
  const RankRuns& mine = plan.of_rank[plan.me];
  const std::size_t own_first = plan.first_range(plan.me);
  std::vector<std::vector<IncomingStream>> incoming(mine.threads);
  for (std::size_t thread = 0; thread < mine.threads; ++thread) {
    std::size_t place = 0;
    for (std::size_t rank = 0; rank < plan.of_rank.size(); ++rank) {
      if (rank == plan.me) continue;
      const std::size_t runs = plan.of_rank[rank].runs;
      const std::size_t parts = plan.is_dealt ? 1 : mine.parts;
      const std::size_t before = plan.is_dealt ? own_first * runs : 0;
      for (std::size_t run = 0; run < runs; ++run) {
        const auto number = static_cast<std::uint32_t>(thread * runs + run);
        const auto first = sizes[rank].begin() + static_cast<std::ptrdiff_t>(before + number * parts);
        IncomingStream stream{
            static_cast<int>(rank), number, {first, first + static_cast<std::ptrdiff_t>(parts)}, place++};
        if (plan.is_dealt || !is_empty(stream.parts)) incoming[thread].push_back(std::move(stream));
      }
    }
  }
  return incoming;
}

}  // namespace hetsort::sort
