// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
#include "sort/select/select_across_ranks.h"

#include <algorithm>
#include <map>
#include <optional>
#include <stdexcept>

#include "sort/select/order_long_lines.h"
#include "sort/select/quantile_summary.h"

namespace hetsort::sort {

namespace {

// Maximum number of marks of one reduction, and maximum bytes of them, for all splitters together.
constexpr std::size_t kMarksARound = 512;
constexpr std::size_t kMarkBytesARound = std::size_t{1} << 20;
// Minimum marks of a splitter: with fewer it would need more rounds.
constexpr std::size_t kMinMarks = 64;
// Each round closes in on every splitter by a factor, so that 5 rounds are many. More than this means that the ranks'
// summaries contradict each other.
constexpr int kMaxRounds = 200;

/// The part of one run that a cut may lie in: records [first, last), some of whose keys are known.
struct OpenRun {
  std::uint64_t first = 0;
  std::uint64_t last = 0;
  std::vector<RunMark> known;
};

/// A search for splitters among the records of all ranks from `low` on and before `high`. It serves all splitters
/// there.
struct Search {
  std::optional<Mark> low;  // lower bound; no mark = no bound
  std::optional<Mark> high;
  std::vector<std::size_t> splitters;  // the numbers of the splitters
  std::vector<OpenRun> runs;           // runs of this rank
};

class Selection {
 public:
  Selection(const RankedRuns& mine, std::span<const std::uint64_t> ranks, comm::Communicator& communicator)
      : mine_(mine), ranks_(ranks), communicator_(communicator), cuts_(ranks.size()) {
    Search whole;
    for (std::size_t i = 0; i < ranks.size(); ++i) whole.splitters.push_back(i);
    for (std::size_t run = 0; run < mine.runs.count(); ++run) whole.runs.push_back({0, mine.runs.records(run), {}});
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
    const std::size_t key_bytes = mine_.key_bytes == kAnyKeyBytes ? kMarkKeyBytes : mine_.key_bytes;
    const std::size_t all = std::min(kMarksARound, kMarkBytesARound / (key_bytes + sizeof(SummaryMark)));
    const std::size_t each = std::max(kMinMarks, all / searches_.size());
    std::vector<OpenRecords> open;
    for (Search& search : searches_) open.push_back(summarise(search, each));
    const std::vector<OpenRecords> global = reduce(open, each);
    if (global.size() != searches_.size()) refuse_summaries();
    std::vector<Search> next;
    for (std::size_t i = 0; i < searches_.size(); ++i) narrow(searches_[i], global[i], next);
    searches_ = std::move(next);
  }

  /// A summary of those of this rank's records among which splitters still lie.
  OpenRecords summarise(Search& search, std::size_t most) {
    OpenRecords found;
    const std::size_t most_a_run = std::max(kMinMarks, 4 * most / std::max<std::size_t>(1, search.runs.size()));
    for (std::size_t run = 0; run < search.runs.size(); ++run) {
      OpenRun& open = search.runs[run];
      found.records_before += open.first;
      open.known = mine_.runs.sample(run, open.first, open.last, most_a_run);
      QuantileSummary part;
      part.records = open.last - open.first;
      for (const RunMark& mark : open.known) part.marks.push_back(in_part(mark, run, open.first));
      found.summary = merge(found.summary, part);
      found.summary.thin(most);
    }
    mine_.runs.forget();
    return found;
  }

  SummaryMark in_part(const RunMark& mark, std::size_t run, std::uint64_t first) const {
    const std::uint64_t before = mark.before - first;
    return {mark_of(mark, run), before, before, mark.is_record};
  }
  /// The number of a run in marks, which count from 1: a mark of run 0 stands before all runs.
  std::uint64_t place_of_run(std::size_t run) const { return mine_.places[run] + 1; }
  Mark mark_of(const RunMark& mark, std::size_t run) const {
    return mark.is_record ? Mark{mark.key, place_of_run(run), mark.before} : Mark{mark.key, 0, 0};
  }

