// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
//
// Ranks that stop, and signals to the launcher. Kills at random moments are in kill_test.cc.
#include "tests/cli/mpirun_shell.h"

namespace hetsort::cli::test {
namespace {

class MpirunDeath : public ::testing::Test {
 protected:
  MpirunDeath() { shell_.allow_victims(); }

  void SetUp() override {
    const Outcome made = shell_.run(
        "$M -n 4 $H gen 200000 'd/in.{rank}' && $H gen 200000 d/all && mkdir new && "
        "$M -n 4 $H sort d/all -o 'new/out.{rank}' && $H sort d/all -o new/out");
    ASSERT_EQ(made.exit_code, 0) << made;
  }

  /// A job with `signal` to `target` (a rank's number, or "mpirun") `seconds` after the ranks have begun, or, where
  /// `file` is given, after a file of such a name is there.
  Outcome job(const std::string& sort, const std::string& signal, const std::string& target, double seconds,
              const std::string& file = "pids/[0-3]") {
    const std::string pid = target == "mpirun" ? "$P" : "$(cat pids/" + target + ")";
    const std::string there = target == "mpirun" ? "ls " + file : "ls " + file + " && [ -s pids/" + target + " ]";
    Outcome outcome = shell_.run(
        "rm -f pids/*; rm -f d/out*; for r in 0 1 2 3; do echo old $r > d/out.$r; done; echo old > d/out\n"
        // Without timeout(1), which would be what is killed.
        "M='" HETSORT_MPIRUN "'\n" +
        sort + " & P=$!\nuntil { " + there + "; } >/dev/null 2>&1 || ! kill -0 $P 2>/dev/null; do sleep 0.01; done\n" +
        "sleep " + std::to_string(seconds) + "\nkill -" + signal + " " + pid + " 2>/dev/null && echo sent\n" + kWait);
    // MPICH's mpirun may end with the signal that it sent to a stopped rank, as README says.
    if (!kOpenMpi && outcome.exit_code == SIGKILL) outcome.exit_code = 2;
    return outcome;
  }
  /// Waits until launcher and ranks are gone, at most 20 s, and prints how long that took.
  static constexpr const char* kWait =
      "S=$(date +%s%N)\n"
      "for i in $(seq 200); do\n"
      "  n=0; for p in $P $(cat pids/* 2>/dev/null); do\n"
      "    case $(cut -d' ' -f3 /proc/$p/stat 2>/dev/null) in ''|Z) ;; *) n=$((n+1));; esac; done\n"
      "  [ $n = 0 ] && break; sleep 0.1; done\n"
      "[ $n = 0 ] || kill -9 $P $(cat pids/*)\n"
      "wait $P; E=$?; echo took $((($(date +%s%N) - S) / 1000000)); exit $E\n";

  static double milliseconds_of(const Outcome& outcome) {
    const std::size_t at = outcome.out.find("took ");
    return at == std::string::npos ? 1e9 : std::stod(outcome.out.substr(at + 5));
  }

