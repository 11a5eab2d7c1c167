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

bool decide(MpiUse use, const Variables& variables) { return uses_mpi(use, environment_of(variables)); }

std::string refusal(MpiUse use, const Variables& variables) {
  try {
    decide(use, variables);
  } catch (const std::runtime_error& error) {
    return error.what();
  }
  return "";
}

const Variables kMpirun{{"OMPI_COMM_WORLD_SIZE", "4"}, {"OMPI_COMM_WORLD_RANK", "1"}};
const Variables kSrun{{"SLURM_STEP_NUM_TASKS", "8"}, {"SLURM_STEP_ID", "0"}, {"SLURM_PROCID", "3"}};

TEST(Launcher, without_one_a_process_is_alone) {
  EXPECT_FALSE(decide(MpiUse::kAuto, {}));
  EXPECT_FALSE(decide(MpiUse::kOff, kMpirun));
  // A shell under sbatch or salloc, and one task alone.
  EXPECT_FALSE(decide(MpiUse::kAuto, {{"SLURM_NTASKS", "8"}, {"SLURM_JOB_ID", "1"}}));
  EXPECT_FALSE(decide(MpiUse::kAuto, {{"SLURM_STEP_NUM_TASKS", "1"}, {"SLURM_STEP_ID", "0"}, {"SLURM_PROCID", "0"}}));
  // Half of what PMIx and PMI set is nothing.
  EXPECT_FALSE(decide(MpiUse::kAuto, {{"PMIX_RANK", "0"}}));
  EXPECT_FALSE(decide(MpiUse::kAuto, {{"PMI_RANK", "0"}}));
}

#if HETSORT_MPI

TEST(Launcher, each_kind_is_known) {
  EXPECT_TRUE(decide(MpiUse::kAuto, kMpirun));
  EXPECT_TRUE(decide(MpiUse::kAuto, {{"OMPI_COMM_WORLD_SIZE", "1"}}));
  EXPECT_TRUE(decide(MpiUse::kAuto, {{"PMIX_RANK", "0"}, {"PMIX_NAMESPACE", "job"}}));
  EXPECT_TRUE(decide(MpiUse::kAuto, {{"PMI_RANK", "0"}, {"PMI_SIZE", "2"}}));
  EXPECT_TRUE(decide(MpiUse::kOn, {}));
  Variables both = kSrun;
  both.insert({{"PMIX_RANK", "0"}, {"PMIX_NAMESPACE", "slurm.1.0"}});
  EXPECT_TRUE(decide(MpiUse::kAuto, both));
}

#else

TEST(Launcher, without_mpi_each_kind_is_refused) {
  EXPECT_NE(refusal(MpiUse::kAuto, kMpirun).find("started by mpirun, but this program was built without MPI"),
            std::string::npos);
  EXPECT_EQ(refusal(MpiUse::kOn, {}), "--mpi on: this program was built without MPI");
}

#endif

TEST(Launcher, each_kind_tells_the_rank) {
  const auto rank = [](const Variables& variables) { return launched_rank(environment_of(variables)); };
  EXPECT_EQ(rank({}), std::nullopt);
  EXPECT_EQ(rank(kMpirun), 1);
  EXPECT_EQ(rank({{"PMIX_RANK", "12"}}), 12);
  EXPECT_EQ(rank({{"PMI_RANK", "3"}}), 3);
}

TEST(Launcher, srun_without_pmix_is_refused_by_name) {
  EXPECT_NE(refusal(MpiUse::kAuto, kSrun).find("srun started 8 copies without PMIx"), std::string::npos);
  EXPECT_NE(refusal(MpiUse::kAuto, {{"SLURM_NTASKS", "3"}, {"SLURM_STEP_ID", "0"}, {"SLURM_PROCID", "2"}})
                .find("srun started 3 copies"),
            std::string::npos);
  EXPECT_FALSE(decide(MpiUse::kOff, kSrun));
}

}  // namespace

}  // namespace hetsort::comm::test
