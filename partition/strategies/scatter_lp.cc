// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
//
// scatter-lp: the guaranteed heuristic of Genaud, Giersch, Vivien 2003 for affine costs: the linear program in rational
// shares, then their rounding. T_opt <= T' <= T_opt + sum_j T_comm_j(1) + max_i T_comp_i(1). The program counts every
// start-up, so that its value is no lower bound and is not used as one.
#include "partition/strategies/scatter_model.h"
#include "partition/strategies/scatter_program.h"

namespace hetsort::partition {
namespace {

std::string unsuitable_for_scatter_lp(const Problem& problem) {
  if (!has_scatter_program()) return "this build has no linear programming solver (GLPK)";
  return needs_lines(problem, true);
}

Shares scatter_lp_shares(const Problem& problem, double) {
  Shares answer;
  answer.records = round_nearest(solve_scatter_program(problem), problem);
  answer.guarantee = rounding_guarantee(problem);
  return answer;
}

bool slow_for_scatter_lp(const Problem& problem) { return problem.nodes.size() > 1000; }

}  // namespace

extern const Strategy scatter_lp_strategy{.name = "scatter-lp",
                                          .summary = "scatter, affine costs: linear program, rounded, guaranteed",
                                          .kind = Strategy::Kind::kScatter,
                                          .unsuitable = unsuitable_for_scatter_lp,
                                          .share = scatter_lp_shares,
                                          .slow = slow_for_scatter_lp};

}  // namespace hetsort::partition