  /// Nothing but inputs and whole outputs, old or new.
  void expect_whole(const Outcome& outcome) {
    EXPECT_LT(milliseconds_of(outcome), 10'000) << outcome;
    // MPICH's mpirun kills all ranks at once; the next run on the output removes this file.
    if (!kOpenMpi) static_cast<void>(shell_.run("rm -f d/.out.hetsort-*.part"));
    EXPECT_EQ(shell_.names_in("d"), "all\nin.0\nin.1\nin.2\nin.3\nout\nout.0\nout.1\nout.2\nout.3\n") << outcome;
    EXPECT_EQ(shell_.names_in("t"), "") << outcome;
    for (const std::string name : {"out", "out.0", "out.1", "out.2", "out.3"}) {
      const std::string now = shell_.file("d/" + name);
      const std::string old = name == "out" ? "old\n" : "old " + name.substr(4) + "\n";
      EXPECT_TRUE(now == old || now == shell_.file("new/" + name)) << name << ": " << outcome;
    }
  }

  MpiShell shell_;
};

TEST_F(MpirunDeath, a_stopped_rank_is_named_and_ends_the_job) {
  for (const std::string rank : {"2", "0"}) {
    // Its files are slow, so that it is stopped in the middle.
    const Outcome outcome =
        job("VICTIM=" + rank +
                " FAULTS=read:~1:delay700,write:~1:delay700 $M -n 4 $A sort -q -T t d/all -o d/out --stall-timeout 4",
            "STOP", rank, 0.5, "d/.out.hetsort-*");
    EXPECT_TRUE(job_failed_with(outcome, {"rank " + rank + " (", "silent for 4 s", "output untouched"}));
    expect_whole(outcome);
    EXPECT_EQ(shell_.file("d/out"), "old\n");
  }
}

/// A sort of 200 MB in which rank 1 writes slowly, so that others take ranges of it; `signals` are sent half a second
/// after the output was begun.
std::string sort_while_ranges_move(const std::string& signals, const std::string& options = "", int delay = 50) {
  return "$H gen 2000000 d/many && { VICTIM=1 FAULTS=write:~1:delay" + std::to_string(delay) +
         " $M -n 3 $A sort -q -j 1 --no-sync d/many "
         "-o d/new --report r.json" +
         options + " & }; until ls d/.new.hetsort-* >l 2>&1 && test -s pids/1; do sleep 0.1; done; sleep 0.5; " +
         signals + " wait $!";
}

TEST_F(MpirunDeath, a_rank_that_gives_ranges_away_does_not_seem_dead) {
  const Outcome outcome =
      shell_.run(sort_while_ranges_move("", " --stall-timeout 1", 250) + " && $H validate -q d/new");
  EXPECT_EQ(outcome.exit_code, 0) << outcome;
  const Json report = Json::parse(shell_.file("r.json"));
  EXPECT_NE(report.dump().find("taken_ranges"), std::string::npos) << report;
  EXPECT_GT(report["seconds"].get<double>(), 1.2) << "shorter than the timeout";
}

TEST_F(MpirunDeath, a_rank_that_is_stopped_for_10_s_while_ranges_move_loses_nothing) {
  const Outcome outcome =
      shell_.run(sort_while_ranges_move("kill -STOP $(cat pids/1); sleep 10; kill -CONT $(cat pids/1);") +
                 " && $H validate -q d/new && stat -c %s d/new");
  EXPECT_EQ(outcome.exit_code, 0) << outcome;
  EXPECT_EQ(outcome.out, "200000000\n");
  EXPECT_NE(shell_.file("r.json").find("taken_ranges"), std::string::npos) << shell_.file("r.json");
}

TEST_F(MpirunDeath, a_rank_that_dies_while_ranges_move_ends_the_job) {
  for (const std::string victim : {"1", "2"}) {  // the one whose ranges move, and one that may have taken some
    const Outcome outcome = shell_.run("rm -f pids/*; echo old > d/new; " +
                                       sort_while_ranges_move("kill -KILL $(cat pids/" + victim + ");"));
    EXPECT_NE(outcome.exit_code, 0) << outcome;
    EXPECT_LE(messages(outcome), 1) << outcome;
    EXPECT_EQ(shell_.file("d/new"), "old\n");
    // MPICH's mpirun kills all ranks at once, and the next run on the output removes this file.
    if (kOpenMpi) {
      EXPECT_EQ(shell_.names_in("d").find(".new"), std::string::npos) << shell_.names_in("d");
    }
  }
}

TEST_F(MpirunDeath, a_rank_that_stops_while_mpi_starts_ends_the_job) {
  for (const std::string rank : {"1", "0"}) {
    // Stopped before its program begins; no signal is sent.
    const Outcome outcome =
        job("VICTIM=" + rank + " STOPPED=1 $M -n 4 $A sort -T t d/all -o d/out --stall-timeout 2", "0", "mpirun", 0);
    EXPECT_TRUE(job_failed_with(outcome, {"MPI_Init_thread: waited 2 s for all ranks"}));
    expect_whole(outcome);
  }
}

TEST_F(MpirunDeath, many_ranks_may_start_more_slowly_than_the_stall_timeout) {
  const Outcome outcome = shell_.run(
      "$M -n 16 sh -c 'test ${OMPI_COMM_WORLD_RANK:-$PMI_RANK} != 3 || sleep 4; exec $H gen 16 d/made --stall-timeout "
      "3' && stat -c %s d/made");
  EXPECT_EQ(outcome.exit_code, 0) << outcome;
  EXPECT_EQ(outcome.out, "1600\n");
}

TEST_F(MpirunDeath, a_rank_that_comes_late_to_the_end_of_mpi_changes_no_outcome) {
  // Rank 0 links its report, after the output was renamed, so slowly that rank 1 waits for the end beyond the timeout.
  const Outcome outcome = shell_.run(
      "VICTIM=0 FAULTS=link:1:delay9000; export VICTIM FAULTS; "
      "$M -n 2 $A sort -q -T t d/all -o d/new --report r.json --stall-timeout 4 && $H validate -q d/new");
  EXPECT_EQ(outcome.exit_code, 0) << outcome;
}

TEST_F(MpirunDeath, signals_to_the_launcher_end_the_job) {
  for (const std::string signal : {"TERM", "INT"}) {
    for (const std::string out : {"d/out", "'d/out.{rank}'"}) {
      const Outcome outcome =
          // So slow that it cannot end before the signal, even if others take over what it has to write.
          job("VICTIM=1 FAULTS=read:~1:delay2500 $M -n 4 $A sort -T t d/all -o " + out, signal, "mpirun", 0.9);
      // MPICH's mpirun may have printed that it forwards the signal before.
      EXPECT_NE(outcome.out.find("sent\n"), std::string::npos) << outcome;
      // MPICH's mpirun sometimes ends with 0 after a signal.
      if (kOpenMpi) {
        EXPECT_NE(outcome.exit_code, 0) << outcome;
      }
      EXPECT_LE(messages(outcome), 1) << outcome;
      expect_whole(outcome);
      EXPECT_EQ(shell_.file("d/out") + shell_.file("d/out.1"), "old\nold 1\n") << outcome;
    }
  }
}

}  // namespace
}  // namespace hetsort::cli::test
