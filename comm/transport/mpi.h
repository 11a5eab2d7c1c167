// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
//
// A transport over MPI.
#pragma once

#include <memory>

#include "comm/base/launch_environment.h"
#include "comm/base/types.h"
#include "comm/transport/transport.h"

namespace hetsort::comm {

/// The MPI that this program was built for.
MpiLibrary mpi_library();

/// Starts MPI on this thread, which must be the one that uses the transport and ends it, and with it MPI. If the
/// program has started MPI itself, only its communicator is duplicated. Collective: if a rank does not join within the
/// stall timeout and the start allowance of `options`, the process ends with a message. The mode of `options` does not
/// matter.
/// Throws: std::runtime_error if MPI fails or lacks the level of thread support that `mode` needs.
std::unique_ptr<Transport> make_mpi_transport(ExchangeMode mode, const CommunicatorOptions& options);

/// Makes a transport over a duplicate of the communicator to which `handle` points, an MPI_Comm of the program. Never
/// ends the process for ranks that come late. Collective. Throws: std::runtime_error if the program has not started
/// this MPI, or allows this thread no calls of it.
std::unique_ptr<Transport> make_mpi_transport_over(const void* handle);
/// The size of an MPI_Comm.
std::size_t mpi_handle_bytes();

}  // namespace hetsort::comm
