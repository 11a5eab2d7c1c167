// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
//
// ga: a genetic algorithm (Nakazawa 2005, 4.3.3). A candidate holds, for each node, the end of its records in the row
// of all records, so that any ascending mixture of two candidates shares all records. The best 2 of 100 survive; their
// children take a part between two or more cuts from one and the rest from the other. In 5 % of the places a child's
// end moves between its neighbours. Children that do not ascend are dropped. When 30 generations bring nothing better,
// the search begins anew with the best candidate and 99 random ones. It stops when 8 such restarts bring nothing
// better, or when the time is over.
#include <fmt/format.h>

#include <algorithm>

#include "bench/research/search/best_plan.h"

namespace hetsort::research {
namespace {

constexpr std::size_t kPopulation = 100;  // the thesis' numbers
constexpr double kMutation = 0.05;
constexpr int kGenerationsWithoutGain = 30;  // enough for the two parents to become nearly the same
constexpr int kIdleRestarts = 8;
constexpr int kMaxDropped = 20;  // children dropped for one place, before a parent takes it

using Ends = std::vector<std::int64_t>;

struct Chromosome {
  Ends ends;
  double seconds = 0;
};

class Population {
 public:
  explicit Population(BestPlan& plan) : plan_(plan) { add_random(); }

  double best() const { return candidates_.front().seconds; }

  void next_generation() {
    std::vector<Chromosome> next(candidates_.begin(), candidates_.begin() + 2);
    next.reserve(kPopulation);
    while (next.size() < kPopulation && !plan_.time_is_over()) add(next, child());
    candidates_ = std::move(next);
    sort();
  }

  /// Replaces all candidates but the best by random ones.
  void restart() {
    candidates_.resize(1);
    add_random();
  }

 private:
  void add_random() {
    candidates_.reserve(kPopulation);
    while (candidates_.size() < kPopulation) {
      Ends ends = plan_.random_shares();
      for (std::size_t node = 1; node < ends.size(); ++node) ends[node] += ends[node - 1];
      add(candidates_, std::move(ends));
    }
    sort();
  }

  void add(std::vector<Chromosome>& to, Ends ends) {
    Ends shares = ends;
    for (std::size_t node = shares.size(); node-- > 1;) shares[node] -= shares[node - 1];
    const double seconds = plan_.within_limits(shares) ? plan_.judge(shares) : std::numeric_limits<double>::infinity();
    to.push_back({std::move(ends), seconds});
  }

  Ends child() {
    for (int dropped = 0; dropped < kMaxDropped; ++dropped) {
      Ends ends = crossed();
      mutate(ends);
      if (std::ranges::is_sorted(ends)) return ends;
    }
    Ends ends = candidates_[plan_.random()() % 2].ends;
    mutate(ends);
    return ends;
  }

  Ends crossed() {
    const std::size_t first = plan_.random()() % 2;
    Ends ends = candidates_[first].ends;
    const Ends& other = candidates_[1 - first].ends;
    const std::size_t pairs_of_cuts = 1 + plan_.random()() % 2;
    for (std::size_t i = 0; i < pairs_of_cuts; ++i) {
      std::size_t from = plan_.random()() % ends.size();
      std::size_t to = plan_.random()() % ends.size();
      if (from > to) std::swap(from, to);
      for (std::size_t node = from; node < to; ++node) ends[node] = other[node];
    }
    return ends;
  }

  void mutate(Ends& ends) {
    for (std::size_t node = 0; node + 1 < ends.size(); ++node) {
      if (plan_.uniform() >= kMutation) continue;
      const std::int64_t low = node > 0 ? ends[node - 1] : 0;
      if (ends[node + 1] > low) ends[node] = low + plan_.whole_up_to(ends[node + 1] - low);
    }
  }

  void sort() { std::ranges::stable_sort(candidates_, {}, &Chromosome::seconds); }

  BestPlan& plan_;
  std::vector<Chromosome> candidates_;
};

partition::Shares ga_shares(const partition::Problem& problem, double seconds) {
  BestPlan best(problem, seconds);
  Population population(best);
  int idle_restarts = 0;
  while (idle_restarts < kIdleRestarts && !best.time_is_over()) {
    const double before_restart = population.best();
    double before = before_restart;
    for (int idle = 0; idle < kGenerationsWithoutGain && !best.time_is_over(); ++idle) {
      population.next_generation();
      if (population.best() < before) idle = -1;
      before = population.best();
    }
    idle_restarts = before < before_restart ? 0 : idle_restarts + 1;
    population.restart();
  }
  partition::Shares shares = best.answer();
  if (idle_restarts == kIdleRestarts)
    shares.note = fmt::format("converged after {:.3g} of {:g} seconds: {} restarts brought nothing better",
                              best.elapsed(), seconds, kIdleRestarts);
  return shares;
}

}  // namespace

extern const partition::Strategy ga_strategy{.name = "ga",
                                             .parameter = "SECONDS",
                                             .summary = "genetic algorithm; sees waiting",
                                             .share = ga_shares,
                                             .slow = slow_search,
                                             .usual_parameter = kSearchSeconds};

}  // namespace hetsort::research
