// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
//
// The ranks of a job: how they come together, check that they were started alike, and agree on one outcome.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "comm/agreement.h"
#include "comm/launcher.h"
#include "job/request/request.h"

namespace hetsort::job {

/// What all ranks of a job must have in common, see Options::shared().
using SharedSettings = std::vector<comm::SharedSetting>;

/// Joins the job that a launcher started, or makes one of this process alone. A process that is told not to use MPI
/// neither waits for other ranks nor is compared with them. Throws: RequestError for a launcher that cannot be joined;
/// what Open MPI fails with.
std::unique_ptr<comm::Communicator> join_job(const RankRequest& request);
/// Whether join_job() was called: MPI starts once in a process.
bool join_was_tried();
/// Whether a launcher started this process and gave it the number of a rank.
bool is_one_of_many();

struct Outcome {
  int exit_code = 0;
  std::string failure;  ///< message of the failure, the same on all ranks; empty = none
};

/// Checks that all ranks were started alike, then runs `body`. All ranks end with one outcome: the highest of their
/// exit codes, or 2 and the message if a check failed or `body` threw on any rank. Collective; the communicator's last
/// use. If a rank has a `mistake` in what it was started with, nothing runs, and all ranks fail with it.
Outcome run_job(comm::Communicator& ranks, const SharedSettings& shared, const std::function<int()>& body,
                const std::string& mistake = "");

}  // namespace hetsort::job
