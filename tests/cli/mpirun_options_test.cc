// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
//
// Ranks of one job that were started with different options.
#include <fmt/format.h>

#include <cstdlib>
#include <vector>

#include "tests/cli/mpirun_shell.h"

namespace hetsort::cli::test {
namespace {

class MpirunOptions : public ::testing::Test {
 protected:
  MpirunOptions() {
    shell_.write("c.toml", "[[node]]\nspeed = 1\n[[node]]\nspeed = 2\n");
    const Outcome made = shell_.run(
        "$H gen 200 d/all && $H sort d/all -o d/sorted && $H sort d/all -o d/x --report d/run.json && rm d/x && "
        "$M -n 2 $H gen 200 'd/in.{rank}' && mkdir s");
    EXPECT_EQ(made.exit_code, 0) << made;
  }
  /// Rank 0 runs the first command, rank 1 the second.
  Outcome run_pair(const std::string& rank0, const std::string& rank1, const std::string& environment = "") {
    return shell_.run(environment + "$M -n 1 $H " + rank0 + " : -n 1 $H " + rank1);
  }
  void expect_refused(const std::string& rank0, const std::string& rank1, const std::string& name) {
    const std::string before = shell_.names_in("d");
    const Outcome outcome = run_pair(rank0, rank1, kEndAtOnce);
    EXPECT_TRUE(job_failed_with(outcome, {name})) << rank0 << " : " << rank1;
    EXPECT_LT(shell_.seconds(), 10) << rank0 << " : " << rank1;
    EXPECT_EQ(shell_.names_in("d"), before) << rank0 << " : " << rank1;
  }

