// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
//
// scatter-closed: the closed form for linear costs (Genaud, Giersch, Vivien 2003, the divisible-load case), then their
// rounding. T = N D; n_i = T / (lambda_i + mu_i) prod_{j<i} mu_j / (lambda_j + mu_j) over the nodes that take part.
// O(p).
#include "partition/strategies/model.h"
#include "partition/strategies/scatter_model.h"

namespace hetsort::partition {
namespace {

std::string unsuitable_for_scatter_closed(const Problem& problem) { return needs_lines(problem, false); }

Shares scatter_closed_shares(const Problem& problem, double) {
  std::vector<LinearNode> lines;
  lines.reserve(problem.nodes.size());
  for (const ProblemNode& node : problem.nodes)
    lines.push_back({node.receive ? node.receive->affine()->per_record : 0.0, node.compute->affine()->per_record});
  double rate = 0;
  const std::vector<bool> kept = participants(lines, &rate);
  std::vector<double> shares(lines.size(), 0.0);
  double part = static_cast<double>(problem.records) * rate;  // T prod_{j<i} mu_j / (lambda_j + mu_j)
  double sum = 0;
  for (std::size_t i = 0; i < lines.size(); ++i) {
    if (!kept[i]) continue;
    const double both = lines[i].receive_per_record + lines[i].compute_per_record;
    if (both == 0) {  // it takes any number of records at no cost
      shares[i] = static_cast<double>(problem.records) - sum;
      break;
    }
    shares[i] = part / both;
    sum += shares[i];
    part *= lines[i].compute_per_record / both;
  }
  Shares answer;
  answer.records = round_nearest(shares, problem);
  answer.guarantee = rounding_guarantee(problem);
  answer.lower_bound = problem.start_delay + static_cast<double>(problem.records) * rate;
  return answer;
}

}  // namespace

extern const Strategy scatter_closed_strategy{.name = "scatter-closed",
                                              .summary = "scatter, linear costs: the closed form, rounded",
                                              .kind = Strategy::Kind::kScatter,
                                              .unsuitable = unsuitable_for_scatter_closed,
                                              .share = scatter_closed_shares};

}  // namespace hetsort::partition
