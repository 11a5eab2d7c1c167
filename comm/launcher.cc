// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
#include "comm/launcher.h"

#include <fmt/format.h>

#include <charconv>
#include <cstdlib>
#include <cstring>
#include <stdexcept>
#include <string_view>

#if HETSORT_MPI
#include "comm/mpi.h"
#endif

namespace hetsort::comm {

namespace {

#if HETSORT_MPI
constexpr bool kHasMpi = true;
#else
constexpr bool kHasMpi = false;
#endif

/// The number in a variable; 0 if it is not set or no number.
long number(const Environment& environment, const char* name) {
  const char* value = environment(name);
  long result = 0;
  if (value != nullptr) std::from_chars(value, value + std::strlen(value), result);
  return result;
}

/// The launcher that tells ranks how to find each other; empty if there is none.
std::string_view launcher(const Environment& environment) {
  const auto set = [&](const char* name) { return environment(name) != nullptr; };
  if (set("OMPI_COMM_WORLD_SIZE")) return "mpirun";
  if (set("PMIX_RANK") && set("PMIX_NAMESPACE")) return "a PMIx launcher";
  if (set("PMI_RANK") && set("PMI_SIZE")) return "a PMI launcher";
  return {};
}

/// How many copies srun has started; 0 if it has not.
long srun_tasks(const Environment& environment) {
  const long in_step = number(environment, "SLURM_STEP_NUM_TASKS");
  if (in_step > 0) return in_step;
  // sbatch's own shell has SLURM_NTASKS too, and is alone.
  const bool step = environment("SLURM_STEP_ID") != nullptr && environment("SLURM_PROCID") != nullptr;
  return step ? number(environment, "SLURM_NTASKS") : 0;
}

}  // namespace

const char* own_variable(const char* name) { return std::getenv(name); }

std::optional<int> launched_rank(const Environment& environment) {
  for (const char* const name : {"OMPI_COMM_WORLD_RANK", "PMIX_RANK", "PMI_RANK"})
    if (environment(name) != nullptr) return static_cast<int>(number(environment, name));
  return std::nullopt;
}

bool uses_mpi(MpiUse use, const Environment& environment) {
  if (use == MpiUse::kOff) return false;
  const std::string_view found = launcher(environment);
  if (use == MpiUse::kAuto && found.empty()) {
    if (const long tasks = srun_tasks(environment); tasks > 1)
      throw std::runtime_error(fmt::format(
          "srun started {} copies without PMIx, so that they cannot find each other and each would write the "
          "output: use srun --mpi=pmix or mpirun; --mpi off if they are meant to be alone",
          tasks));
    return false;
  }
  if (!kHasMpi)
    throw std::runtime_error(found.empty()
                                 ? std::string("--mpi on: this program was built without MPI")
                                 : fmt::format("started by {}, but this program was built without MPI; --mpi off "
                                               "makes each process sort alone",
                                               found));
  return true;
}

std::unique_ptr<Communicator> make_communicator(MpiUse use, const CommunicatorOptions& options) {
  if (!uses_mpi(use, own_variable)) return std::make_unique<Communicator>();
#if HETSORT_MPI
  const auto make = [&](ExchangeMode mode) { return make_mpi_transport(mode, options.stall_timeout_seconds); };
  return std::make_unique<Communicator>(make, options);
#else
  static_cast<void>(options);
  return nullptr;
#endif
}

}  // namespace hetsort::comm
