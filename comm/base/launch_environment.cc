// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
#include "comm/base/launch_environment.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <cstring>
#include <initializer_list>
#include <stdexcept>
#include <string_view>
#include <vector>

namespace hetsort::comm {

namespace {

bool is_set(const Environment& environment, const char* name) { return environment(name) != nullptr; }

/// The number in a variable; 0 if it is not set or no number.
long number(const Environment& environment, const char* name) {
  const char* value = environment(name);
  long result = 0;
  if (value != nullptr) std::from_chars(value, value + std::strlen(value), result);
  return result;
}

/// The largest of several counts, and of several ranks' numbers plus one.
long count(const Environment& environment, std::initializer_list<const char*> sizes,
           std::initializer_list<const char*> ranks) {
  long found = 0;
  for (const char* const name : sizes) found = std::max(found, number(environment, name));
  for (const char* const name : ranks)
    if (is_set(environment, name)) found = std::max(found, number(environment, name) + 1);
  return found;
}

/// A launcher that the environment shows, and the minimum number of processes that it has started.
struct Launch {
  std::string_view launcher;
  long processes = 0;
  MpiLibrary library = MpiLibrary::kNone;  ///< the MPI whose ranks find each other under this launcher; none: any
};

/// Slurm starts processes of an MPI program, but also the daemons of Open MPI's mpirun, whose ranks inherit these
/// variables.
Launch srun(const Environment& environment) {
  Launch launch{"srun", number(environment, "SLURM_STEP_NUM_TASKS"), MpiLibrary::kNone};
  // The shell of sbatch has SLURM_NTASKS too, and is a single process.
  const bool in_step = is_set(environment, "SLURM_STEP_ID") && is_set(environment, "SLURM_PROCID");
  if (launch.processes == 0 && in_step) launch.processes = count(environment, {"SLURM_NTASKS"}, {"SLURM_PROCID"});
  return launch;
}

bool is_hydra(const Environment& environment) {
  return std::ranges::any_of(std::initializer_list<const char*>{"PMI_FD", "PMI_PORT", "MPI_LOCALNRANKS",
                                                                "MPI_LOCALRANKID", "HYDI_CONTROL_FD", "HYDRA_LAUNCHER"},
                             [&](const char* name) { return is_set(environment, name); });
}

std::vector<Launch> launches(const Environment& environment) {
  std::vector<Launch> found;
  const auto add = [&](const Launch& launch) {
    if (launch.processes > 0) found.push_back(launch);
  };
  add({"Open MPI's mpirun",
       count(environment, {"OMPI_COMM_WORLD_SIZE", "OMPI_COMM_WORLD_LOCAL_SIZE"}, {"OMPI_COMM_WORLD_RANK"}),
       MpiLibrary::kOpenMpi});
  const bool hydra = is_hydra(environment);
  const long pmi = count(environment, {"PMI_SIZE", "MPI_LOCALNRANKS"}, {"PMI_RANK", "MPI_LOCALRANKID"});
  const Launch slurm = srun(environment);
  if (hydra || slurm.processes == 0) add({hydra ? "MPICH's mpirun" : "a PMI launcher", pmi, MpiLibrary::kMpich});
  add({"MVAPICH2's mpirun", count(environment, {"MV2_COMM_WORLD_SIZE"}, {"MV2_COMM_WORLD_RANK"}), MpiLibrary::kMpich});
  add({"a PMIx launcher", count(environment, {}, {"PMIX_RANK"}), MpiLibrary::kNone});
  add({slurm.launcher,
       hydra                 ? slurm.processes
       : slurm.processes > 0 ? std::max(slurm.processes, pmi)
                             : 0,
       MpiLibrary::kNone});
  return found;
}

std::string_view launcher_that_works(MpiLibrary library) {
  switch (library) {
    case MpiLibrary::kOpenMpi:
      return "this program was built for Open MPI: use Open MPI's mpirun (mpirun.openmpi) or srun --mpi=pmix";
    case MpiLibrary::kMpich:
      return "this program was built for MPICH: use MPICH's mpirun (mpirun.mpich) or srun --mpi=pmi2";
    default:
      return "this program was built without MPI: start it without a launcher";
  }
}

std::string refusal(const Launch& launch, MpiLibrary library) {
  return fmt::format(
      "{} started {} copies{}, so that they cannot find each other and each would write the output; {}; --mpi off if "
      "each is meant to work alone",
      launch.launcher, launch.processes,
      launch.launcher != "srun"       ? ""
      : library == MpiLibrary::kMpich ? " without PMI"
                                      : " without PMIx",
      launcher_that_works(library));
}

/// Whether ranks of `library` find each other under the launchers of this environment, as far as one can see.
bool can_join(MpiLibrary library, const Environment& environment) {
  const bool pmix = is_set(environment, "PMIX_RANK") && is_set(environment, "PMIX_NAMESPACE");
  const bool pmi = is_set(environment, "PMI_RANK") && is_set(environment, "PMI_SIZE");
  if (library == MpiLibrary::kOpenMpi) return is_set(environment, "OMPI_COMM_WORLD_SIZE") || pmix;
  return library == MpiLibrary::kMpich && (pmi || pmix);
}

}  // namespace

const char* own_variable(const char* name) { return std::getenv(name); }

std::optional<int> launched_rank(const Environment& environment) {
  for (const char* const name : {"OMPI_COMM_WORLD_RANK", "PMIX_RANK", "PMI_RANK", "MV2_COMM_WORLD_RANK"})
    if (is_set(environment, name)) return static_cast<int>(number(environment, name));
  if (srun(environment).processes > 1) return static_cast<int>(number(environment, "SLURM_PROCID"));
  return std::nullopt;
}

double start_allowance_seconds(const Environment& environment) {
  // Each rank learns the address of every other one. 256 ranks of an empty program on two processors take 147 s, a
  // ninth of this allowance.
  constexpr double kSecondsPerPair = 0.02;
  constexpr double kMaxSeconds = 3600;
  double ranks = 0;
  for (const Launch& launch : launches(environment)) ranks = std::max(ranks, static_cast<double>(launch.processes));
  return std::min(kMaxSeconds, kSecondsPerPair * ranks * ranks);
}

bool uses_mpi(MpiUse use, MpiLibrary library, const Environment& environment) {
  if (use == MpiUse::kOff) return false;
  if (use == MpiUse::kOn) {
    if (library == MpiLibrary::kNone) throw std::runtime_error("--mpi on: this program was built without MPI");
    return true;
  }
  if (can_join(library, environment)) return true;
  if (const std::string reason = wrong_launcher(1, library, environment); !reason.empty())
    throw std::runtime_error(reason);
  return false;
}

std::string wrong_launcher(int ranks, MpiLibrary library, const Environment& environment) {
  const std::vector<Launch> all = launches(environment);
  const bool own_agrees = std::ranges::any_of(
      all, [&](const Launch& launch) { return launch.library != MpiLibrary::kNone && launch.processes == ranks; });
  for (const Launch& launch : all) {
    if (launch.processes <= ranks) continue;
    // The ranks of an mpirun inside a Slurm job inherit the variables of the daemons that srun started for it.
    if (own_agrees && launch.launcher == "srun") continue;
    return refusal(launch, library);
  }
  return {};
}

}  // namespace hetsort::comm
