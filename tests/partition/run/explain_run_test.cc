// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
#include "partition/run/explain_run.h"

#include <gtest/gtest.h>

#include "tests/partition/run/run_models.h"

namespace hetsort::partition::test {
namespace {

using Shares = std::vector<std::int64_t>;

RunModel behind_links(double bytes_per_second) {
  RunModel model = processors_only({1000, 1000, 1000});
  model.record_bytes = 100;
  for (RankResources& rank : model.ranks) {
    rank.name = "n" + std::to_string(&rank - model.ranks.data());
    rank.rates.link_in = rank.rates.link_out = bytes_per_second;
  }
  return model;
}

TEST(ExplainRun, says_why_one_rank_works_alone) {
  const Shares alone{3000, 0, 0};
  const std::string text = explain_run(behind_links(1000), alone, alone, InputChoice::kPlanned);
  EXPECT_TRUE(text.starts_with("n0 alone takes ")) << text;
  EXPECT_NE(text.find("; all 3 ranks take "), std::string::npos) << text;
  EXPECT_TRUE(text.ends_with("because links bound the exchange")) << text;
}

TEST(ExplainRun, compares_all_ranks_with_the_best_one_alone) {
  const Shares equal{1000, 1000, 1000};
  const std::string text = explain_run(behind_links(1e9), equal, equal, InputChoice::kPlanned);
  EXPECT_TRUE(text.starts_with("all 3 ranks take ")) << text;
  EXPECT_NE(text.find("; n0 alone takes "), std::string::npos) << text;
}

TEST(ExplainRun, compares_nothing_where_the_input_is_given) {
  const Shares equal{1000, 1000, 1000};
  const std::string text = explain_run(behind_links(1000), equal, equal, InputChoice::kGiven);
  EXPECT_TRUE(text.ends_with(", and links bound the exchange")) << text;
  EXPECT_EQ(text.find("alone"), std::string::npos) << text;
}

TEST(ExplainRun, has_nothing_to_say_without_records_or_with_one_rank) {
  EXPECT_EQ(explain_run(behind_links(1000), Shares(3, 0), Shares(3, 0), InputChoice::kPlanned), "");
  EXPECT_EQ(explain_run(processors_only({1000}), Shares{5}, Shares{5}, InputChoice::kPlanned), "");
}

}  // namespace
}  // namespace hetsort::partition::test
