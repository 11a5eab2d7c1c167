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
  /// What the report says of the ranks.
  Json ranks() const { return Json::parse(shell_.file("run.json"))["ranks"]; }
  /// The most MiB that a rank had beyond its -S.
  double beyond_memory() const {
    double most = 0;
    for (const Json& rank : ranks())
      most = std::max(most, rank["peak_rss_bytes"].get<double>() - rank["memory_limit_bytes"].get<double>());
    return most / (1 << 20);
  }

  MpiShell shell_;
};

TEST_F(MpirunMemory, too_many_threads_for_the_memory_merge_with_fewer) {
  ASSERT_EQ(run("for r in $(seq 0 31); do $H gen -b${r}0000 10000 d/in.$r; done").exit_code, 0);
  const Outcome outcome =
      run("$M -n 32 $H sort -T t -S 32M -j 16 'd/in.{rank}' -o 'd/out.{rank}' --report run.json && $H validate -q "
          "$(for r in $(seq 0 31); do echo d/out.$r; done)");
  EXPECT_EQ(outcome.exit_code, 0) << outcome;
  EXPECT_TRUE(
      std::regex_search(outcome.err, std::regex("note: [0-9]+ of 16 threads of each rank merge: -S has no room")))
      << outcome;
  EXPECT_LT(beyond_memory(), 96);
  EXPECT_EQ(shell_.names_in("t"), "");
}

TEST_F(MpirunMemory, too_little_for_one_thread_of_each_rank_is_refused_once_with_the_least_that_suffices) {
  // Blocks hold at least one record, and each of these has a mebibyte. With a checkpoint all of them spill.
  ASSERT_EQ(run("for r in $(seq 0 23); do head -c 2M /dev/urandom >d/in.$r; done").exit_code, 0);
  const auto sort_with = [&](const std::string& memory) {
    return run(kEndAtOnce + ("$M -n 24 $H sort --record-size 1048576 --key 0:10 --checkpoint t -j 2 -S " + memory +
                             " 'd/in.{rank}' -o 'd/out.{rank}' --report run.json"));
  };
  const Outcome refused = sort_with("1M");
  ASSERT_TRUE(job_failed_with(refused, {"plan the exchange: rank ", "but -S allows 1.0 MiB: give -S "}));
  EXPECT_EQ(shell_.names_in("t"), "");
  EXPECT_EQ(run("ls -A d | grep -v '^in[.]'").out, "");
  std::smatch found;
  ASSERT_TRUE(std::regex_search(refused.err, found, std::regex("give -S ([0-9]+)M or more")));
  const int least = std::stoi(found[1]);
  const Outcome outcome = sort_with(std::to_string(least) + "M");
  ASSERT_EQ(outcome.exit_code, 0) << outcome;
  EXPECT_LT(beyond_memory(), 96);
  const std::string outputs = "$(for r in $(seq 0 23); do echo d/out.$r; done)";
  EXPECT_EQ(run("$H validate -q --record-size 1048576 --key 0:10 " + outputs).exit_code, 0);
  EXPECT_EQ(shell_.names_in("t"), "");
  EXPECT_TRUE(job_failed_with(sort_with(std::to_string(least - 1) + "M"), {"give -S " + found[1].str() + "M or more"}));
}

TEST_F(MpirunMemory, small_inputs_of_many_ranks_and_threads_stay_within_the_promise) {
  ASSERT_EQ(run("$M -n 8 $H gen 8000 'd/in.{rank}'").exit_code, 0);
  const Outcome outcome =
      run("$M -n 8 $H sort -q -T t -S 24M -j 64 'd/in.{rank}' -o 'd/out.{rank}' --report run.json && $H validate -q "
          "d/out.?");
  EXPECT_EQ(outcome.exit_code, 0) << outcome;
  EXPECT_LT(beyond_memory(), 96);
}

TEST_F(MpirunMemory, runs_that_one_pass_cannot_merge_are_said_once_and_not_by_each_rank) {
  ASSERT_EQ(run("$H gen 600000 d/all").exit_code, 0);
  const Outcome outcome = run("$M -n 3 $H sort -T t -S 128K -j 4 d/all -o d/out && $H validate -q d/out");
  EXPECT_EQ(outcome.exit_code, 0) << outcome;
  const std::regex said("neighbours are merged first");
  EXPECT_EQ(std::distance(std::sregex_iterator(outcome.err.begin(), outcome.err.end(), said), {}), 1) << outcome;
}

TEST_F(MpirunMemory, claimed_pieces_of_one_input_stay_within_the_promise) {
  ASSERT_EQ(run("$H gen 2000000 d/all").exit_code, 0);
  const Outcome outcome =
      run("$M -n 8 $H sort -q -T t -S 12M -j 8 d/all -o d/out --report run.json && $H validate -q d/out");
  EXPECT_EQ(outcome.exit_code, 0) << outcome;
  EXPECT_LT(beyond_memory(), 96);
}

