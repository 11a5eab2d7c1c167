// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
#include "sort/select/select_splitters.h"

#include <algorithm>
#include <cassert>
#include <numeric>

#include "sort/select/run_probe.h"

namespace hetsort::sort {

namespace {

/// The positions among which a cut lies, for each run.
struct Bracket {
  Cut low;
  Cut high;

  std::uint64_t open(std::size_t run) const { return high[run] - low[run]; }
};

/// A key prefix of a run that is in memory.
struct KnownPrefix {
  Element prefix = 0;
  std::uint32_t run = 0;

  bool operator<(const KnownPrefix& other) const {
    return prefix != other.prefix ? prefix < other.prefix : run < other.run;
  }
};

/// Narrows all cuts at once. It visits the known prefixes of all runs in order and uses each as a pivot. If a run has j
/// of them before the pivot, the record of the last one and all before it lie before the pivot, and at most those in
/// front of the next one. If the prefix is not the whole key, only the first of equal prefixes is a pivot, because
/// records with equal prefixes are not in order yet.
class Bracketing {
 public:
  Bracketing(std::span<const SpilledRun> runs, bool prefix_is_whole_key)
      : runs_(runs), every_start_(prefix_is_whole_key) {
    for (std::uint32_t run = 0; run < runs.size(); ++run)
      for (const Element prefix : runs[run].prefixes.elements) starts_.push_back({prefix, run});
    std::stable_sort(starts_.begin(), starts_.end());
  }

  std::vector<Bracket> brackets(std::span<const std::uint64_t> ranks) const {
    std::vector<std::size_t> last_below(ranks.size(), 0);                // last pivot that is surely not behind the cut
    std::vector<std::size_t> first_above(ranks.size(), starts_.size());  // first pivot that is surely behind it
    walk([&](std::size_t at, std::uint64_t fewest, std::uint64_t most, const Cut&) {
      for (std::size_t i = 0; i < ranks.size(); ++i) {
        if (most <= ranks[i]) last_below[i] = at;
        if (fewest > ranks[i]) first_above[i] = std::min(first_above[i], at);
      }
    });
    Bracket whole{Cut(runs_.size(), 0), {}};
    for (const SpilledRun& run : runs_) whole.high.push_back(run.records);
    std::vector<Bracket> result(ranks.size(), whole);
    walk([&](std::size_t at, std::uint64_t, std::uint64_t, const Cut& seen) {
      for (std::size_t i = 0; i < ranks.size(); ++i) {
        if (at != last_below[i] && at != first_above[i]) continue;
        for (std::size_t run = 0; run < runs_.size(); ++run) {
          if (at == last_below[i]) result[i].low[run] = fewest_before(run, seen[run]);
          if (at == first_above[i]) result[i].high[run] = most_before(run, seen[run]);
        }
      }
    });
    return result;
  }

 private:
  std::uint64_t fewest_before(std::size_t run, std::uint64_t seen) const {
    return seen == 0 ? 0 : runs_[run].prefixes.position(seen - 1) + 1;
  }
  std::uint64_t most_before(std::size_t run, std::uint64_t seen) const {
    const RunPrefixes& known = runs_[run].prefixes;
    return seen < known.count() ? known.position(seen) : runs_[run].records;
  }

  /// Calls visit(start, fewest, most, seen) for each pivot: bounds on the records before it in all runs, and the known
  /// prefixes before it in each.
  template <typename Visit>
  void walk(const Visit& visit) const {
    Cut seen(runs_.size(), 0);
    std::uint64_t fewest = 0;
    std::uint64_t most = 0;
    for (std::size_t at = 0; at < starts_.size(); ++at) {
      if (at == 0 || every_start_ || starts_[at].prefix != starts_[at - 1].prefix) visit(at, fewest, most, seen);
      const std::uint32_t run = starts_[at].run;
      fewest -= fewest_before(run, seen[run]);
      most -= most_before(run, seen[run]);
      ++seen[run];
      fewest += fewest_before(run, seen[run]);
      most += most_before(run, seen[run]);
    }
  }

