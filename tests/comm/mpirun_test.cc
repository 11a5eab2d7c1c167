// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
//
// Whole jobs under mpirun: how they end.
#include <chrono>
#include <random>

#include "tests/cli/program.h"
#include "tests/seeds.h"

namespace hetsort::comm::test {

using cli::test::Outcome;
using cli::test::Shell;

namespace {

/// Runs program.cc on 3 ranks.
Outcome job(const std::string& arguments, int mode = 1) {
  return Shell().run("MODE=" + std::to_string(mode) + " timeout 60 " HETSORT_MPIRUN " -n 3 $H " + arguments);
}

/// Number of messages of the program itself; mpirun prints others.
int messages(const Outcome& outcome) {
  int count = 0;
  for (std::size_t at = 0; (at = outcome.err.find("hetsort: ", at)) != std::string::npos; ++at) ++count;
  return count;
}

TEST(CommMpirun, a_job_that_succeeds_is_quiet) {
  for (const int mode : {0, 1, 2}) {
    const Outcome outcome = job("nothing", mode);
    EXPECT_EQ(outcome.exit_code, 0) << outcome;
    EXPECT_EQ(outcome.err, "");
    EXPECT_EQ(outcome.out, "3 ranks\n");
  }
}

TEST(CommMpirun, a_rank_that_fails_ends_all_with_one_message) {
  for (const int mode : {0, 1, 2})
    for (const int rank : {0, 2}) {
      const Outcome outcome = job("fail " + std::to_string(rank), mode);
      EXPECT_EQ(outcome.exit_code, 2) << outcome;
      EXPECT_NE(outcome.err.find("hetsort: rank " + std::to_string(rank) + " ("), std::string::npos) << outcome;
      EXPECT_NE(outcome.err.find("): boom\n"), std::string::npos) << outcome;
      EXPECT_EQ(messages(outcome), 1) << outcome;
    }
}

TEST(CommMpirun, a_stopped_rank_is_named_and_ends_the_job) {
  for (const int rank : {0, 1}) {
    const Outcome outcome = job("stop " + std::to_string(rank));
    EXPECT_EQ(outcome.exit_code, 2) << outcome;
    EXPECT_NE(outcome.err.find("hetsort: rank " + std::to_string(rank) + " ("), std::string::npos) << outcome;
    EXPECT_NE(outcome.err.find("): silent for 2 s in phase exchange: stalled or unreachable"), std::string::npos)
        << outcome;
    EXPECT_EQ(messages(outcome), 1) << outcome;
  }
}

TEST(CommMpirun, a_killed_rank_ends_the_job) {
  const auto begin = std::chrono::steady_clock::now();
  const Outcome outcome = job("kill 1");
  EXPECT_NE(outcome.exit_code, 0);
  EXPECT_NE(outcome.exit_code, 124) << "it hung";
  EXPECT_LT(std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count(), 10);
}

#if HETSORT_OPEN_MPI
TEST(CommMpirun, blocks_leave_without_asking_unless_the_user_wants_it) {
  EXPECT_EQ(job("sizes").out, "1081344 1081344 131072\n3 ranks\n");
  const Outcome set =
      Shell().run(HETSORT_MPIRUN " --mca btl_tcp_eager_limit 65536 --mca btl_tcp_sndbuf 0 -n 1 $H sizes");
  EXPECT_EQ(set.out, "65536 1081344 0\n1 ranks\n");
}
#endif

TEST(CommMpirun, different_builds_refuse_each_other) {
  const Outcome outcome =
      Shell().run("timeout 60 " HETSORT_MPIRUN " -n 1 $H nothing : -n 1 " HETSORT_OTHER_PROGRAM " nothing");
  EXPECT_EQ(outcome.exit_code, 2) << outcome;
  EXPECT_EQ(outcome.out, "");
  EXPECT_NE(outcome.err.find("hetsort: the ranks run different programs: rank 0 ("), std::string::npos) << outcome;
  EXPECT_NE(outcome.err.find("; rank 1 ("), std::string::npos) << outcome;
  EXPECT_NE(outcome.err.find(", build "), std::string::npos) << outcome;
}

/// Behind an mpirun that ran all ranks but does not end by itself (docs/promises.md, promise 6). Its children are the
/// ranks.
constexpr const char* kNoRankIsLeft = "only mpirun is left\n";
constexpr const char* kEndAfterAMinute = R"( & P=$!
for i in $(seq 600); do kill -0 $P 2>/dev/null || break; sleep 0.1; done
if kill -0 $P 2>/dev/null; then
  ranks=$(cat /proc/$P/task/*/children)
  [ -n "$ranks" ] || echo only mpirun is left
  kill -KILL $P $ranks
fi
wait $P)";

TEST(CommMpirun, a_flipped_bit_of_a_control_message_is_found_or_harmless) {
  const std::uint64_t flips = hetsort::test::environment_number("HETSORT_TEST_MPIRUN_FLIPS", 4);
  std::mt19937_64 random(hetsort::test::test_seed());
  SCOPED_TRACE(hetsort::test::seed_note());
  for (std::uint64_t n = 0; n < flips; ++n) {
    const std::string fault = "flip:" + std::to_string(n % 3) + ":" + std::to_string(1 + random() % 20) + ":" +
                              std::to_string(random() % 999);
    // MPI itself may take seconds to start on a busy machine.
    const Outcome outcome = Shell().run("HETSORT_MESSAGE_FAULT=" + fault + " MODE=" + std::to_string(n % 2) +
                                        " STALL_TIMEOUT=10 " HETSORT_MPIRUN " -n 3 $H nothing" + kEndAfterAMinute);
    const bool blamed = outcome.err.find("network or memory changed") != std::string::npos;
    const bool done = outcome.out.find("3 ranks\n") != std::string::npos;
    if (outcome.out.ends_with(kNoRankIsLeft)) {
      EXPECT_TRUE(blamed || done) << fault << outcome;
    } else if (outcome.exit_code != 0) {
      EXPECT_EQ(outcome.exit_code, 2) << fault << outcome;
      EXPECT_TRUE(blamed) << fault << outcome;
    }
  }
}

TEST(CommMpirun, without_it_a_process_is_alone) {
  const Outcome outcome = Shell().run("$H nothing");
  EXPECT_EQ(outcome.exit_code, 0) << outcome;
  EXPECT_EQ(outcome.out, "1 ranks\n");
}

TEST(CommMpirun, srun_without_pmi_is_refused) {
  EXPECT_TRUE(failed_with(Shell().run("SLURM_STEP_NUM_TASKS=4 SLURM_STEP_ID=0 SLURM_PROCID=1 $H nothing"),
                          "srun started 4 copies without PMI"));
}

}  // namespace

}  // namespace hetsort::comm::test
