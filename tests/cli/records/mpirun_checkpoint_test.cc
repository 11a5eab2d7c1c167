// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
//
// Jobs with a checkpoint of which a rank or the launcher is killed at a random moment, and which the same command
// continues. HETSORT_TEST_RANK_RESUMES sets how many.
#include <random>
#include <string>

#include "tests/cli/mpirun_shell.h"
#include "tests/seeds.h"

namespace hetsort::cli::test {
namespace {

using hetsort::test::case_seed;
using hetsort::test::environment_number;
using hetsort::test::seed_note;

TEST(JobWithCheckpoint, that_is_killed_is_continued_by_the_same_command) {
  SCOPED_TRACE(seed_note());
  MpiShell shell;
  shell.allow_victims();
  shell.run(
      "mkdir ck ck.0 ck.1 ck.2 ck.3 && $H gen 30000 d/all && $H sort d/all -o records && $H sort --lines d/all -o "
      "lines");
  const std::uint64_t count = environment_number("HETSORT_TEST_RANK_RESUMES", hetsort::test::kSanitized ? 1 : 3);
  int killed = 0;
  for (std::uint64_t number = 0; number < count; ++number) {
    std::mt19937_64 random(case_seed(number));
    const bool lines = random() % 2 == 0;
    const std::string folder = random() % 2 == 0 ? "ck" : "'ck.{rank}'";
    const std::string words =
        " $A sort -q --stall-timeout 5 -S 4M --checkpoint " + folder + (lines ? " --lines" : "") + " d/all -o d/out";
    const std::uint64_t ranks = 2 + random() % 3;
    const std::string sort = "-n " + std::to_string(ranks) + words;
    const std::string next_ranks = std::to_string(1 + random() % 4);
    const std::string victim = random() % 3 == 0 ? "$P" : "$(cat pids/" + std::to_string(random() % ranks) + ")";
    SCOPED_TRACE("job number " + std::to_string(number) + ": " + sort);
    const Outcome ended = shell.run(
        "rm -f pids/* d/out; export HETSORT_FAULTS=read:~2:delay20,write:~2:delay20,sync:~1:delay20\nM='" HETSORT_MPIRUN
        "'\n$M " +
        sort + " & P=$!\nfor i in $(seq 500); do [ $(ls pids | wc -l) = " + std::to_string(ranks) +
        " ] && break; sleep 0.01; done\nsleep " + std::to_string(static_cast<double>(random() % 1500) / 1000) +
        "\nkill -KILL " + victim +
        " 2>/dev/null\nfor i in $(seq 150); do\n  n=0; for p in $P $(cat pids/* 2>/dev/null); do\n    case $(cut -d' ' "
        "-f3 /proc/$p/stat 2>/dev/null) in ''|Z) ;; *) n=$((n+1));; esac; done\n  [ $n = 0 ] && break; sleep 0.1; "
        "done\nkill -KILL $P $(cat pids/*) 2>/dev/null; wait $P");
    killed += ended.exit_code != 0 ? 1 : 0;
    const Outcome next = shell.run("$M -n " + next_ranks + words + " && cmp d/out " + (lines ? "lines" : "records"));
    EXPECT_EQ(next.exit_code, 0) << next << " after " << ended;
    EXPECT_EQ(shell.run("find ck ck.0 ck.1 ck.2 ck.3 -mindepth 1").out, "");
    EXPECT_EQ(shell.names_in("d"), "all\nout\n");
  }
  std::printf("%d of %d jobs were killed\n", killed, static_cast<int>(count));
}

/// Runs `sort` slowly on two ranks and sends `signal` to rank 1 while it works.
Outcome with_signal(MpiShell& shell, const std::string& sort, const std::string& signal) {
  shell.allow_victims();
  return shell.run("rm -f pids/* ck/*; export HETSORT_FAULTS=read:~1:delay100,write:~1:delay100\n$M -n 2 $A sort -q " +
                   sort +
                   " & P=$!\nfor i in $(seq 500); do [ -s pids/1 ] && ls ck*/*.runs.0 >l 2>&1 && break; sleep 0.01; "
                   "done\nsleep 0.3; kill -" +
                   signal + " $(cat pids/1); wait $P");
}

std::size_t count_of(const std::string& text, const std::string& part) {
  std::size_t count = 0;
  for (std::size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) ++count;
  return count;
}

TEST(JobWithCheckpoint, of_which_a_rank_dies_names_the_command_that_continues) {
  MpiShell shell;
  shell.run("mkdir ck && $H gen 60000 d/all && $H gen 30000 d/in.0 && $H gen 30000 d/in.1");
  const std::string shared = "-S 4M --checkpoint ck d/all -o d/out";
  const Outcome dead = with_signal(shell, shared, "KILL");
  EXPECT_NE(dead.exit_code, 0);
  // MPICH's mpirun ends the other ranks by SIGKILL.
  EXPECT_EQ(count_of(dead.err, "output untouched; continue with: hetsort sort -q " + shared), kOpenMpi ? 1U : 0U)
      << dead;
  const Outcome silent = with_signal(shell, shared + " --stall-timeout 6", "STOP");
  EXPECT_EQ(count_of(silent.err, "silent for 6 s"), 1U) << silent;
  EXPECT_EQ(count_of(silent.err, "continue with: hetsort sort -q " + shared), 1U) << silent;
  EXPECT_EQ(shell.run("$M -n 2 $H sort -q " + shared).exit_code, 0);
  const Outcome own = with_signal(shell, "-S 4M --checkpoint ck --stall-timeout 6 'd/in.{rank}' -o d/out", "STOP");
  EXPECT_NE(own.err.find("the records of a host that is down are missing until it is back; continue with: "),
            std::string::npos)
      << own;
}

}  // namespace
}  // namespace hetsort::cli::test
