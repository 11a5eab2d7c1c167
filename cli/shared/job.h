// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
//
// The ranks of a command that may run under a launcher, and how they end together.
#pragma once

#include <boost/program_options.hpp>
#include <functional>
#include <memory>
#include <string>

#include "comm/launcher.h"

namespace hetsort::cli {

struct JobRequest {
  comm::MpiUse mpi = comm::MpiUse::kAuto;
  comm::CommunicatorOptions communication;
};

/// --mpi and --stall-timeout, and with `exchange` --exchange.
void add_job_options(boost::program_options::options_description& options, bool exchange);
/// Throws: UsageError.
JobRequest requested_job(const boost::program_options::variables_map& values);

/// Joins the job that a launcher started, or makes one of this process alone. Throws: UsageError for a launcher that
/// cannot be joined; what Open MPI fails with.
std::unique_ptr<comm::Communicator> join_job(const JobRequest& request);

struct Outcome {
  int exit_code = 0;
  std::string failure;  ///< the same on all ranks; empty = none
};

/// Runs `body` on this rank and lets all ranks end with one outcome: the highest of their exit codes, or, when `body`
/// threw on any rank, 2 and what it threw there. Collective; the communicator's last use.
Outcome run_job(comm::Communicator& ranks, const std::function<int()>& body);
/// Prints the failure, once for the whole job, and returns the exit code.
int report_outcome(const Outcome& outcome, const comm::Communicator& ranks);

/// Whether a launcher started this process.
bool is_one_of_many();

/// Prints what ends this process outside run_job(). Under a launcher all ranks meet the same mistake in a request: rank
/// 0 tells it and exits, upon which the launcher ends the others. They wait for that, because the launcher would end
/// rank 0 as well if one of them were first; who is not ended was alone with its mistake and tells it.
void tell_mistake(const std::string& text);

}  // namespace hetsort::cli
