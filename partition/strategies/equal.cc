// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
//
// equal: the same number of records for every node, whatever its speed; the N mod p left over go, one a node, to those
// that finish first with it. O(p).
#include <algorithm>

#include "partition/rounding.h"
#include "partition/strategies/model.h"

namespace hetsort::partition {
namespace {

Shares equal_shares(const Problem& problem, double) {
  std::vector<CostedNode> nodes = costed_nodes(problem);
  const auto count = static_cast<std::int64_t>(nodes.size());
  const std::int64_t whole = problem.records / count;
  const bool roomy = std::all_of(nodes.begin(), nodes.end(), [&](const CostedNode& node) {
    return node.low <= whole && (node.high > whole || whole == problem.records);
  });
  Shares answer;
  if (roomy) {  // no limit binds: no node gets two records more than another
    const std::int64_t larger = whole + std::min<std::int64_t>(problem.records % count, 1);
    for (CostedNode& node : nodes) node.high = std::min(node.high, larger);
    answer.records.assign(nodes.size(), whole);
    hand_out(nodes, answer.records, problem.records % count);
    return answer;
  }
  const double real = static_cast<double>(problem.records) / static_cast<double>(count);
  answer.records = round_shares(nodes, std::vector<double>(nodes.size(), real), problem.records);
  return answer;
}

}  // namespace

extern const Strategy equal_strategy{.name = "equal", .summary = "the same for every node", .share = equal_shares};

}  // namespace hetsort::partition
