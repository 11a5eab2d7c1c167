// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
#include "partition/scatter.h"

#include <fmt/format.h>

#include <algorithm>
#include <cassert>
#include <utility>

#include "partition/error.h"
#include "partition/plan.h"

namespace hetsort::partition {
namespace {

bool can_be_root(const Problem& problem, std::size_t root) {
  if (problem.link_seconds) return true;
  for (std::size_t i = 0; i < problem.nodes.size(); ++i)
    if (i != root && !problem.nodes[i].receive) return false;
  return true;
}

std::vector<std::size_t> sending_order(const Problem& problem, std::size_t root, SendingOrder order) {
  struct Place {
    double time;
    std::size_t node;
  };
  std::vector<Place> places(problem.nodes.size());
  const auto records = static_cast<double>(std::max<std::int64_t>(1, problem.records));
  for (std::size_t i = 0; i < places.size(); ++i) {
    const bool sorted = order == SendingOrder::kBandwidth && i != root;
    places[i] = {sorted ? problem.nodes[i].receive->value(records) : 0.0, i};
  }
  std::sort(places.begin(), places.end(), [root](const Place& a, const Place& b) {
    if ((a.node == root) != (b.node == root)) return b.node == root;
    return a.time != b.time ? a.time < b.time : a.node < b.node;
  });
  std::vector<std::size_t> nodes;
  nodes.reserve(places.size());
  for (const Place& place : places) nodes.push_back(place.node);
  return nodes;
}

/// Seconds until all records are on `root`, if it can be known.
std::optional<double> seconds_of_move(const Problem& problem, std::size_t data_node, std::size_t root) {
  const auto records = static_cast<double>(problem.records);
  if (data_node == root) return 0.0;
  if (problem.link_seconds) return (*problem.link_seconds)[data_node][root] * records;
  if (!problem.nodes[root].receive) return std::nullopt;
  return problem.nodes[root].receive->value(records);
}

}  // namespace

Problem arrange_scatter(Problem problem, std::size_t root, SendingOrder order) {
  assert(root < problem.nodes.size());
  // The order of the matrix is that of the nodes before they are arranged.
  if (const auto links = std::exchange(problem.link_seconds, nullptr))
    for (std::size_t i = 0; i < problem.nodes.size(); ++i)
      problem.nodes[i].receive = i == root ? nullptr : linear_cost((*links)[root][i]);
  for (std::size_t i = 0; i < problem.nodes.size(); ++i) {
    if (i != root && !problem.nodes[i].receive)
      throw PlanError(fmt::format("a scatter needs the receive cost of every node but the root, and node '{}' has none",
                                  problem.nodes[i].name));
  }
  std::vector<ProblemNode> arranged;
  arranged.reserve(problem.nodes.size());
  for (const std::size_t place : sending_order(problem, root, order))
    arranged.push_back(std::move(problem.nodes[place]));
  arranged.back().receive = nullptr;
  problem.nodes = std::move(arranged);
  problem.scatter = true;
  return problem;
}

Problem choose_root(const Problem& problem, std::optional<std::size_t> data_node, SendingOrder order,
                    const StrategyChoice& choice) {
  std::optional<Problem> best;
  double best_makespan = 0;
  for (std::size_t root = 0; root < problem.nodes.size(); ++root) {
    if (!can_be_root(problem, root)) continue;
    const std::optional<double> move = seconds_of_move(problem, data_node.value_or(root), root);
    if (!move) continue;
    Problem candidate = arrange_scatter(problem, root, order);
    candidate.start_delay += *move;
    const double makespan = make_plan(candidate, choice).makespan;
    if (!best || makespan < best_makespan) {
      best_makespan = makespan;
      best = std::move(candidate);
    }
  }
  if (!best) throw PlanError("no node can be the root of a scatter: receive costs are missing");
  return *std::move(best);
}

}  // namespace hetsort::partition
