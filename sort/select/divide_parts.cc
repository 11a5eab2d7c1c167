// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
#include "sort/select/divide_parts.h"

#include <algorithm>
#include <cassert>
#include <exception>
#include <numeric>
#include <utility>

#include "sort/failure/report_failure.h"
#include "sort/select/direct_swap.h"
#include "sort/select/order_long_lines.h"
#include "sort/select/run_summary.h"
#include "sort/select/select_across_ranks.h"
#include "sort/select/selection_size.h"
#include "sort/select/verdict.h"

namespace hetsort::sort {

namespace {

/// Consecutive parts of the output.
struct Parts {
  std::size_t first = 0;
  std::size_t end = 0;
};

std::uint64_t middle(const SummaryMark& mark) {
  return mark.fewest_before + (mark.most_before - mark.fewest_before) / 2;
}

/// The marks that divide the records best; fewer if there are no marks.
std::vector<Mark> dividing_marks(const QuantileSummary& summary, std::uint64_t ranges) {
  std::vector<Mark> chosen;
  const std::vector<SummaryMark>& marks = summary.marks;
  std::size_t at = 0;
  for (std::uint64_t range = 1; range < ranges && !marks.empty(); ++range) {
    const std::uint64_t target = summary.records / ranges * range + summary.records % ranges * range / ranges;
    while (at + 1 < marks.size() && middle(marks[at + 1]) <= target) ++at;
    const bool next_is_closer =
        at + 1 < marks.size() && middle(marks[at + 1]) - target < target - std::min(target, middle(marks[at]));
    chosen.push_back(marks[next_is_closer ? at + 1 : at].mark);
  }
  return chosen;
}

/// Merges summaries in pairs, so that each goes through few merges: each merge adds to the error.
std::vector<OpenRecords> merged(std::vector<std::vector<OpenRecords>> of_ranks, std::size_t most_marks) {
  for (std::size_t step = 1; step < of_ranks.size(); step *= 2)
    for (std::size_t low = 0; low + step < of_ranks.size(); low += 2 * step)
      for (std::size_t part = 0; part < of_ranks[low].size(); ++part)
        of_ranks[low][part].add(of_ranks[low + step][part], most_marks);
  return std::move(of_ranks.front());
}

class Division {
 public:
  Division(const RankedRuns& mine, std::span<const Cut> borders, const PartsOfRanks& parts, comm::Communicator& ranks)
      : mine_(mine), borders_(borders), parts_(parts), ranks_(ranks), me_(static_cast<std::size_t>(ranks.rank())) {
    for (std::size_t rank = 0; rank < parts.of_rank.size(); ++rank) {
      const std::size_t first = rank == 0 ? 0 : of_rank_.back().end;
      of_rank_.push_back({first, first + parts.of_rank[rank]});
      sizes_.push_back(sizes_of(rank));
    }
  }

  /// The cuts between the ranges of each part. Collective.
  std::vector<std::vector<Cut>> divide() {
    DirectSwap swap(ranks_, {"summaries of parts", "borders of ranges"});
    try {
      return divide(swap);
    } catch (const std::exception& error) {
      report_failure(ranks_, error);
      throw;
    }
  }
  /// After divide(): whether some range begins at a line whose key is longer than what was compared.
  bool has_long_keys() const { return has_long_keys_; }

 private:
  static constexpr std::size_t kSummaries = 0;
  static constexpr std::size_t kBorders = 1;

  std::vector<std::vector<Cut>> divide(DirectSwap& swap) {
    for (std::size_t rank = 0; rank < of_rank_.size(); ++rank) {
      if (is_divided(me_)) swap.expect(kSummaries, rank, sizes_[me_].summary_bytes);
      if (is_divided(rank)) swap.expect(kBorders, rank, sizes_[rank].border_bytes);
    }
    swap.begin();
    std::vector<OpenRecords> own;
    for (std::size_t step = 0; step < of_rank_.size(); ++step) {
      const std::size_t rank = (me_ + step) % of_rank_.size();
      if (!is_divided(rank)) continue;
      std::vector<OpenRecords> open = summaries_for(rank);
      if (rank == me_)
        own = std::move(open);
      else
        swap.send(kSummaries, rank, encode(open, mine_.key_bytes));
    }
    if (is_divided(me_)) send_borders(swap, own);
    std::vector<std::vector<Cut>> cuts(parts_.ranges.size());
    const std::vector<comm::Bytes> borders = swap.take(kBorders);
    for (std::size_t rank = 0; rank < of_rank_.size(); ++rank)
      if (is_divided(rank)) cut_parts(of_rank_[rank], rank == me_ ? own_borders_ : borders[rank], cuts);
    swap.finish();
    return cuts;
  }

  DivisionSizes sizes_of(std::size_t rank) const {
    std::uint64_t ranges = 0;
    for (std::size_t part = of_rank_[rank].first; part < of_rank_[rank].end; ++part) ranges += parts_.ranges[part];
    return division_sizes({.ranks = parts_.of_rank.size(),
                           .searches = parts_.of_rank[rank],
                           .splitters = ranges,
                           .key_bytes = mine_.key_bytes});
  }
  bool is_divided(std::size_t rank) const {
    const auto several = [](std::uint64_t ranges) { return ranges > 1; };
    const auto first = parts_.ranges.begin();
    return std::any_of(first + static_cast<std::ptrdiff_t>(of_rank_[rank].first),
                       first + static_cast<std::ptrdiff_t>(of_rank_[rank].end), several);
  }

