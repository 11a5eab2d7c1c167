// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
//
// scatter-exact: the integer optimum of a scatter in O(p N), for receive costs c [n > 0] + lambda n and any
// non-decreasing compute costs: the dynamic program of Genaud, Giersch, Vivien 2003 without its inner loop.
//
// cost(d, i) = min_e receive_i(e) + max(compute_i(e), cost(d - e, i + 1)). Let e_max(d) be the smallest e for which
// compute_i(e) >= cost(d - e, i + 1). From one d to the next e_max moves by 0 or 1. At and above it the minimum is at
// e_max itself; below it the value is c + lambda d + (cost(m) - lambda m) with m = d - e, a minimum over a window that
// only moves right, kept in a monotone queue. e = 0, which saves c, is a case of its own. Caps shorten the window.
//
// Memory: 4 p (N + 1) bytes for the choices and 28 (N + 1) for the rows.
#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "partition/cost/doubles.h"
#include "partition/error.h"
#include "partition/lower_bound.h"
#include "partition/strategies/scatter_model.h"

namespace hetsort::partition {
namespace {

constexpr double kMaxChoices = 1e9;    // choices that take 4 GB
constexpr double kQuickChoices = 1e8;  // choices that take about two seconds

double choices(const Problem& problem) {
  return (static_cast<double>(problem.records) + 1) * static_cast<double>(problem.nodes.size());
}

std::string unsuitable_for_scatter_exact(const Problem& problem) {
  for (const ProblemNode& node : problem.nodes) {
    if (!node.compute->non_decreasing())
      return fmt::format("the cost of node '{}' falls somewhere; scatter-dp takes such curves", node.name);
    if (node.receive && !node.receive->affine())
      return fmt::format(
          "it takes linear and affine receive costs only, and that of node '{}' is not; "
          "scatter-dp takes any",
          node.name);
  }
  return {};
}

/// cost(0..N, i) of one node after another, from the last to the first, and the choices that led there.
class Program {
 public:
  explicit Program(const Problem& problem)
      : problem_(problem), records_(static_cast<std::int32_t>(problem.records)), size_(problem.records + 1) {
    next_.resize(size_);
    current_.resize(size_);
    compute_.resize(size_);
    queue_.resize(size_);
    choices_.resize(size_ * (problem.nodes.size() - 1));
    const ProblemNode& last = problem.nodes.back();
    for (std::size_t d = 0; d < size_; ++d)
      next_[d] = static_cast<std::int64_t>(d) <= last.max_records ? cost_of(last.compute, d) : kInfinity;
    for (std::size_t i = problem.nodes.size() - 1; i-- > 0;) {
      add(problem.nodes[i], choices_.data() + i * size_);
      std::swap(current_, next_);
    }
  }

  double optimum() const { return next_.back(); }

  std::vector<std::int64_t> shares() const {
    std::vector<std::int64_t> shares;
    auto left = static_cast<std::size_t>(records_);
    for (std::size_t i = 0; i + 1 < problem_.nodes.size(); ++i) {
      shares.push_back(choices_[i * size_ + left]);
      left -= static_cast<std::size_t>(shares.back());
    }
    shares.push_back(static_cast<std::int64_t>(left));
    return shares;
  }

 private:
  static double cost_of(const CostPtr& cost, std::size_t records) {
    return records > 0 ? cost->value(static_cast<double>(records)) : 0.0;
  }

  void add(const ProblemNode& node, std::int32_t* choice) {
    const auto cap = static_cast<std::int32_t>(std::min<std::int64_t>(node.max_records, records_));
    for (std::int32_t e = 0; e <= cap; ++e) compute_[e] = cost_of(node.compute, static_cast<std::size_t>(e));
    const AffineForm line = node.receive ? *node.receive->affine() : AffineForm{};
    const auto key = [&](std::int32_t m) { return next_[m] - line.per_record * m; };
    std::int32_t front = 0;  // the queue: places m with rising keys, front..back - 1
    std::int32_t back = 0;
    std::int32_t e_max = 0;
    for (std::int32_t d = 0; d <= records_; ++d) {
      if (e_max <= cap && e_max < d && compute_[e_max] < next_[d - e_max]) ++e_max;
      if (d > 0) {
        const double newest = key(d - 1);
        while (back > front && key(queue_[back - 1]) >= newest) --back;
        queue_[back++] = d - 1;
      }
      while (front < back && queue_[front] < d - std::min(e_max - 1, cap)) ++front;
      double best = next_[d];
      std::int32_t best_e = 0;
      if (e_max >= 1 && e_max <= cap) {
        const double at_e_max = line.start + line.per_record * e_max + std::max(compute_[e_max], next_[d - e_max]);
        if (at_e_max < best) best = at_e_max, best_e = e_max;
      }
      if (front < back) {
        const std::int32_t e = d - queue_[front];
        const double below = line.start + line.per_record * e + next_[queue_[front]];
        if (below < best) best = below, best_e = e;
      }
      current_[d] = best;
      choice[d] = best_e;
    }
  }

  const Problem& problem_;
  std::int32_t records_;
  std::size_t size_;
  std::vector<double> next_;     // cost(d, i + 1)
  std::vector<double> current_;  // cost(d, i)
  std::vector<double> compute_;  // compute costs of the node being added
  std::vector<std::int32_t> queue_;
  std::vector<std::int32_t> choices_;
};

Shares scatter_exact_shares(const Problem& problem, double) {
  if (choices(problem) > kMaxChoices || problem.records >= std::numeric_limits<std::int32_t>::max())
    throw PlanError(
        fmt::format("strategy 'scatter-exact' would need {:.0f} GB of memory for {} records on {} nodes; "
                    "scatter-lp and scatter-closed do not",
                    choices(problem) * 4e-9, problem.records, problem.nodes.size()));
  const Program program(problem);
  Shares answer;
  answer.records = program.shares();
  const bool linear = needs_lines(problem, false).empty();
  answer.lower_bound = scatter_lower_bound(problem);
  if (!linear) answer.lower_bound = std::max(*answer.lower_bound, problem.start_delay + program.optimum());
  return answer;
}

bool slow_for_scatter_exact(const Problem& problem) { return choices(problem) > kQuickChoices; }

}  // namespace

extern const Strategy scatter_exact_strategy{.name = "scatter-exact",
                                             .summary = "scatter: the integer optimum in O(p N)",
                                             .kind = Strategy::Kind::kScatter,
                                             .unsuitable = unsuitable_for_scatter_exact,
                                             .share = scatter_exact_shares,
                                             .slow = slow_for_scatter_exact};

}  // namespace hetsort::partition
