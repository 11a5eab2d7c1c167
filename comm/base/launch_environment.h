// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
//
// What the environment says about the launcher of this process. MPI is started only under a launcher.
//
// A launcher of another MPI than the program's starts copies that cannot find each other. Each believes that it is rank
// 0 of 1, and each would write the output. Such a launcher is refused, before MPI starts where the environment is
// enough to know, else once the number of ranks is known.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>

namespace hetsort::comm {

/// The values of the option --mpi.
enum class MpiUse : std::uint8_t { kAuto, kOn, kOff };

/// The MPI that this program was built for. Other ones count as MPICH: they share its launcher protocol.
enum class MpiLibrary : std::uint8_t { kNone, kOpenMpi, kMpich };

/// Looks up a variable, as getenv() does.
using Environment = std::function<const char*(const char* name)>;

/// Looks it up in the environment of this process.
const char* own_variable(const char* name);

/// The number that a launcher gave this process, before MPI has started; none without a launcher.
std::optional<int> launched_rank(const Environment& environment = own_variable);

/// Seconds that MPI itself may take to start as many ranks as the launcher has, with many of them on a processor.
double start_allowance_seconds(const Environment& environment = own_variable);

/// Whether to start MPI. Throws: std::runtime_error if many processes were started that cannot find each other, or if
/// MPI is needed and this program was built without it.
bool uses_mpi(MpiUse use, MpiLibrary library, const Environment& environment);

/// Why a job of `ranks` ranks contradicts the environment; empty if it does not.
std::string wrong_launcher(int ranks, MpiLibrary library, const Environment& environment);

}  // namespace hetsort::comm
