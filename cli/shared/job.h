// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
//
// The ranks of a command that may run under a launcher, and how they end together.
#pragma once

#include <boost/program_options.hpp>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "cli/commands.h"
#include "comm/agreement.h"
#include "comm/launcher.h"

namespace hetsort::cli {

struct JobRequest {
  comm::MpiUse mpi = comm::MpiUse::kAuto;
  comm::CommunicatorOptions communication;
};

/// Adds --mpi and --stall-timeout.
void add_job_options(boost::program_options::options_description& options);
void add_exchange_option(boost::program_options::options_description& options);
JobRequest requested_job(const boost::program_options::variables_map& values);

/// What all ranks of a job must have in common (options.h).
using SharedSettings = std::vector<comm::SharedSetting>;

/// Joins the job that a launcher started, or makes one of this process alone. With --mpi off this process neither waits
/// for other ranks nor is compared with them. Throws: UsageError for a launcher that cannot be joined; what Open MPI
/// fails with.
std::unique_ptr<comm::Communicator> join_job(const JobRequest& request);

struct Outcome {
  int exit_code = 0;
  std::string failure;  ///< message of the failure, the same on all ranks; empty = none
};

/// Checks that all ranks were started alike, then runs `body`. All ranks end with one outcome: the highest of their
/// exit codes, or 2 and the message if a check failed or `body` threw on any rank. Collective; the communicator's last
/// use. If a rank has a `mistake` in what it was started with, nothing runs, and all ranks fail with it.
Outcome run_job(comm::Communicator& ranks, const SharedSettings& shared, const std::function<int()>& body,
                const std::string& mistake = "");
/// Prints the failure, once for the whole job, and returns the exit code.
int report_outcome(const Outcome& outcome, const comm::Communicator& ranks);

/// Runs a command that works on one process. Under a launcher rank 0 runs `body`, after all ranks have checked that
/// they were started alike; the others do nothing. If `shared` has --mpi off, this process runs `body` without them.
/// Returns the exit code, the same on all ranks that joined.
int run_once(const SharedSettings& shared, const std::function<int()>& body);

/// Prints `text` as a command run by run_once() does.
int print_once(const SharedSettings& shared, const std::string& text);

/// Whether a launcher started this process.
bool is_one_of_many();

/// Prints what ends this process outside run_job(), once for the whole job. A rank whose command line is wrong joins
/// the job to report it, so that no other rank waits for it. A process whose `arguments` have --mpi off prints it
/// alone.
void report_mistake(const std::string& text, Arguments arguments);

}  // namespace hetsort::cli
