// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
//
// Ranks and launchers that are killed or stopped at random moments. HETSORT_TEST_KILLS sets how many are.
#include <random>

#include "tests/cli/mpirun_shell.h"
#include "tests/sort/inputs.h"

namespace hetsort::cli::test {
namespace {

using sort::test::environment_number;
using sort::test::test_seed;

class MpirunDeath : public ::testing::Test {
 protected:
  MpirunDeath() : random_(test_seed()) { shell_.allow_victims(); }

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
    return shell_.run(
        "rm -f pids/*; rm -f d/out*; for r in 0 1 2 3; do echo old $r > d/out.$r; done; echo old > d/out\n"
        // Without timeout(1), which would be what is killed.
        "M='" HETSORT_MPIRUN "'\n" +
        sort + " & P=$!\nuntil { " + there + "; } >/dev/null 2>&1 || ! kill -0 $P 2>/dev/null; do sleep 0.01; done\n" +
        "sleep " + std::to_string(seconds) + "\nkill -" + signal + " " + pid + " 2>/dev/null && echo sent\n" + kWait);
  }
  /// Waits until launcher and ranks are gone, at most 20 s, and tells how long that took.
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

  /// Nothing but inputs and whole outputs, old or new; new ones only if the job got that far.
  void expect_whole(const Outcome& outcome, bool one_part_may_stay) {
    EXPECT_LT(milliseconds_of(outcome), 10'000) << outcome;
    std::string names = shell_.names_in("d");
    const std::size_t part = names.find(".out.hetsort-");
    if (one_part_may_stay && part != std::string::npos) names.erase(part, names.find('\n', part) + 1 - part);
    EXPECT_EQ(names, "all\nin.0\nin.1\nin.2\nin.3\nout\nout.0\nout.1\nout.2\nout.3\n") << outcome;
    EXPECT_EQ(shell_.names_in("t"), "") << outcome;
    int replaced = 0;
    for (const std::string name : {"out", "out.0", "out.1", "out.2", "out.3"}) {
      const std::string now = shell_.file("d/" + name);
      const std::string old = name == "out" ? "old\n" : "old " + name.substr(4) + "\n";
      EXPECT_TRUE(now == old || now == shell_.file("new/" + name)) << name << ": " << outcome;
      replaced += now == old ? 0 : 1;
    }
    if (outcome.exit_code == 0) {
      EXPECT_TRUE(replaced == 1 || replaced == 4) << replaced;
      ++finished_;
    }
    published_ += outcome.exit_code != 0 && replaced > 0 ? 1 : 0;
  }

  std::string random_sort() {
    // Files are slow, so that most moments fall into the work.
    static const std::string kRun =
        "HETSORT_FAULTS=read:~2:delay40,write:~2:delay40,link:~2:delay100 $M -n 4 $A sort --progress none -T t ";
    static const std::vector<std::string> kWhat{"'d/in.{rank}' -o 'd/out.{rank}'", "d/all -o d/out",
                                                "-S 4M 'd/in.{rank}' -o 'd/out.{rank}'", "-S 4M d/all -o d/out"};
    static const std::vector<std::string> kModes{"", " --exchange inline", " --exchange threads"};
    return kRun + kWhat[random_() % kWhat.size()] + kModes[random_() % kModes.size()];
  }
  double random_moment() { return 0.15 + static_cast<double>(random_() % 1800) / 1000; }

  MpiShell shell_;
  std::mt19937_64 random_;
  int finished_ = 0;
  int published_ = 0;
};

TEST_F(MpirunDeath, a_killed_rank_ends_the_job_and_leaves_nothing) {
  const std::uint64_t kills = environment_number("HETSORT_TEST_KILLS", 5);
  for (std::uint64_t kill = 0; kill < kills; ++kill) {
    const std::string what = random_sort();
    const std::string rank = std::to_string(random_() % 4);
    const double seconds = random_moment();
    SCOPED_TRACE("HETSORT_TEST_SEED=" + std::to_string(test_seed()) + ", kill " + std::to_string(kill) + ": rank " +
                 rank + " after " + std::to_string(seconds) + " s: " + what);
    const Outcome outcome = job(what, "KILL", rank, seconds);
    expect_whole(outcome, false);
    // After an exit code other than 0 nobody says more than once that the job has ended.
    EXPECT_LE(messages(outcome), 1) << outcome;
  }
  RecordProperty("finished_before", finished_);
  RecordProperty("killed_while_publishing", published_);
  std::printf("%d of %d jobs had finished before, %d were killed while they published\n", finished_,
              static_cast<int>(kills), published_);
}

TEST_F(MpirunDeath, a_killed_launcher_ends_the_job) {
  const std::uint64_t kills = (environment_number("HETSORT_TEST_KILLS", 5) + 4) / 5;
  for (std::uint64_t kill = 0; kill < kills; ++kill) {
    const std::string what = random_sort();
    const double seconds = random_moment();
    SCOPED_TRACE("HETSORT_TEST_SEED=" + std::to_string(test_seed()) + ", kill " + std::to_string(kill) +
                 ": mpirun after " + std::to_string(seconds) + " s: " + what);
    expect_whole(job(what, "KILL", "mpirun", seconds), true);
  }
  // The next run on that output removes what the last one left.
  const Outcome next = shell_.run("$M -n 4 $H sort -T t d/all -o d/out && ls -A d");
  EXPECT_EQ(next.exit_code, 0) << next;
  EXPECT_EQ(next.out.find(".part"), std::string::npos) << next.out;
}

TEST_F(MpirunDeath, a_stopped_rank_is_named_and_ends_the_job) {
  for (const std::string rank : {"2", "0"}) {
    // Its files are slow, so that it is stopped in the middle.
    const Outcome outcome =
        job("VICTIM=" + rank +
                " FAULTS=read:~1:delay700,write:~1:delay700 $M -n 4 $A sort -T t d/all -o d/out --stall-timeout 2",
            "STOP", rank, 0.5, "d/.out.hetsort-*");
    EXPECT_TRUE(job_failed_with(outcome, {"rank " + rank + " (", "silent for 2 s", "output untouched"}));
    expect_whole(outcome, false);
    EXPECT_EQ(shell_.file("d/out"), "old\n");
  }
}

TEST_F(MpirunDeath, a_rank_that_stops_while_mpi_starts_ends_the_job) {
  for (const std::string rank : {"1", "0"}) {
    // Stopped before its program begins; no signal is sent.
    const Outcome outcome =
        job("VICTIM=" + rank + " STOPPED=1 $M -n 4 $A sort -T t d/all -o d/out --stall-timeout 2", "0", "mpirun", 0);
    EXPECT_TRUE(job_failed_with(outcome, {"MPI_Init_thread: waited 2 s for all ranks"}));
    expect_whole(outcome, false);
  }
}

TEST_F(MpirunDeath, signals_to_the_launcher_end_the_job) {
  for (const std::string signal : {"TERM", "INT"}) {
    for (const std::string out : {"d/out", "'d/out.{rank}'"}) {
      const Outcome outcome =
          job("VICTIM=1 FAULTS=read:~1:delay700,write:~1:delay700 $M -n 4 $A sort -T t d/all -o " + out, signal,
              "mpirun", 0.9);
      EXPECT_NE(outcome.exit_code, 0) << outcome;
      EXPECT_LE(messages(outcome), 1) << outcome;
      expect_whole(outcome, false);
    }
  }
}

}  // namespace
}  // namespace hetsort::cli::test
