// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
//
// gbs and gs: generalized binary search and greedy search (Nakazawa 2005, 4.3.1 and 4.3.2).
//
// Both move records away from the slowest node z. Greedy search moves them to the fastest node only, and stops when
// that would not help. Generalized binary search goes from the fastest node up and takes the first node j with f_j(x_j
// + 1) < f_z(x_z); when there is none, the shares are optimal for costs that never fall. Each moves as many records as
// keep f_j at or below f_z, at least one. Fig. 4.2 as printed takes z for a fixed node, loses the sum in its line 8 and
// bisects shares of any order; this is the form that the thesis proves. Costs of a node do not include waiting for
// others, so that neither search sees waiting. Cost: O(log p) and O(log N) evaluations a move, plus O(p) where fast
// nodes cannot take a record.
#include <limits>
#include <set>

#include "bench/research/search/best_plan.h"

namespace hetsort::research {
namespace {

/// Shares and what they cost, from the fastest node to the slowest.
class SortedShares {
 public:
  SortedShares(const BestPlan& plan, std::vector<std::int64_t> shares) : plan_(plan), shares_(std::move(shares)) {
    const std::size_t nodes = shares_.size();
    costs_.reserve(nodes);
    next_.reserve(nodes);
    for (std::size_t i = 0; i < nodes; ++i) {
      costs_.push_back(plan.cost(i, shares_[i]));
      next_.push_back(next_cost(i));
      order_.emplace(costs_[i], i);
    }
  }

  const std::vector<std::int64_t>& shares() const { return shares_; }
  std::size_t slowest() const { return order_.rbegin()->second; }

  /// The node that takes records from the slowest one; the slowest itself if none can. `all`: not only the fastest may.
  std::size_t taker(bool all) const {
    const std::size_t from = slowest();
    if (shares_[from] <= plan_.nodes()[from].low) return from;
    for (const auto& [cost, node] : order_) {
      if (cost >= costs_[from]) break;
      if (next_[node] < costs_[from]) return node;
      if (!all) break;
    }
    return from;
  }

  void move_to(std::size_t to) {
    const std::size_t from = slowest();
    const std::int64_t amount = amount_to_move(from, to);
    change(from, -amount);
    change(to, amount);
  }

 private:
  /// The node's cost with one more record; infinite where the node is full.
  double next_cost(std::size_t node) const {
    if (shares_[node] >= plan_.nodes()[node].high) return std::numeric_limits<double>::infinity();
    return plan_.cost(node, shares_[node] + 1);
  }

  std::int64_t amount_to_move(std::size_t from, std::size_t to) const {
    const std::int64_t given = shares_[from] - plan_.nodes()[from].low;
    const std::int64_t room = plan_.nodes()[to].high - shares_[to];
    std::int64_t low = 1;
    std::int64_t high = std::min(given, room);
    while (low < high) {
      const std::int64_t middle = low + (high - low + 1) / 2;
      if (plan_.cost(to, shares_[to] + middle) <= plan_.cost(from, shares_[from] - middle))
        low = middle;
      else
        high = middle - 1;
    }
    return low;
  }

  void change(std::size_t node, std::int64_t amount) {
    order_.erase({costs_[node], node});
    shares_[node] += amount;
    costs_[node] = plan_.cost(node, shares_[node]);
    next_[node] = next_cost(node);
    order_.emplace(costs_[node], node);
  }

  const BestPlan& plan_;
  std::vector<std::int64_t> shares_;
  std::vector<double> costs_;
  std::vector<double> next_;  // costs with one more record
  std::set<std::pair<double, std::size_t>> order_;
};

/// Judging shares takes longer than a move, so that not every move is judged.
partition::Shares search_by_moves(const partition::Problem& problem, double seconds, bool all) {
  BestPlan best(problem, seconds);
  SortedShares shares(best, best.random_shares());
  best.judge(shares.shares());
  const std::size_t moves_between = shares.shares().size();
  std::size_t moves = 0;
  for (std::size_t to = shares.taker(all); to != shares.slowest() && !best.time_is_over(); to = shares.taker(all)) {
    shares.move_to(to);
    if (++moves % moves_between == 0) best.judge(shares.shares());
  }
  best.judge(shares.shares());
  return best.answer();
}

partition::Shares gbs_shares(const partition::Problem& problem, double seconds) {
  return search_by_moves(problem, seconds, true);
}
partition::Shares gs_shares(const partition::Problem& problem, double seconds) {
  return search_by_moves(problem, seconds, false);
}

std::string needs_rising_costs(const partition::Problem& problem) {
  for (const partition::ProblemNode& node : problem.nodes)
    if (!node.compute->non_decreasing()) return "a cost falls somewhere; dp takes such costs";
  return {};
}

}  // namespace

extern const partition::Strategy gbs_strategy{
    .name = "gbs",
    .parameter = "SECONDS",
    .summary = "generalized binary search: optimal in the end, blind to waiting",
    .unsuitable = needs_rising_costs,
    .share = gbs_shares,
    .slow = slow_search,
    .usual_parameter = kSearchSeconds};
extern const partition::Strategy gs_strategy{.name = "gs",
                                             .parameter = "SECONDS",
                                             .summary = "greedy search between the slowest and the fastest node",
                                             .unsuitable = needs_rising_costs,
                                             .share = gs_shares,
                                             .slow = slow_search,
                                             .usual_parameter = kSearchSeconds};

}  // namespace hetsort::research
