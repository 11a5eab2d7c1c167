// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>

#include "comm/communicator.h"
#include "comm/launch_environment.h"

namespace hetsort::comm {

/// All ranks of the job that a launcher started, or this process alone. Collective under a launcher. With MpiUse::kOff
/// the process is alone under any launcher. The variable HETSORT_MESSAGE_FAULT makes a control message go wrong
/// (faulty_transport.h). Throws: as uses_mpi(); std::runtime_error if the launcher started more processes than the job
/// has ranks; what MPI fails with.
std::unique_ptr<Communicator> make_communicator(MpiUse use, const CommunicatorOptions& options);

}  // namespace hetsort::comm
