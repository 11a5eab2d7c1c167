// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
//
// Launchers whose processes cannot find each other: every command that joins a job refuses to start, before it writes.
#include "tests/cli/program.h"

namespace hetsort::cli::test {
namespace {

const char* const kCommands[] = {"gen 10 out", "sort in -o out", "validate in", "compare in -o out --strategies equal",
                                 "calibrate -o out"};

void expect_refused(const std::string& environment, const std::string& text) {
  const Shell shell;
  ASSERT_EQ(shell.run("$H gen 10 in").exit_code, 0);
  for (const std::string command : kCommands) {
    const Outcome outcome = shell.run(environment + " timeout 20 $H " + command);
    EXPECT_TRUE(failed_with(outcome, text)) << environment << ": " << command;
    EXPECT_NE(outcome.err.find("--mpi off if each is meant to work alone"), std::string::npos) << outcome;
    EXPECT_EQ(shell.names(), Names{"in"}) << command;
  }
}

TEST(Launchers, mpirun_of_mpich_is_refused_by_every_command) {
  expect_refused("PMI_RANK=0 PMI_SIZE=3 PMI_FD=9 MPI_LOCALNRANKS=3 MPI_LOCALRANKID=0 HYDI_CONTROL_FD=8",
                 "MPICH's mpirun started 3 copies");
}

TEST(Launchers, srun_without_pmix_is_refused_by_every_command) {
  expect_refused("PMI_RANK=0 PMI_SIZE=4 SLURM_STEP_NUM_TASKS=4", "srun started 4 copies");
}

TEST(Launchers, mpirun_of_mvapich2_is_refused_by_every_command) {
  expect_refused("MV2_COMM_WORLD_RANK=0 MV2_COMM_WORLD_SIZE=2", "MVAPICH2's mpirun started 2 copies");
}

TEST(Launchers, do_not_matter_to_processes_that_work_alone) {
  const Shell shell;
  EXPECT_EQ(shell
                .run("PMI_RANK=0 PMI_SIZE=3 PMI_FD=9 $H gen 10 in --mpi off && PMI_RANK=1 PMI_SIZE=3 PMI_FD=9 $H "
                     "sort in -o out --mpi off")
                .exit_code,
            0);
  EXPECT_EQ(shell.names(), (Names{"in", "out"}));
}

}  // namespace
}  // namespace hetsort::cli::test
