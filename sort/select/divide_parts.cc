// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
#include "sort/select/divide_parts.h"

#include <algorithm>
#include <cassert>
#include <numeric>
#include <utility>

#include "sort/select/order_long_lines.h"
#include "sort/select/run_summary.h"
#include "sort/select/select_across_ranks.h"
#include "sort/select/selection_size.h"
#include "sort/select/verdict.h"

namespace hetsort::sort {

namespace {

/// A part of several ranges.
struct Part {
  std::size_t number = 0;
  std::uint64_t ranges = 0;
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

class Division {
 public:
  Division(const RankedRuns& mine, std::span<const Cut> borders, comm::Communicator& communicator)
      : mine_(mine), borders_(borders), communicator_(communicator) {}

  /// The cuts between the ranges of each of the parts. Collective.
  std::vector<std::vector<Cut>> divide(std::span<const Part> parts, const SelectionSizes& sizes) {
    std::vector<std::vector<OpenRun>> runs;
    std::vector<OpenRecords> open;
    for (const Part& part : parts) {
      runs.push_back(runs_of(part.number));
      const bool takes_few = mine_.runs.locates_cheaply();
      open.push_back(summarise(mine_, runs.back(), takes_few ? sizes.own_marks : sizes.marks, phase_of(communicator_)));
    }
    const std::vector<OpenRecords> all = reduce_summaries(open, sizes.marks, mine_.key_bytes, communicator_);
    comm::Packer packer;
    for (std::size_t i = 0; i < all.size(); ++i) {
      const std::vector<Mark> marks = dividing_marks(all[i].summary, parts[i].ranges);
      packer.number(marks.size());
      for (const Mark& mark : marks) pack(packer, mark);
    }
    const comm::Bytes bytes = communicator_.broadcast(packer.take());
    comm::Unpacker unpacker(bytes);
    std::vector<std::vector<Cut>> cuts(parts.size());
    for (std::size_t i = 0; i < parts.size(); ++i) {
      for (std::uint64_t left = unpacker.number(); left > 0; --left)
        cuts[i].push_back(cut_before(mine_, runs[i], unpack_mark(unpacker)));
      cuts[i].resize(parts[i].ranges - 1, borders_[parts[i].number]);
      check(cuts[i], parts[i].number);
    }
    unpacker.end();
    return cuts;
  }

 private:
  std::vector<OpenRun> runs_of(std::size_t part) const {
    std::vector<OpenRun> runs;
    for (std::size_t run = 0; run < mine_.runs.count(); ++run)
      runs.push_back({borders_[part][run], borders_[part + 1][run]});
    return runs;
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
  comm::Communicator& communicator_;
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

std::vector<Cut> divide_parts(const RankedRuns& mine, std::span<const Cut> borders,
                              std::span<const std::uint64_t> ranges, comm::Communicator& communicator) {
  assert(borders.size() == ranges.size() + 1);
  std::vector<Part> parts;
  SelectionRound round{.ranks = static_cast<std::uint64_t>(communicator.size()),
                       .searches = 0,
                       .splitters = 0,
                       .key_bytes = mine.key_bytes};
  for (std::size_t part = 0; part < ranges.size(); ++part) {
    if (ranges[part] < 2) continue;
    parts.push_back({part, ranges[part]});
    round.splitters += ranges[part];
  }
  round.searches = parts.size();
  std::vector<Cut> cuts;
  const auto add = [&](std::size_t first, std::size_t end) {
    cuts.insert(cuts.end(), borders.begin() + static_cast<std::ptrdiff_t>(first),
                borders.begin() + static_cast<std::ptrdiff_t>(end));
  };
  if (parts.empty()) {
    add(0, borders.size());
    return cuts;
  }
  const SelectionSizes sizes = dividing_round(round);
  Division division(mine, borders, communicator);
  std::size_t added = 0;
  for (std::span<const Part> left = parts; !left.empty();) {
    const std::span<const Part> together = left.first(std::min(left.size(), std::size_t{sizes.searches_a_message}));
    std::vector<std::vector<Cut>> between = division.divide(together, sizes);
    for (std::size_t i = 0; i < together.size(); ++i) {
      add(added, together[i].number + 1);
      added = together[i].number + 1;
      std::ranges::move(between[i], std::back_inserter(cuts));
    }
    left = left.subspan(together.size());
  }
  add(added, borders.size());
  if (mine.key_bytes == kAnyKeyBytes) order_whole_keys(mine, cuts, communicator);
  return cuts;
}

}  // namespace hetsort::sort
