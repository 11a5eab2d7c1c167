// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
//
// The strategies of the laboratory for the suite over every strategy.
#include "bench/research/search/strategies.h"

#include <gtest/gtest.h>

#include <memory>

#include "bench/research/mheta/program_problem.h"
#include "partition/plan.h"
#include "tests/partition/problems.h"
#include "tests/research/mheta/programs.h"

namespace hetsort::research::test {
namespace {

/// spectrum: a program of a second for each record on a node of speed 1, and memory for 20 records.
void complete(const partition::Strategy& strategy, partition::Problem& problem) {
  if (strategy.name != "spectrum") return;
  std::string nodes;
  for (const partition::ProblemNode& node : problem.nodes)
    nodes += fmt::format("[[node]]\nspeed = {}\nmemory = 200\ndisk_read = 1\ndisk_write = 1\n", *node.speed);
  const char* program =
      "rows = 1\n[[variable]]\nname = 'a'\nrow_bytes = 10\n[[section]]\ncommunication = 'none'\n"
      "stage = [{ per_row = 1, reads = ['a'] }]\n";
  problem.program =
      std::make_shared<const ProgramOnNodes>(std::make_shared<const ProgramModel>(model_of(program, nodes)));
  problem.program_costs = true;
}

// Before the suite over every strategy looks at the table.
const bool added = [] {
  add_search_strategies();
  partition::test::complete_problem() = complete;
  return true;
}();

TEST(SearchStrategies, are_in_the_table_once) {
  ASSERT_TRUE(added);
  const std::size_t before = partition::all_strategies().size();
  add_search_strategies();
  EXPECT_EQ(partition::all_strategies().size(), before);
  for (const char* name : {"gbs", "gs", "ga", "sa", "spectrum:1"})
    EXPECT_EQ(partition::choose_strategy(name).text, name);
}

}  // namespace
}  // namespace hetsort::research::test
