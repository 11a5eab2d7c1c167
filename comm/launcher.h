// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
//
// Whether this process is one rank of many: told by the environment that launchers leave. MPI is started only then.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>

#include "comm/communicator.h"

namespace hetsort::comm {

/// The option --mpi.
enum class MpiUse : std::uint8_t { kAuto, kOn, kOff };

/// What getenv() is.
using Environment = std::function<const char*(const char* name)>;

/// This process's own.
const char* own_variable(const char* name);

/// The number that a launcher gave this process, before MPI can tell; none without a launcher.
std::optional<int> launched_rank(const Environment& environment = own_variable);

/// Whether to start MPI. Throws: std::runtime_error if many processes were started with no way to find each other, or
/// this program has no MPI.
bool uses_mpi(MpiUse use, const Environment& environment);

/// All ranks of the job, or this process alone. Collective under a launcher. Throws: as uses_mpi(), and what MPI says.
std::unique_ptr<Communicator> make_communicator(MpiUse use, const CommunicatorOptions& options);

}  // namespace hetsort::comm
