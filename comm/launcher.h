// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <memory>
#include <string>

#include "comm/base/launch_environment.h"
#include "comm/communicator.h"
#include "comm/transport/transport.h"

namespace hetsort::comm {

/// All ranks of the job that a launcher started, or this process alone. Collective under a launcher. With MpiUse::kOff
/// the process is alone under any launcher. Throws: as uses_mpi(); std::runtime_error if the launcher started more
/// processes than the job has ranks; what MPI fails with.
std::unique_ptr<Communicator> make_communicator(MpiUse use, const CommunicatorOptions& options);

/// The MPI that this program was built for: "Open MPI", "MPICH", or "none".
std::string mpi_name();

/// Makes make_communicator() put `wrap` around each transport; null = nothing. For tests of faults: the program and
/// libhetsort never call it. Thread safety: not while a communicator is made.
using WrapTransport = std::unique_ptr<Transport> (*)(std::unique_ptr<Transport> transport);
void set_transport_wrapper(WrapTransport wrap);

/// A communicator of a program that has started MPI itself.
struct ProgramCommunicator {
  const void* handle = nullptr;  ///< points to its MPI_Comm
  std::size_t handle_bytes = 0;  ///< size of an MPI_Comm, as the program was compiled
  std::string mpi;               ///< the MPI that the program was compiled for, as HETSORT_MPI_NAME says it
};

/// The ranks of a communicator of the program, which neither is used for messages nor freed. The engine's loop runs on
/// `options.host_thread`, which makes all calls of MPI. Collective. Throws: std::runtime_error if the communicator
/// belongs to another MPI than this library's, or if MPI does not run.
std::unique_ptr<Communicator> adopt_communicator(const ProgramCommunicator& ranks, const CommunicatorOptions& options);

}  // namespace hetsort::comm