  std::span<const SpilledRun> runs_;
  bool every_start_;
  std::vector<KnownPrefix> starts_;  // in order; those of one run with equal prefixes are ordered by position
};

/// One record of one run.
struct Place {
  std::size_t run = 0;
  std::uint64_t position = 0;
};

class SplitterSelection {
 public:
  explicit SplitterSelection(RunProbe& probe) : probe_(probe) {}

  /// Narrows `bracket` until it is the cut of `rank`, which it returns.
  Cut select(Bracket bracket, std::uint64_t rank) {
    const std::size_t runs = bracket.low.size();
    while (true) {
      const Place pivot = choose_pivot(bracket);
      if (pivot.run == runs) return bracket.low;
      Cut before(runs);
      for (std::size_t run = 0; run < runs; ++run) before[run] = count_before(bracket, run, pivot);
      const std::uint64_t total = std::accumulate(before.begin(), before.end(), std::uint64_t{0});
      if (total == rank) return before;
      (total < rank ? bracket.low : bracket.high) = before;
      if (total < rank) bracket.low[pivot.run] = pivot.position + 1;  // the pivot itself lies before the cut
    }
  }

 private:
  /// The median of the middles of open intervals, weighted by their lengths; run = number of runs when none is open.
  Place choose_pivot(const Bracket& bracket) {
    std::vector<Place> middles;
    std::uint64_t open = 0;
    for (std::size_t run = 0; run < bracket.low.size(); ++run) {
      if (bracket.open(run) == 0) continue;
      middles.push_back({run, bracket.low[run] + bracket.open(run) / 2});
      open += bracket.open(run);
    }
    if (middles.empty()) return {bracket.low.size(), 0};
    std::sort(middles.begin(), middles.end(), [&](const Place& a, const Place& b) { return before(a, b); });
    std::uint64_t weight = 0;
    for (const Place& middle : middles) {
      weight += bracket.open(middle.run);
      if (2 * weight >= open) return middle;
    }
    return middles.back();
  }

  std::uint64_t count_before(const Bracket& bracket, std::size_t run, const Place& pivot) {
    if (run == pivot.run) return pivot.position;
    std::uint64_t low = bracket.low[run];
    std::uint64_t high = bracket.high[run];
    while (low < high) {
      const std::uint64_t middle = low + (high - low) / 2;
      if (before({run, middle}, pivot))
        low = middle + 1;
      else
        high = middle;
    }
    return low;
  }

  /// Whether one record comes before the other by (key, run, position).
  bool before(const Place& a, const Place& b) {
    const Element* const a_prefix = probe_.known_prefix(a.run, a.position);
    const Element* const b_prefix = probe_.known_prefix(b.run, b.position);
    int order = 0;
    if (a_prefix != nullptr && b_prefix != nullptr && *a_prefix != *b_prefix)
      order = *a_prefix < *b_prefix ? -1 : 1;
    else
      order = probe_.key(a.run, a.position).compare(probe_.key(b.run, b.position));
    if (order != 0) return order < 0;
    return a.run != b.run ? a.run < b.run : a.position < b.position;
  }

  RunProbe& probe_;
};

}  // namespace

std::vector<Cut> select_splitters(std::span<const SpilledRun> runs, const io::SpillSpace& space,
                                  const RecordLayout& layout, std::span<const std::uint64_t> ranks) {
  assert(std::ranges::is_sorted(ranks));
  const std::vector<Bracket> brackets = Bracketing(runs, prefix_is_whole_key(layout)).brackets(ranks);
  RunProbe probe(runs, space, layout);
  SplitterSelection selection(probe);
  std::vector<Cut> cuts;
  for (std::size_t i = 0; i < ranks.size(); ++i) cuts.push_back(selection.select(brackets[i], ranks[i]));
  return cuts;
}

}  // namespace hetsort::sort
