// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
//
// How a command that may run under a launcher ends: one message for the whole job, one exit code.
#pragma once

#include <functional>
#include <string>

#include "cli/options/arguments.h"
#include "job/agreement.h"
#include "job/request/named_files.h"

namespace hetsort::cli {

/// Runs `body` on each rank, as job::run_job() does, with messages that are safe for a terminal. Collective.
job::Outcome run_everywhere(comm::Communicator& ranks, const job::SharedSettings& shared,
                            const std::function<int()>& body);
/// Prints the failure, once for the whole job, and returns the exit code.
int report_outcome(const job::Outcome& outcome, const comm::Communicator& ranks);

/// Runs a command that works on one process. Under a launcher rank 0 runs `body`, after all ranks have checked that
/// they were started alike; the others do nothing. If `shared` has --mpi off, this process runs `body` without them.
/// Returns the exit code, the same on all ranks that joined.
int run_once(const job::SharedSettings& shared, const std::function<int()>& body);

/// Prints `text` as a command run by run_once() does.
int print_once(const job::SharedSettings& shared, const std::string& text);

/// Prints what ends this process outside run_everywhere(), once for the whole job. A rank whose command line is wrong
/// joins the job to report it, so that no other rank waits for it. A process whose `arguments` have --mpi off prints it
/// alone.
void report_mistake(const std::string& text, Arguments arguments);

/// Checks the names of all files, see NamedFiles::check(), and keeps messages out of files that are written: standard
/// error may be one of them (`>out 2>&1`, `-o /dev/stderr`). Then only errors are printed from now on, and those only
/// once nothing more is written. Launchers often write standard output and standard error to one file, without a sign
/// of it here: under a launcher, an output that is standard output ends notes, and progress unless an option asks for
/// it. Throws: UsageError.
void check_files(const job::NamedFiles& files, const comm::Communicator& ranks);

}  // namespace hetsort::cli
