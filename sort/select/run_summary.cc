// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
#include "sort/select/run_summary.h"

#include <algorithm>
#include <utility>

namespace hetsort::sort {

namespace {

/// The number of a run in marks, which count from 1: a mark of run 0 stands before all runs.
std::uint64_t place_of_run(const RankedRuns& mine, std::size_t run) { return mine.places[run] + 1; }

/// One mark of one run among those of all runs.
struct PlacedMark {
  Mark mark;
  std::size_t run = 0;
  std::size_t number = 0;  // in the run's known marks
};

/// Visits the marks of all runs in order, with the sums of the bounds on the records before them.
class BoundsOfAll {
 public:
  explicit BoundsOfAll(std::span<const OpenRun> runs) : runs_(runs), of_run_(runs.size()) {
    for (std::size_t run = 0; run < runs.size(); ++run) set(run, 0, next_known(run, 0));
  }

  /// The mark at which equal `marks` of several runs stand.
  SummaryMark at(std::span<const PlacedMark> marks) {
    SummaryMark found{marks.front().mark, 0, 0, false};
    for (const PlacedMark& each : marks) {
      const std::uint64_t before = known(each).before - runs_[each.run].first;
      set(each.run, before, before);
      found.is_record |= known(each).is_record;
    }
    found.fewest_before = sum_.fewest;
    found.most_before = sum_.most;
    for (const PlacedMark& each : marks) {
      const std::uint64_t before = known(each).before - runs_[each.run].first;
      set(each.run, before + (known(each).is_record ? 1 : 0), next_known(each.run, each.number + 1));
    }
    return found;
  }

 private:
  struct Bounds {
    std::uint64_t fewest = 0;
    std::uint64_t most = 0;
  };

  const RunMark& known(const PlacedMark& mark) const { return runs_[mark.run].known[mark.number]; }
  std::uint64_t next_known(std::size_t run, std::size_t number) const {
    const OpenRun& open = runs_[run];
    return (number < open.known.size() ? open.known[number].before : open.last) - open.first;
  }
  void set(std::size_t run, std::uint64_t fewest, std::uint64_t most) {
    sum_.fewest += fewest - of_run_[run].fewest;
    sum_.most += most - of_run_[run].most;
    of_run_[run] = {fewest, most};
  }

  std::span<const OpenRun> runs_;
  std::vector<Bounds> of_run_;
  Bounds sum_;
};

}  // namespace

Mark mark_of(const RankedRuns& mine, const RunMark& mark, std::size_t run) {
  return mark.is_record ? Mark{mark.key, place_of_run(mine, run), mark.before} : Mark{mark.key, 0, 0};
}

OpenRecords summarise(const RankedRuns& mine, std::span<OpenRun> runs, std::size_t most, double phase) {
  constexpr std::size_t kMinMarksOfRun = 16;
  const std::size_t most_a_run = std::max(kMinMarksOfRun, 4 * most / std::max<std::size_t>(1, runs.size()));
  OpenRecords found;
  found.locates_cheaply = mine.runs.locates_cheaply();
  std::vector<PlacedMark> marks;
  for (std::size_t run = 0; run < runs.size(); ++run) {
    OpenRun& open = runs[run];
    open.known = mine.runs.sample(run, open.first, open.last, most_a_run);
    found.records_before += open.first;
    found.summary.records += open.last - open.first;
    for (std::size_t number = 0; number < open.known.size(); ++number)
      marks.push_back({mark_of(mine, open.known[number], run), run, number});
  }
  mine.runs.forget();
  if (runs.size() > 1) std::ranges::sort(marks, {}, &PlacedMark::mark);
  found.summary.marks.reserve(marks.size());
  BoundsOfAll bounds(runs);
  for (std::span<const PlacedMark> left = marks; !left.empty();) {
    std::size_t equal = 1;
    while (equal < left.size() && left[equal].mark == left.front().mark) ++equal;
    found.summary.marks.push_back(bounds.at(left.first(equal)));
    left = left.subspan(equal);
  }
  found.summary.thin(most, phase);
  return found;
}

namespace {

/// Whether a known mark of `run` is below `mark`.
bool is_below(const RankedRuns& mine, const RunMark& known, std::size_t run, const Mark& mark) {
  if (const int order = known.key.compare(mark.key); order != 0) return order < 0;
  const std::uint64_t place = known.is_record ? place_of_run(mine, run) : 0;
  return place != mark.run ? place < mark.run : known.is_record && known.before < mark.position;
}

/// The number of known marks below `mark`.
std::size_t known_below(const RankedRuns& mine, const OpenRun& open, std::size_t run, const Mark& mark) {
  const auto below = [&](const RunMark& known) { return is_below(mine, known, run, mark); };
  return static_cast<std::size_t>(std::ranges::partition_point(open.known, below) - open.known.begin());
}

}  // namespace

OpenRun narrowed(const RankedRuns& mine, const OpenRun& open, std::size_t run, const MarkBracket& bracket) {
  OpenRun closer{open.first, open.last};
  if (bracket.low) {
    const std::size_t below = known_below(mine, open, run, *bracket.low);
    if (below > 0) closer.first = open.known[below - 1].before + (open.known[below - 1].is_record ? 1 : 0);
    if (below < open.known.size() && mark_of(mine, open.known[below], run) == *bracket.low)
      closer.first = open.known[below].before;
  }
  if (bracket.high) {
    const std::size_t below = known_below(mine, open, run, *bracket.high);
    if (below < open.known.size()) closer.last = open.known[below].before;
  }
  if (closer.first > closer.last) refuse_summaries();
  return closer;
}

namespace {

/// The records of a run that may be around `mark`, after a look at all keys that are in memory.
OpenRun closest(const RankedRuns& mine, const OpenRun& open, std::size_t run, const Mark& mark) {
  constexpr std::size_t kMarks = 64;
  OpenRun closer = narrowed(mine, open, run, {mark, mark});
  while (closer.first < closer.last) {
    closer.known = mine.runs.marks_in_memory(run, closer.first, closer.last, kMarks);
    const std::uint64_t before = closer.last - closer.first;
    closer = narrowed(mine, closer, run, {mark, mark});
    if (closer.last - closer.first == before) break;
  }
  return closer;
}

}  // namespace

Cut cut_before(const RankedRuns& mine, std::span<const OpenRun> runs, const Mark& mark) {
  Cut cut;
  for (std::size_t run = 0; run < runs.size(); ++run) {
    if (place_of_run(mine, run) == mark.run) {
      cut.push_back(mark.position);
      continue;
    }
    auto [low, high, known] = closest(mine, runs[run], run, mark);
    while (low < high) {
      const std::uint64_t middle = low + (high - low) / 2;
      if (Mark{mine.runs.key(run, middle), place_of_run(mine, run), middle} < mark)
        low = middle + 1;
      else
        high = middle;
    }
    cut.push_back(low);
    mine.runs.forget();
  }
  return cut;
}

}  // namespace hetsort::sort