  std::vector<OpenRecords> reduce(const std::vector<OpenRecords>& open, std::size_t each) {
    const std::size_t key_bytes = mine_.key_bytes;
    const auto combine = [key_bytes, each](const comm::Bytes& low, const comm::Bytes& high) {
      std::vector<OpenRecords> combined = decode(low, key_bytes);
      const std::vector<OpenRecords> others = decode(high, key_bytes);
      if (others.size() != combined.size()) refuse_summaries();
      for (std::size_t i = 0; i < combined.size(); ++i) {
        combined[i].records_before += others[i].records_before;
        combined[i].summary = merge(combined[i].summary, others[i].summary);
        combined[i].summary.thin(each);
      }
      return encode(combined, key_bytes);
    };
    return decode(communicator_.all_reduce(encode(open, key_bytes), combine), key_bytes);
  }

  /// Finds the splitters of `search`, or narrows the search for them.
  void narrow(const Search& search, const OpenRecords& global, std::vector<Search>& next) {
    const std::vector<SummaryMark>& marks = global.summary.marks;
    // One search serves all splitters between the same two marks. The marks ascend with the ranks.
    std::map<std::pair<std::size_t, std::size_t>, Search> between;
    for (const std::size_t splitter : search.splitters) {
      const std::uint64_t rank = ranks_[splitter] - global.records_before;
      if (rank >= global.summary.records) {
        cut_at_end(search, splitter);
        continue;
      }
      std::size_t low = 0;  // number of marks with at most `rank` records before them
      while (low < marks.size() && marks[low].most_before <= rank) ++low;
      if (low > 0 && marks[low - 1].fewest_before == rank) {
        cut_before(search, splitter, marks[low - 1].mark);
        continue;
      }
      std::size_t high = low;
      while (high < marks.size() && marks[high].fewest_before <= rank) ++high;
      between[{low, high}].splitters.push_back(splitter);
    }
    for (auto& [bounds, narrowed] : between) {
      narrowed.low = bounds.first > 0 ? std::optional(marks[bounds.first - 1].mark) : search.low;
      narrowed.high = bounds.second < marks.size() ? std::optional(marks[bounds.second].mark) : search.high;
      narrow_runs(search, narrowed);
      next.push_back(std::move(narrowed));
    }
  }

  void narrow_runs(const Search& search, Search& narrowed) const {
    for (std::size_t run = 0; run < search.runs.size(); ++run) {
      const OpenRun& open = search.runs[run];
      OpenRun closer{open.first, open.last, {}};
      for (const RunMark& known : open.known) {
        const Mark mark = mark_of(known, run);
        if (narrowed.low && mark <= *narrowed.low) closer.first = known.before;
        if (narrowed.low && mark < *narrowed.low && known.is_record) closer.first = known.before + 1;
        if (narrowed.high && mark >= *narrowed.high) {
          closer.last = known.before;
          break;
        }
      }
      if (closer.first > closer.last) refuse_summaries();
      narrowed.runs.push_back(std::move(closer));
    }
  }

  void cut_at_end(const Search& search, std::size_t splitter) {
    for (const OpenRun& open : search.runs) cuts_[splitter].push_back(open.last);
  }

  void cut_before(const Search& search, std::size_t splitter, const Mark& mark) {
    for (std::size_t run = 0; run < search.runs.size(); ++run) {
      cuts_[splitter].push_back(records_before(search.runs[run], run, mark));
      mine_.runs.forget();
    }
  }

  std::uint64_t records_before(const OpenRun& open, std::size_t run, const Mark& mark) {
    std::uint64_t low = open.first;
    std::uint64_t high = open.last;
    for (const RunMark& known : open.known) {
      if (mark_of(known, run) <= mark) low = known.before;
      if (mark_of(known, run) >= mark) {
        high = known.before;
        break;
      }
    }
    if (place_of_run(run) == mark.run) return mark.position;
    while (low < high) {
      const std::uint64_t middle = low + (high - low) / 2;
      if (Mark{mine_.runs.key(run, middle), place_of_run(run), middle} < mark)
        low = middle + 1;
      else
        high = middle;
    }
    return low;
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
};

}  // namespace

std::vector<Cut> select_across_ranks(const RankedRuns& mine, std::span<const std::uint64_t> ranks,
                                     comm::Communicator& communicator) {
  return Selection(mine, ranks, communicator).run();
}

}  // namespace hetsort::sort
