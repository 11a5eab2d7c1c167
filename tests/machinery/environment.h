// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace hetsort::machinery {

/// Makes this process fail as its environment says: HETSORT_FAULTS is a plan for set_fault_plan(), with the seed
/// HETSORT_FAULT_SEED, and HETSORT_MESSAGE_FAULT a fault for parse_message_fault(), in the job that make_communicator()
/// starts. Throws: std::invalid_argument. Thread safety: before other threads start.
void use_faults_of_environment();

}  // namespace hetsort::machinery
