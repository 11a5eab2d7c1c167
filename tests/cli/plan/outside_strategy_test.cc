// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
//
// Strategies that are programs of the user.
#include <nlohmann/json.hpp>

#include "tests/cli/program.h"

namespace hetsort::cli::test {
namespace {

/// A folder with the program `mine`, which keeps the problem in a file and gives all records but one to the first node.
class OutsideStrategy : public testing::Test {
 protected:
  OutsideStrategy() {
    shell_.write("mine",
                 "#!/bin/sh\n"
                 "tee problem | sed 's/.*\"records\":\\([0-9]*\\),.*/\\1/' | {\n"
                 "  read n; echo only one record left >&2; echo \"{\\\"shares\\\": [$((n - 1)), 1]}\"; }\n");
    shell_.run("chmod +x mine");
  }
  void expect_error(const std::string& script, const std::string& message) const {
    shell_.write("other", script + "\n");
    const Outcome outcome = shell_.run("$H plan -n 10 --speeds 1,2 --strategy 'exec:sh other'");
    EXPECT_TRUE(failed_with(outcome, "strategy 'exec:sh other': " + message)) << script;
  }

  Shell shell_;
};

TEST_F(OutsideStrategy, decides_a_plan) {
  const Outcome outcome = shell_.run("$H plan -n 1600 --speeds 1,2 --strategy exec:./mine --format json");
  ASSERT_EQ(outcome.exit_code, 0) << outcome;
  const auto plan = nlohmann::json::parse(outcome.out);
  EXPECT_EQ(plan["strategy"], "exec:./mine");
  EXPECT_EQ(plan["nodes"][0]["records"], 1599);
  EXPECT_EQ(plan["nodes"][1]["records"], 1);
  const auto problem = nlohmann::json::parse(shell_.file("problem"));
  EXPECT_EQ(problem["schema"], "hetsort.problem/1");
  EXPECT_EQ(problem["records"], 1600);
  EXPECT_EQ(problem["unit"], "work units");
  EXPECT_EQ(problem["nodes"][1]["speed"], 2.0);
  EXPECT_EQ(problem["nodes"][0]["cost"].size(), 17U);
  EXPECT_EQ(problem["nodes"][0]["cost"][8][0], 800);
  EXPECT_NE(shell_.run("$H plan -n 1600 --speeds 1,2 --strategy exec:./mine").out.find("only one record left"),
            std::string::npos);
}

TEST_F(OutsideStrategy, plans_for_a_root_and_within_a_time) {
  const std::string words = "$H plan --strategy exec:./mine --format json --cluster c.toml ";
  shell_.write("c.toml",
               "[[node]]\nname = 'a'\nroot = true\ncompute = { kind = 'linear', per_record = 1e-6 }\n"
               "[[node]]\nname = 'b'\ncompute = { kind = 'linear', per_record = 1e-6 }\n"
               "receive = { kind = 'linear', per_record = 1e-6 }\nmemory = '500MB'\n");
  EXPECT_EQ(shell_.run(words + "-n 100").exit_code, 0);
  const auto problem = nlohmann::json::parse(shell_.file("problem"));
  EXPECT_EQ(problem["scatter"], true);
  EXPECT_EQ(problem["unit"], "s");
  EXPECT_EQ(problem["nodes"][0]["name"], "b");
  EXPECT_LT(problem["nodes"][0]["max_records"], 5'000'000);
  EXPECT_EQ(problem["nodes"][0]["receive"][16][0], 100);
  const auto within = nlohmann::json::parse(shell_.run(words + "--within 2").out);
  EXPECT_NEAR(within["records"].get<double>(), 1e6, 10);
}

TEST_F(OutsideStrategy, of_the_examples_gives_shares_in_proportion_to_speeds) {
  const Outcome outcome =
      shell_.run("$H plan -n 1000001 --speeds 1,2,2 --format json --strategy 'exec:python3 " HETSORT_EXAMPLES
                 "/strategy-speeds.py'");
  ASSERT_EQ(outcome.exit_code, 0) << outcome;
  const auto plan = nlohmann::json::parse(outcome.out);
  EXPECT_EQ(plan["nodes"][0]["records"], 200'000);
  EXPECT_EQ(plan["nodes"][1]["records"], 400'001);
}

TEST_F(OutsideStrategy, that_fails_is_one_clear_error) {
  expect_error("echo no luck >&2; exit 3", "sh failed with exit code 3: no luck");
  expect_error("exec <&-; kill -9 $$", "sh was ended by signal 9");
  expect_error("echo '{\"shares\": [1, 2]}'", "the shares that are given sum to 3 records, and there are 10");
  expect_error("echo '{\"shares\": [10]}'", "1 shares are given for 2 nodes");
  expect_error("echo '{\"shares\": [9.5, 0.5]}'", "'shares' has 9.5, which is no number of records");
  expect_error("echo '{\"shares\": [-1, 11]}'", "'shares' has -1, which is no number of records");
  expect_error("echo '{\"shares\": [18446744073709551615, 11]}'", "'shares' has 18446744073709551615");
  expect_error("echo '{\"shares\": [10, 0], \"input\": [1]}'", "1 shares are given for 2 nodes");
  expect_error("echo hello", "the answer is no JSON");
  expect_error(":", "the answer is no JSON");
  expect_error("echo '{}'", "the answer has no array 'shares'");
  expect_error("echo '[1]'", "the answer has no array 'shares'");
  EXPECT_TRUE(failed_with(shell_.run("$H plan -n 10 --speeds 1,2 --strategy exec:./missing"),
                          "cannot run ./missing: No such file"));
  EXPECT_TRUE(failed_with(shell_.run("$H plan -n 10 --speeds 1,2 --strategy exec:"), "wants a command"));
}

}  // namespace
}  // namespace hetsort::cli::test