  MpiShell shell_;
};

struct Command {
  std::string words;
  std::vector<std::string> shared;       ///< options that all ranks must have
  std::vector<std::string> of_one_rank;  ///< options that concern one rank
};

const std::vector<Command> kCommands{
    {"sort d/all -o d/o",
     {"--record-size 50", "--key 1:3", "--root-input", "--strategy equal", "--speeds 1,2", "--cluster c.toml",
      "--learn l", "--exchange inline", "--stall-timeout 50", "--report r", "--trace t", "--checksum", "--no-sync",
      "--dry-run", "--explain", "--help"},
     {"-S 10M", "-T s", "-j 1", "--io threads", "--progress none", "-v", "-q"}},
    {"compare d/all -o d/o --strategies equal --rounds 1",
     {"--record-size 50", "--key 1:3", "--root-input", "--speeds 1,2", "--cluster c.toml", "--learn l",
      "--exchange inline", "--stall-timeout 50", "--checksum", "--no-sync", "--format json", "--help"},
     {"-S 10M", "-T s", "-j 1", "--io threads", "--progress none", "-q"}},
    {"gen 200 d/o",
     {"-a", "-b 7", "-c", "-s", "--keys equal", "--no-sync", "--strategy equal", "--speeds 1,2", "--cluster c.toml",
      "--stall-timeout 50", "--help"},
     {"-j 1"}},
    {"validate 'd/in.{rank}'",
     {"-q", "-o d/summary", "-s", "--record-size 50", "--key 1:3", "-i", "--stall-timeout 50", "--help"},
     {"-j 1"}},
    {"calibrate -o d/c.toml -T s --max-seconds 1",
     {"--exchange inline", "--stall-timeout 50", "--help"},
     {"-S 10M", "-j 1", "--progress none", "-q"}},
    {"plan -n 10 --cluster c.toml", {"--strategy equal", "--compare", "--plot d/p.svg", "--format json", "--help"}, {}},
    {"report d/run.json -o d/r.html --no-pictures", {"--format text", "--help"}, {}},
};

std::string name_of(const std::string& option) { return option.substr(0, option.find(' ')); }

TEST_F(MpirunOptions, that_all_ranks_must_have_are_refused_on_one_of_them) {
  // Each case takes half a second; CI takes every eleventh of both ranks' cases, the soak all.
  const bool all = std::getenv("HETSORT_TEST_ALL_OPTIONS") != nullptr;
  std::size_t number = 0;
  for (const Command& command : kCommands)
    for (const std::string& option : command.shared)
      for (const int rank : {0, 1}) {
        if (!all && number++ % 11 != 0) continue;
        const std::string with = command.words + " " + option;
        expect_refused(rank == 0 ? with : command.words, rank == 1 ? with : command.words,
                       option == "-i" ? "-i is not supported" : name_of(option));
      }
}

TEST_F(MpirunOptions, that_concern_one_rank_work_on_one_of_them) {
  const bool all = std::getenv("HETSORT_TEST_ALL_OPTIONS") != nullptr;
  std::size_t number = 0;
  for (const Command& command : kCommands)
    for (const std::string& option : command.of_one_rank)
      for (const int rank : {0, 1}) {
        if (!all && (number++ % 5 != 0 || command.words.starts_with("calibrate"))) continue;
        const std::string with = command.words + " " + option;
        const Outcome outcome = run_pair(rank == 0 ? with : command.words, rank == 1 ? with : command.words);
        EXPECT_EQ(outcome.exit_code, command.words.starts_with("validate") ? 1 : 0) << with << ": " << outcome;
      }
}

TEST_F(MpirunOptions, commands_and_operands_must_be_the_same) {
  expect_refused("sort d/all -o d/o", "gen 200 d/o", "command");
  expect_refused("plan -n 10 --cluster c.toml", "sort d/all -o d/o", "command");
  expect_refused("sort d/all -o d/o", "--version", "command");
  expect_refused("--help", "validate d/all", "command");
  expect_refused("sort d/all -o d/o", "sort d/all d/all -o d/o", "operand");
  expect_refused("sort d/all -o d/o", "sort d/all -o d/o2", "--output");
  expect_refused("gen 200 d/o", "gen 300 d/o", "operand");
}

TEST_F(MpirunOptions, a_mistake_on_one_rank_is_reported_at_once) {
  for (const std::string line : {"sort d/all -o d/o", "validate d/all", "plan -n 10 --cluster c.toml"}) {
    expect_refused(line + " --bogus", line, "rank 0 (");
    expect_refused(line, line + " --bogus", "unknown option '--bogus'");
  }
  expect_refused("sort d/all -o d/o", "sort d/all -o d/o -v -q", "-v and -q exclude each other");
  const Outcome everywhere = shell_.run("$M -n 3 $H sort d/all --bogus");
  EXPECT_TRUE(job_failed_with(everywhere, {"hetsort: unknown option '--bogus'"}));
}

TEST_F(MpirunOptions, mpi_off_makes_each_rank_work_alone) {
  ASSERT_EQ(shell_.run("$H gen 100 d/in0 && $H gen 300 d/in1").exit_code, 0);
  // Each rank has other files and options.
  const std::string each = "$M -n 2 sh -c 'R=${OMPI_COMM_WORLD_RANK:-$PMI_RANK}; ";
  Outcome outcome = shell_.run(each + "exec $H sort --mpi off d/in$R -o d/sorted$R --report d/r$R'");
  EXPECT_EQ(outcome.exit_code, 0) << outcome;
  outcome = shell_.run(each + "exec $H gen --mpi=off $((R + 5)) d/made$R'");
  EXPECT_EQ(outcome.exit_code, 0) << outcome;
  outcome = shell_.run(each + "exec $H validate --mpi off d/sorted$R'");
  EXPECT_EQ(outcome.exit_code, 0) << outcome;
  outcome = shell_.run(each + "exec $H compare -q --mpi off d/in$R -o d/best$R --strategies equal --rounds 1 >&2'");
  EXPECT_EQ(outcome.exit_code, 0) << outcome;
  outcome =
      shell_.run(each + "test $R = 0 || exec $H sort -q --mpi off d/in$R -o d/lone; exec $H sort --mpi off --help'");
  EXPECT_EQ(outcome.exit_code, 0) << outcome;
  EXPECT_EQ(shell_
                .run("cd d && $H validate -q sorted0 sorted0; cmp best1 sorted1 && cmp lone sorted1 && "
                     "$H sort in1 -o whole && cmp whole sorted1 && stat -c %s made0 made1 sorted0")
                .out,
            "500\n600\n10000\n");
}

TEST_F(MpirunOptions, mpi_off_waits_for_no_rank_that_does_something_else) {
  const std::string one = "$M -n 2 sh -c 'test ${OMPI_COMM_WORLD_RANK:-$PMI_RANK} = 0 || exec sleep 1; exec $H ";
  for (const std::string words : {"gen --mpi off 10 d/x'", "sort --mpi off --help'"}) {
    const Outcome outcome = shell_.run(one + words);
    EXPECT_EQ(outcome.exit_code, 0) << words << outcome;
  }
  // Each prints its own mistake.
  const Outcome wrong = shell_.run("$M -n 2 $H sort --mpi off d/all --bogus || $H sort --bogus --mpi=off");
  EXPECT_EQ(wrong.exit_code, 2) << wrong;
  EXPECT_GE(messages(wrong), 2) << wrong;
  EXPECT_EQ(wrong.err.find("hetsort: rank"), std::string::npos) << wrong;
}

TEST_F(MpirunOptions, a_rank_that_joins_does_not_wait_for_ever_for_one_with_mpi_off) {
  const Outcome outcome = run_pair("gen 10 d/alone --mpi off", "gen 10 d/together --stall-timeout 2");
  EXPECT_NE(outcome.exit_code, 0) << outcome;
  EXPECT_EQ(shell_.run("stat -c %s d/alone; ls d/together").out, "1000\n");
}

TEST_F(MpirunOptions, text_is_printed_once_for_the_job) {
  for (const std::string words : {"plan -n 10 --cluster c.toml", "plan --help", "sort --help", "--help", "--version",
                                  "report d/run.json --format text", "sort d/all -o d/o --dry-run"}) {
    const Outcome alone = shell_.run("$H " + words + (words.ends_with("--dry-run") ? " --speeds 1" : ""));
    const Outcome job = shell_.run("$M -n 3 $H " + words);
    EXPECT_EQ(job.exit_code, 0) << words << ": " << job;
    const auto lines = [](const std::string& text) { return std::count(text.begin(), text.end(), '\n'); };
    EXPECT_EQ(lines(job.out), lines(alone.out)) << words;
  }
}

}  // namespace
}  // namespace hetsort::cli::test
