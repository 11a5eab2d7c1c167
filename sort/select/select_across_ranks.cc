// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
#include "sort/select/select_across_ranks.h"

#include <algorithm>
#include <cassert>
#include <cmath>
#include <utility>

#include "sort/select/order_long_lines.h"
#include "sort/select/run_summary.h"
#include "sort/select/selection_size.h"
#include "sort/select/verdict.h"

namespace hetsort::sort {

namespace {

// Each round closes in on every splitter by a factor, so that 5 rounds are many. More than this means that the ranks'
// summaries contradict each other.
constexpr int kMaxRounds = 200;

/// Records [first, last) of a run.
struct Interval {
  std::uint64_t first = 0;
  std::uint64_t last = 0;
};

/// A search for splitters in the same interval of the order of all records.
struct Search {
  std::vector<std::size_t> splitters{};  // the numbers of the splitters, which ascend
  bool is_certain = true;                // whether the splitters are certainly there; else they may be in `wider`
  bool is_careful = false;               // whether further brackets must be certain, because one was not
  bool is_first = false;                 // whether it is the search among all records
  bool takes_all = false;                // whether it looks at each record that is left
  std::vector<OpenRun> runs{};           // runs of this rank
  std::vector<Interval> wider{};         // of the runs
};

class Selection {
 public:
  Selection(const RankedRuns& mine, std::span<const std::uint64_t> ranks, comm::Communicator& communicator)
      : mine_(mine), ranks_(ranks), communicator_(communicator), cuts_(ranks.size()), phase_(phase_of(communicator)) {
    Search whole{.is_first = true};
    for (std::size_t i = 0; i < ranks.size(); ++i) whole.splitters.push_back(i);
    for (std::size_t run = 0; run < mine.runs.count(); ++run) whole.runs.push_back({0, mine.runs.records(run)});
    if (!ranks.empty()) searches_.push_back(std::move(whole));
  }

  std::vector<Cut> run() {
    for (int rounds = 0; !searches_.empty(); ++rounds) {
      if (rounds == kMaxRounds) refuse_summaries();
      round();
    }
    if (mine_.key_bytes == kAnyKeyBytes) order_long_lines(mine_, ranks_, cuts_, communicator_);
    check_cuts();
    return std::move(cuts_);
  }

 private:
  void round() {
    SelectionRound now{.ranks = static_cast<std::uint64_t>(communicator_.size()),
                       .searches = searches_.size(),
                       .splitters = 0,
                       .key_bytes = mine_.key_bytes,
                       .takes_all = most_take_all()};
    for (const Search& search : searches_) now.splitters += search.splitters.size();
    const SelectionSizes sizes = exact_round(now);
    std::vector<Search> next;
    for (std::span<Search> left = searches_; !left.empty();) {
      const std::span<Search> together = left.first(std::min(left.size(), std::size_t{sizes.searches_a_message}));
      const std::vector<std::vector<Verdict>> verdicts = agree(together, sizes);
      for (std::size_t i = 0; i < together.size(); ++i) follow(together[i], verdicts[i], next);
      left = left.subspan(together.size());
    }
    searches_ = std::move(next);
  }

  /// Whether room for all records of the small searches is worth larger messages.
  bool most_take_all() const {
    const auto take_all = static_cast<std::size_t>(std::ranges::count_if(searches_, &Search::takes_all));
    return 2 * take_all > searches_.size();
  }

  /// The verdicts about some searches, on all ranks. Collective.
  std::vector<std::vector<Verdict>> agree(std::span<Search> searches, const SelectionSizes& sizes) {
    std::vector<OpenRecords> open;
    for (Search& search : searches) {
      const bool takes_few = search.is_first ? mine_.runs.locates_cheaply() : !search.is_certain && !search.takes_all;
      open.push_back(summarise(mine_, search.runs, takes_few ? sizes.own_marks : sizes.marks, phase_));
    }
    const std::vector<OpenRecords> all = reduce_summaries(std::move(open), sizes.marks, mine_.key_bytes, communicator_);
    comm::Packer packer;
    for (std::size_t i = 0; i < all.size(); ++i) pack(packer, judge(searches[i], all[i], sizes));
    const comm::Bytes bytes = communicator_.broadcast(packer.take());
    comm::Unpacker unpacker(bytes);
    std::vector<std::vector<Verdict>> verdicts(searches.size());
    for (std::vector<Verdict>& each : verdicts) each = unpack_verdicts(unpacker);
    unpacker.end();
    return verdicts;
  }

  std::vector<Verdict> judge(const Search& search, const OpenRecords& all, const SelectionSizes& sizes) const {
    std::vector<std::uint64_t> targets;
    for (const std::size_t splitter : search.splitters) targets.push_back(ranks_[splitter]);
    return sort::judge(
        all, targets,
        {static_cast<std::uint64_t>(communicator_.size()), sizes.marks, search.is_careful || !all.locates_cheaply});
  }

