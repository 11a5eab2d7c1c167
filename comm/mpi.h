// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
//
// Messages by MPI.
#pragma once

#include <memory>

#include "comm/communicator.h"
#include "comm/transport.h"

namespace hetsort::comm {

/// Starts MPI on this thread, which must be the one that uses the transport and ends it; there MPI ends too. Where the
/// program itself has started MPI, only messages between its ranks are set up. Collective: where starting or ending
/// takes longer than `stall_timeout_seconds`, because a rank does not join, the process ends with a message.
/// Throws: std::runtime_error if MPI fails, or has not the level of threads that `mode` needs.
std::unique_ptr<Transport> make_mpi_transport(ExchangeMode mode, double stall_timeout_seconds);

}  // namespace hetsort::comm
