// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
//
// The smallest use of the planner: shares for four machines of known relative speeds.
#include <hetsort/partition/cluster.h>
#include <hetsort/partition/critical.h>
#include <hetsort/partition/error.h>
#include <hetsort/partition/learning.h>
#include <hetsort/partition/plan.h>
#include <hetsort/partition/quantity.h>
#include <hetsort/partition/rounding.h>
#include <hetsort/partition/scatter.h>

#include <iostream>
#include <vector>

int main() {
  namespace hp = hetsort::partition;
  const std::vector<double> speeds{1, 2, 4, 8};
  const hp::Plan plan = hp::make_plan(hp::problem_from_speeds(1'000'000, speeds), "lambert");
  for (const hp::NodePlan& node : plan.nodes) std::cout << node.records << ' ';
  std::cout << "makespan " << plan.makespan << '\n';
  try {
    hp::parse_cluster("[[node]]\nsped = 1\n", "mine.toml");
  } catch (const hp::PlanError& error) {
    std::cout << error.what() << '\n';
  }
}