  /// Ends a search, or continues it in other intervals, as its verdicts say.
  void follow(const Search& search, const std::vector<Verdict>& verdicts, std::vector<Search>& next) {
    std::span<const std::size_t> left = search.splitters;
    for (const Verdict& verdict : verdicts) {
      if (verdict.splitters > left.size()) refuse_summaries();
      const std::span<const std::size_t> splitters = left.first(verdict.splitters);
      left = left.subspan(verdict.splitters);
      if (verdict.kind == Verdict::Kind::kFound || verdict.kind == Verdict::Kind::kEnd) {
        const Cut cut = verdict.kind == Verdict::Kind::kFound ? cut_before(mine_, search.runs, *verdict.bracket.low)
                                                              : ends_of(search);
        for (const std::size_t splitter : splitters) cuts_[splitter] = cut;
        continue;
      }
      Search further = verdict.kind == Verdict::Kind::kOpen ? closer(search, verdict) : beside(search, verdict.kind);
      further.splitters.assign(splitters.begin(), splitters.end());
      next.push_back(std::move(further));
    }
    if (!left.empty()) refuse_summaries();
  }

  static Cut ends_of(const Search& search) {
    Cut cut;
    for (const OpenRun& open : search.runs) cut.push_back(open.last);
    return cut;
  }

  /// The search within the bracket of a verdict. If the cut may be outside of it, the exact positions of its marks are
  /// necessary: only the records before them show it.
  Search closer(const Search& search, const Verdict& verdict) const {
    Search further{.is_certain = verdict.is_certain, .is_careful = search.is_careful, .takes_all = verdict.takes_all};
    const auto& [low, high] = verdict.bracket;
    if (verdict.is_certain) {
      for (std::size_t run = 0; run < search.runs.size(); ++run)
        further.runs.push_back(narrowed(mine_, search.runs[run], run, verdict.bracket));
      return further;
    }
    Cut first;
    for (const OpenRun& open : search.runs) first.push_back(open.first);
    if (low) first = cut_before(mine_, search.runs, *low);
    const Cut last = high ? cut_before(mine_, search.runs, *high) : ends_of(search);
    for (std::size_t run = 0; run < search.runs.size(); ++run) {
      if (first[run] > last[run]) refuse_summaries();
      further.runs.push_back({first[run], last[run]});
      further.wider.push_back({search.runs[run].first, search.runs[run].last});
    }
    return further;
  }

  /// The search in the records beside one that does not contain the cut.
  static Search beside(const Search& search, Verdict::Kind kind) {
    if (search.is_certain) refuse_summaries();
    Search further{.is_careful = true};
    for (std::size_t run = 0; run < search.runs.size(); ++run) {
      const auto [first, last] = search.wider[run];
      further.runs.push_back(kind == Verdict::Kind::kBelow ? OpenRun{first, search.runs[run].first}
                                                           : OpenRun{search.runs[run].last, last});
    }
    return further;
  }

  /// Cuts come from other ranks' marks. Outside of a run, or in another order, they would make the exchange read memory
  /// that is no record of the run.
  void check_cuts() const {
    for (std::size_t i = 0; i < cuts_.size(); ++i)
      for (std::size_t run = 0; run < mine_.runs.count(); ++run)
        if (cuts_[i][run] > mine_.runs.records(run) || (i > 0 && cuts_[i][run] < cuts_[i - 1][run])) refuse_summaries();
  }

  const RankedRuns& mine_;
  std::span<const std::uint64_t> ranks_;
  comm::Communicator& communicator_;
  std::vector<Cut> cuts_;
  std::vector<Search> searches_;
  double phase_;
};

}  // namespace

std::vector<OpenRecords> reduce_summaries(std::vector<OpenRecords> mine, std::size_t most_marks, std::size_t key_bytes,
                                          comm::Communicator& communicator) {
  if (communicator.size() == 1) return mine;
  const auto combine = [&](const comm::Bytes& low, const comm::Bytes& high) {
    std::vector<OpenRecords> combined = decode(low, key_bytes);
    const std::vector<OpenRecords> others = decode(high, key_bytes);
    if (others.size() != combined.size()) refuse_summaries();
    for (std::size_t i = 0; i < combined.size(); ++i) combined[i].add(others[i], most_marks);
    return encode(combined, key_bytes);
  };
  comm::Bytes encoded = encode(mine, key_bytes);
  const std::size_t searches = mine.size();
  mine = {};  // a rank waits for the ranks below it with one copy of its summaries
  const comm::Bytes bytes = communicator.reduce(std::move(encoded), combine);
  if (communicator.rank() != 0) return {};
  std::vector<OpenRecords> all = decode(bytes, key_bytes);
  if (all.size() != searches) refuse_summaries();
  return all;
}

double phase_of(const comm::Communicator& communicator) {
  constexpr double kGoldenRatio = 0.6180339887498949;  // spreads the phases of any number of ranks evenly
  const double turns = kGoldenRatio * communicator.rank();
  return turns - std::floor(turns);
}

std::vector<Cut> select_across_ranks(const RankedRuns& mine, std::span<const std::uint64_t> ranks,
                                     comm::Communicator& communicator) {
  assert(std::ranges::is_sorted(ranks));
  return Selection(mine, ranks, communicator).run();
}

}  // namespace hetsort::sort