TEST_F(MpirunMemory, windows_of_inputs_that_ranks_copy_count_within_it) {
  ASSERT_EQ(run("yes \"$(printf %099d 7)\" | head -c 160000000 | zstd -q -1 --long=27 -c >d/in.0 && cp d/in.0 d/in.1")
                .exit_code,
            0);
  const auto sort_with = [&](const std::string& memory) {
    return run(kEndAtOnce +
               ("$M -n 2 $H sort -q --lines -T t -S " + memory + " 'd/in.{rank}' -o 'd/out.{rank}' --report run.json"));
  };
  const Outcome refused = sort_with("32M");
  ASSERT_TRUE(job_failed_with(refused, {"decompress d/in.", "and -S allows 32.0 MiB: give -S "}));
  std::smatch found;
  ASSERT_TRUE(std::regex_search(refused.err, found, std::regex("give -S ([0-9]+)M or more")));
  const Outcome outcome = sort_with(found[1].str() + "M");
  ASSERT_EQ(outcome.exit_code, 0) << outcome;
  EXPECT_LT(beyond_memory(), 96);
  EXPECT_EQ(run("cat d/in.? | zstd -dqc --long=27 >all && cat d/out.? | cmp - all").exit_code, 0);
  EXPECT_EQ(shell_.names_in("t"), "");
}

TEST_F(MpirunMemory, longest_lines_of_many_ranks_to_one_stay_within_the_promise) {
  // Rank 0 gets half of the output, with lines of all other ranks.
  ASSERT_EQ(run("(head -c 4194299 /dev/zero | tr '\\0' x; echo) >rest\n"
                "for r in $(seq 0 19); do for l in 1 2 3 4; do printf %04d $(((4 * r + l) * 7919 % 9973)); cat rest; "
                "done >d/in.$r; done")
                .exit_code,
            0);
  const Outcome outcome =
      run("M=\"timeout 200 ${M#timeout 60}\"; $M -n 20 $H sort --lines -T t -S 32M -j 2 --no-sync --speeds 20$(printf "
          "',1%.0s' $(seq 19)) 'd/in.{rank}' "
          "-o 'd/out.{rank}' --report run.json");
  EXPECT_EQ(outcome.exit_code, 0) << outcome;
  EXPECT_NE(outcome.err.find("note: 1 of 20 ranks merge lines of up to 4.0 MiB in several passes"), std::string::npos)
      << outcome;
  EXPECT_LT(beyond_memory(), 96);
  EXPECT_EQ(run("cat $(for r in $(seq 0 19); do echo d/in.$r; done) | LC_ALL=C sort >all && "
                "cat $(for r in $(seq 0 19); do echo d/out.$r; done) | cmp - all")
                .exit_code,
            0);
  EXPECT_EQ(shell_.names_in("t"), "");
}

TEST_F(MpirunMemory, long_lines_that_ranks_keep_and_merge_in_threads_stay_within_the_promise) {
  ASSERT_EQ(
      run("seq -f z%07.0f$(printf 'y%.0s' $(seq 90)) 1900000 -1 1 >d/in.0; head -c 4194290 /dev/zero | tr '\\0' x "
          ">rest\n"
          "for r in 1 2 3; do for l in $(seq 50); do printf a%d%d $((7 * l % 9)) $r; cat rest; echo; done >d/in.$r; "
          "done")
          .exit_code,
      0);
  const Outcome outcome =
      run("$M -n 4 $H sort --lines -T t -S 256M -j 8 --no-sync 'd/in.{rank}' -o 'd/out.{rank}' "
          "--report run.json");
  EXPECT_EQ(outcome.exit_code, 0) << outcome;
  EXPECT_LT(beyond_memory(), 96);
  EXPECT_EQ(run("cat d/in.? | LC_ALL=C sort >all && cat d/out.? | cmp - all").exit_code, 0);
}

TEST_F(MpirunMemory, more_than_the_machine_has_is_lowered_on_each_rank) {
  ASSERT_EQ(run("printf 'c\\nb\\na\\n' >d/in.0; printf 'b\\n' >d/in.1").exit_code, 0);
  const Outcome outcome =
      run("$M -n 2 $H sort --lines --progress none -S 100T 'd/in.{rank}' -o 'd/out.{rank}' && cat d/out.?");
  EXPECT_EQ(outcome.out, "a\nb\nb\nc\n") << outcome;
  EXPECT_NE(outcome.err.find("note: -S "), std::string::npos) << outcome;
}

TEST_F(MpirunMemory, blocks_for_ranks_of_the_host_are_no_messages_while_all_runs_are_in_memory) {
  ASSERT_EQ(run("$M -n 3 $H gen 90000 'd/in.{rank}' && $H sort d/in.? -o d/whole").exit_code, 0);
  const auto shared_bytes = [&](const std::string& command) {
    const Outcome outcome = run(command + " 'd/in.{rank}' -o d/out --report run.json && cmp d/out d/whole");
    EXPECT_EQ(outcome.exit_code, 0) << outcome;
    std::uint64_t bytes = 0;
    for (const Json& rank : ranks()) bytes += rank["bytes_shared"].get<std::uint64_t>();
    return bytes;
  };
  constexpr std::uint64_t kMost = 5'500'000;  // of the 6 MB that change ranks
  EXPECT_GT(shared_bytes("$M -n 3 $H sort"), kMost);
  EXPECT_GT(shared_bytes("$M -n 3 $H sort --exchange inline -j 2"), kMost);
  EXPECT_EQ(shared_bytes("$M -n 3 $H sort -S 3M -T t"), 0U);
  EXPECT_EQ(shared_bytes("$M -n 3 sh -c 'ulimit -v 30000000; exec $H \"$@\"' - sort"), 0U);
}

}  // namespace
}  // namespace hetsort::cli::test
