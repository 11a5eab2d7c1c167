// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
#include "comm/launcher.h"

#include <gtest/gtest.h>

#include <map>
#include <string>

namespace hetsort::comm::test {

namespace {

using Variables = std::map<std::string, std::string>;

Environment environment_of(const Variables& variables) {
  return [&variables](const char* name) -> const char* {
    const auto found = variables.find(name);
    return found == variables.end() ? nullptr : found->second.c_str();
  };
}

bool decide(MpiUse use, const Variables& variables, MpiLibrary library = MpiLibrary::kOpenMpi) {
  return uses_mpi(use, library, environment_of(variables));
}

std::string refusal(MpiUse use, const Variables& variables, MpiLibrary library = MpiLibrary::kOpenMpi) {
  try {
    decide(use, variables, library);
  } catch (const std::runtime_error& error) {
    return error.what();
  }
  return "";
}

const Variables kMpirun{{"OMPI_COMM_WORLD_SIZE", "4"}, {"OMPI_COMM_WORLD_RANK", "1"}};
const Variables kHydra{{"PMI_SIZE", "3"}, {"PMI_RANK", "0"}, {"PMI_FD", "7"}, {"MPI_LOCALNRANKS", "3"}};
const Variables kSrun{{"SLURM_STEP_NUM_TASKS", "8"}, {"SLURM_STEP_ID", "0"}, {"SLURM_PROCID", "3"}};
const Variables kSrunWithPmi2{{"PMI_SIZE", "4"}, {"PMI_RANK", "1"}, {"SLURM_STEP_NUM_TASKS", "4"}};
const Variables kPmix{{"PMIX_RANK", "0"}, {"PMIX_NAMESPACE", "job"}};

TEST(Launcher, without_one_a_process_is_alone) {
  for (const MpiLibrary library : {MpiLibrary::kNone, MpiLibrary::kOpenMpi, MpiLibrary::kMpich}) {
    EXPECT_FALSE(decide(MpiUse::kAuto, {}, library));
    EXPECT_FALSE(decide(MpiUse::kOff, kMpirun, library));
    EXPECT_FALSE(decide(MpiUse::kOff, kSrun, library));
    // These variables are set in a shell under sbatch or salloc, and in a single task.
    EXPECT_FALSE(decide(MpiUse::kAuto, {{"SLURM_NTASKS", "8"}, {"SLURM_JOB_ID", "1"}}, library));
    EXPECT_FALSE(
        decide(MpiUse::kAuto, {{"SLURM_STEP_NUM_TASKS", "1"}, {"SLURM_STEP_ID", "0"}, {"SLURM_PROCID", "0"}}, library));
    // An incomplete set of PMIx or PMI variables is no launcher.
    EXPECT_FALSE(decide(MpiUse::kAuto, {{"PMIX_RANK", "0"}}, library));
    EXPECT_FALSE(decide(MpiUse::kAuto, {{"PMI_RANK", "0"}}, library));
  }
}

TEST(Launcher, of_the_programs_mpi_is_joined) {
  EXPECT_TRUE(decide(MpiUse::kAuto, kMpirun));
  EXPECT_TRUE(decide(MpiUse::kAuto, {{"OMPI_COMM_WORLD_SIZE", "1"}}));
  EXPECT_TRUE(decide(MpiUse::kAuto, kPmix));
  EXPECT_TRUE(decide(MpiUse::kAuto, kPmix, MpiLibrary::kMpich));
  EXPECT_TRUE(decide(MpiUse::kAuto, kHydra, MpiLibrary::kMpich));
  EXPECT_TRUE(decide(MpiUse::kAuto, kSrunWithPmi2, MpiLibrary::kMpich));
  EXPECT_TRUE(decide(MpiUse::kOn, {}));
  Variables both = kSrun;
  both.insert(kPmix.begin(), kPmix.end());
  EXPECT_TRUE(decide(MpiUse::kAuto, both));
}

TEST(Launcher, of_another_mpi_is_refused_and_the_right_one_named) {
  EXPECT_EQ(
      refusal(MpiUse::kAuto, kHydra),
      "MPICH's mpirun started 3 copies, so that they cannot find each other and each would write the output; this "
      "program was built for Open MPI: use Open MPI's mpirun (mpirun.openmpi) or srun --mpi=pmix; --mpi off if "
      "each is meant to work alone");
  EXPECT_EQ(refusal(MpiUse::kAuto, kMpirun, MpiLibrary::kMpich),
            "Open MPI's mpirun started 4 copies, so that they cannot find each other and each would write the output; "
            "this program was built for MPICH: use MPICH's mpirun (mpirun.mpich) or srun --mpi=pmi2; --mpi off if each "
            "is meant to work alone");
  for (const Variables& variables :
       {Variables{{"MPI_LOCALNRANKS", "2"}, {"MPI_LOCALRANKID", "0"}}, Variables{{"MV2_COMM_WORLD_SIZE", "2"}},
        Variables{{"PMI_RANK", "1"}}, Variables{{"PMIX_RANK", "1"}}, Variables{{"PMI_SIZE", "2"}, {"PMI_ID", "0"}}})
    for (const MpiLibrary library : {MpiLibrary::kNone, MpiLibrary::kOpenMpi, MpiLibrary::kMpich})
      EXPECT_NE(refusal(MpiUse::kAuto, variables, library).find("started 2 copies"), std::string::npos)
          << variables.begin()->first;
}

TEST(Launcher, of_any_mpi_is_refused_by_a_program_without_mpi) {
  for (const Variables& variables : {kMpirun, kHydra, kSrun, kSrunWithPmi2})
    EXPECT_NE(refusal(MpiUse::kAuto, variables, MpiLibrary::kNone).find("this program was built without MPI"),
              std::string::npos);
  EXPECT_EQ(refusal(MpiUse::kOn, {}, MpiLibrary::kNone), "--mpi on: this program was built without MPI");
}

TEST(Launcher, srun_without_pmix_is_refused) {
  EXPECT_NE(refusal(MpiUse::kAuto, kSrun).find("srun started 8 copies without PMIx"), std::string::npos);
  EXPECT_NE(refusal(MpiUse::kAuto, kSrunWithPmi2).find("srun started 4 copies without PMIx"), std::string::npos);
  EXPECT_NE(refusal(MpiUse::kAuto, {{"SLURM_NTASKS", "3"}, {"SLURM_STEP_ID", "0"}, {"SLURM_PROCID", "2"}})
                .find("srun started 3 copies"),
            std::string::npos);
}

TEST(Launcher, that_started_more_processes_than_the_job_has_ranks_is_refused) {
  const auto wrong = [](int ranks, const Variables& variables) {
    return wrong_launcher(ranks, MpiLibrary::kOpenMpi, environment_of(variables));
  };
  EXPECT_EQ(wrong(4, kMpirun), "");
  EXPECT_NE(wrong(1, kMpirun), "");
  EXPECT_NE(wrong(1, kHydra), "");
  EXPECT_NE(wrong(3, kSrunWithPmi2), "");
  EXPECT_NE(wrong(1, {{"PMIX_RANK", "3"}}), "");
  // An mpirun inside a Slurm job: the step's tasks are the daemons that started the ranks.
  Variables nested = kMpirun;
  nested.insert(kSrun.begin(), kSrun.end());
  EXPECT_EQ(wrong(4, nested), "");
  EXPECT_NE(wrong(2, nested), "");
}

TEST(Launcher, each_kind_gives_a_rank) {
  const auto rank = [](const Variables& variables) { return launched_rank(environment_of(variables)); };
  EXPECT_EQ(rank({}), std::nullopt);
  EXPECT_EQ(rank(kMpirun), 1);
  EXPECT_EQ(rank({{"PMIX_RANK", "12"}}), 12);
  EXPECT_EQ(rank({{"PMI_RANK", "3"}}), 3);
  EXPECT_EQ(rank(kSrun), 3);
}

TEST(Launcher, may_take_minutes_to_start_many_ranks_and_at_most_an_hour) {
  const auto seconds = [](const std::string& ranks) {
    const Variables variables{{"OMPI_COMM_WORLD_SIZE", ranks}, {"OMPI_COMM_WORLD_RANK", "0"}};
    return start_allowance_seconds(environment_of(variables));
  };
  EXPECT_EQ(start_allowance_seconds(environment_of({})), 0);
  EXPECT_LT(seconds("4"), 1);
  EXPECT_GT(seconds("256"), 5 * 147);
  EXPECT_EQ(seconds("100000"), 3600);
  EXPECT_GT(start_allowance_seconds(environment_of({{"PMI_RANK", "0"}, {"PMI_SIZE", "64"}})), 60);
}

}  // namespace

}  // namespace hetsort::comm::test
