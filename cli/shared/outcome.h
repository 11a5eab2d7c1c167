// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
//
// How a command that may run under a launcher ends: one message for the whole job, one exit code.
#pragma once

#include <functional>
#include <string>

#include "job/agreement.h"

namespace hetsort::cli {

/// job::run_job() with messages that are safe for a terminal. Collective.
job::Outcome run_job(comm::Communicator& ranks, const job::SharedSettings& shared, const std::function<int()>& body);
/// Prints the failure, once for the whole job, and returns the exit code.
int report_outcome(const job::Outcome& outcome, const comm::Communicator& ranks);

/// For commands that work on one process. Under a launcher rank 0 runs `body`, after all ranks have checked that they
/// were started alike; the others do nothing. Returns the exit code, the same on all ranks.
int run_once(const job::SharedSettings& shared, const std::function<int()>& body);

/// The same for a command that only prints.
int print_once(const job::SharedSettings& shared, const std::string& text);

/// Prints what ends this process outside run_job(), once for the whole job. A rank whose command line is wrong joins
/// the job to report it, so that no other rank waits for it.
void report_mistake(const std::string& text);

}  // namespace hetsort::cli
