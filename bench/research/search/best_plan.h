// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
//
// What the searches of Nakazawa 2005, chapter 4, have in common: where they begin, when they stop, and the best plan so
// far. Internal to the library.
#pragma once

#include <chrono>
#include <cstdint>
#include <random>
#include <vector>

#include "partition/costed_node.h"
#include "partition/problem.h"
#include "partition/strategy.h"

namespace hetsort::research {

class BestPlan {
 public:
  /// `budget_seconds`: time for the search, from now on. The problem outlives it. Throws: PlanError unless it is above
  /// zero.
  BestPlan(const partition::Problem& problem, double budget_seconds);

  const std::vector<partition::CostedNode>& nodes() const { return nodes_; }
  /// f_i(n_i): what node i takes without waiting.
  double cost(std::size_t node, std::int64_t records) const {
    return records > 0 ? nodes_[node].value(static_cast<double>(records)) : 0.0;
  }
  bool within_limits(const std::vector<std::int64_t>& shares) const;

  /// The seconds of these shares: those of the program with waiting if the problem has one, else the latest finish.
  /// Keeps the shares if they are the best so far.
  double judge(const std::vector<std::int64_t>& shares);
  double elapsed() const;
  bool time_is_over() const;

  std::vector<std::int64_t> random_shares();
  std::mt19937_64& random() { return random_; }
  /// A random number from 0 to 1.
  double uniform() { return static_cast<double>(random_() >> 11) * 0x1p-53; }
  /// A random whole number from 0 to `most`.
  std::int64_t whole_up_to(std::int64_t most);

  /// The strategy's answer. Requires: judge() was called.
  partition::Shares answer() const;

 private:
  const partition::Problem& problem_;
  std::vector<partition::CostedNode> nodes_;
  double budget_seconds_;
  std::chrono::steady_clock::time_point begin_ = std::chrono::steady_clock::now();
  std::mt19937_64 random_{2005};  // a fixed seed: equal problems get equal plans, if the time suffices
  std::vector<std::int64_t> best_;
  std::vector<partition::SearchStep> history_;
};

/// Rounds real shares to whole ones within the limits of the nodes.
std::vector<std::int64_t> whole_shares(const BestPlan& plan, std::vector<double> shares, std::int64_t records);

/// Strategy::slow of the searches: whether there are more nodes than a search can improve much in a second.
bool slow_search(const partition::Problem& problem);

constexpr double kSearchSeconds = 1;  // the thesis' budget

}  // namespace hetsort::research
