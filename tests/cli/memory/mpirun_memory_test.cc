// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
//
// The memory of many ranks: what does not fit is refused before the work, and the rest stays within the promise.
#include <nlohmann/json.hpp>

#include "tests/cli/mpirun_shell.h"

namespace hetsort::cli::test {
namespace {

using Json = nlohmann::json;

class MpirunMemory : public ::testing::Test {
 protected:
  Outcome run(const std::string& line) { return shell_.run(line); }
  /// The most MiB that a rank had beyond its -S.
  double beyond_memory() const {
    double most = 0;
    for (const Json& rank : Json::parse(shell_.file("run.json"))["ranks"])
      most = std::max(most, rank["peak_rss_bytes"].get<double>() - rank["memory_limit_bytes"].get<double>());
    return most / (1 << 20);
  }

  MpiShell shell_;
};

TEST_F(MpirunMemory, too_many_threads_are_refused_with_what_suffices) {
  ASSERT_EQ(run("for r in $(seq 0 31); do $H gen -b${r}0000 10000 d/in.$r; done; echo old >d/out.0").exit_code, 0);
  const std::string sort = "$M -n 32 $H sort -q -T t 'd/in.{rank}' -o 'd/out.{rank}' --report run.json ";
  const Outcome refused = run(sort + "-S 32M -j 16");
  EXPECT_TRUE(job_failed_with(refused, {"plan the exchange: rank ", "for its streams to the threads of 32 ranks",
                                        "give -S ", "M, or -j ", "output untouched"}));
  EXPECT_EQ(shell_.names_in("t"), "");
  EXPECT_EQ(shell_.file("d/out.0"), "old\n");
  std::smatch remedy;
  ASSERT_TRUE(std::regex_search(refused.err, remedy, std::regex("give (-S [0-9]+M), or (-j [0-9]+)"))) << refused;
  const std::string memory = remedy.str(1);
  const std::string threads = remedy.str(2);
  for (const std::string& words : {memory + " -j 16", "-S 32M " + threads}) {
    const Outcome outcome = run(sort + words);
    EXPECT_EQ(outcome.exit_code, 0) << words << ": " << outcome;
    EXPECT_LT(beyond_memory(), 96) << words;
  }
}

TEST_F(MpirunMemory, small_inputs_of_many_ranks_and_threads_stay_within_the_promise) {
  ASSERT_EQ(run("$M -n 8 $H gen 8000 'd/in.{rank}'").exit_code, 0);
  const Outcome outcome =
      run("$M -n 8 $H sort -q -T t -S 24M -j 64 'd/in.{rank}' -o 'd/out.{rank}' --report run.json && $H validate -q "
          "d/out.?");
  EXPECT_EQ(outcome.exit_code, 0) << outcome;
  EXPECT_LT(beyond_memory(), 96);
}

TEST_F(MpirunMemory, claimed_pieces_of_one_input_stay_within_the_promise) {
  ASSERT_EQ(run("$H gen 2000000 d/all").exit_code, 0);
  const Outcome outcome =
      run("$M -n 8 $H sort -q -T t -S 12M -j 8 d/all -o d/out --report run.json && $H validate -q d/out");
  EXPECT_EQ(outcome.exit_code, 0) << outcome;
  EXPECT_LT(beyond_memory(), 96);
}

TEST_F(MpirunMemory, more_than_the_machine_has_is_lowered_on_each_rank) {
  ASSERT_EQ(run("printf 'c\\nb\\na\\n' >d/in.0; printf 'b\\n' >d/in.1").exit_code, 0);
  const Outcome outcome =
      run("$M -n 2 $H sort --lines --progress none -S 100T 'd/in.{rank}' -o 'd/out.{rank}' && cat d/out.?");
  EXPECT_EQ(outcome.out, "a\nb\nb\nc\n") << outcome;
  EXPECT_NE(outcome.err.find("note: -S "), std::string::npos) << outcome;
}

}  // namespace
}  // namespace hetsort::cli::test