  std::vector<OpenRun> runs_of(std::size_t part) const {
    std::vector<OpenRun> runs;
    for (std::size_t run = 0; run < mine_.runs.count(); ++run)
      runs.push_back({borders_[part][run], borders_[part + 1][run]});
    return runs;
  }

  std::vector<OpenRecords> summaries_for(std::size_t rank) const {
    std::vector<OpenRecords> open;
    for (std::size_t part = of_rank_[rank].first; part < of_rank_[rank].end; ++part) {
      std::vector<OpenRun> runs = runs_of(part);
      open.push_back(summarise(mine_, runs, sizes_[rank].own_marks, phase_of(ranks_)));
    }
    return open;
  }

  /// Sends all ranks the borders of the ranges of this rank's parts.
  void send_borders(DirectSwap& swap, const std::vector<OpenRecords>& own) {
    std::vector<std::vector<OpenRecords>> of_ranks;
    const std::vector<comm::Bytes> summaries = swap.take(kSummaries);
    for (std::size_t rank = 0; rank < of_rank_.size(); ++rank) {
      of_ranks.push_back(rank == me_ ? own : decode(summaries[rank], mine_.key_bytes));
      if (of_ranks.back().size() != parts_.of_rank[me_]) refuse_summaries();
    }
    const std::vector<OpenRecords> all = merged(std::move(of_ranks), sizes_[me_].marks);
    comm::Packer packer;
    for (std::size_t part = 0; part < all.size(); ++part) {
      const std::vector<Mark> marks = dividing_marks(all[part].summary, parts_.ranges[of_rank_[me_].first + part]);
      packer.number(marks.size());
      for (const Mark& mark : marks) pack(packer, mark);
    }
    own_borders_ = packer.take();
    for (std::size_t step = 1; step < of_rank_.size(); ++step)
      swap.send(kBorders, (me_ + step) % of_rank_.size(), own_borders_);
  }

  void cut_parts(const Parts& parts, const comm::Bytes& borders, std::vector<std::vector<Cut>>& cuts) {
    comm::Unpacker unpacker(borders);
    for (std::size_t part = parts.first; part < parts.end; ++part) {
      const std::vector<OpenRun> runs = runs_of(part);
      const std::uint64_t marks = unpacker.number();
      if (marks >= std::max<std::uint64_t>(1, parts_.ranges[part])) refuse_summaries();
      for (std::uint64_t left = marks; left > 0; --left) {
        const Mark mark = unpack_mark(unpacker);
        has_long_keys_ |= mine_.key_bytes == kAnyKeyBytes && mark.key.size() >= kMarkKeyBytes;
        cuts[part].push_back(cut_before(mine_, runs, mark));
      }
      cuts[part].resize(parts_.ranges[part] - 1, borders_[part]);
      check(cuts[part], part);
    }
    unpacker.end();
  }

  /// Checks cuts that come from other ranks' marks.
  void check(const std::vector<Cut>& cuts, std::size_t part) const {
    const Cut* before = &borders_[part];
    for (const Cut& cut : cuts) {
      for (std::size_t run = 0; run < cut.size(); ++run)
        if (cut[run] < (*before)[run] || cut[run] > borders_[part + 1][run]) refuse_summaries();
      before = &cut;
    }
  }

  const RankedRuns& mine_;
  std::span<const Cut> borders_;
  const PartsOfRanks& parts_;
  comm::Communicator& ranks_;
  std::size_t me_;
  std::vector<Parts> of_rank_;
  std::vector<DivisionSizes> sizes_;
  comm::Bytes own_borders_;
  bool has_long_keys_ = false;
};

/// Moves cuts of lines, which are exact for the first bytes of keys, to where whole keys say. Collective.
void order_whole_keys(const RankedRuns& mine, std::vector<Cut>& cuts, comm::Communicator& communicator) {
  std::vector<std::uint64_t> before;
  before.reserve(cuts.size());
  for (const Cut& cut : cuts) before.push_back(std::accumulate(cut.begin(), cut.end(), std::uint64_t{0}));
  communicator.all_reduce_sum(before);
  order_long_lines(mine, before, cuts, communicator);
}

}  // namespace

std::vector<Cut> divide_parts(const RankedRuns& mine, std::span<const Cut> borders, const PartsOfRanks& parts,
                              comm::Communicator& communicator) {
  assert(borders.size() == parts.ranges.size() + 1);
  if (std::ranges::all_of(parts.ranges, [](std::uint64_t ranges) { return ranges < 2; }))
    return {borders.begin(), borders.end()};
  Division division(mine, borders, parts, communicator);
  std::vector<std::vector<Cut>> between = division.divide();
  std::vector<Cut> cuts;
  for (std::size_t part = 0; part < between.size(); ++part) {
    cuts.push_back(borders[part]);
    std::ranges::move(between[part], std::back_inserter(cuts));
  }
  cuts.push_back(borders.back());
  if (division.has_long_keys()) order_whole_keys(mine, cuts, communicator);
  return cuts;
}

}  // namespace hetsort::sort
