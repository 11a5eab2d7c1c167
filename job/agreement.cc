// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
#include "job/agreement.h"

#include <fmt/format.h>

#include <algorithm>
#include <new>
#include <vector>

#include "comm/base/abort_action.h"
#include "io/field.h"
#include "io/publish.h"
#include "job/request/request_error.h"

namespace hetsort::job {

namespace {

constexpr int kExitError = 2;

/// Whether this process has tried to join a job, because MPI starts only once in a process.
bool joined = false;

/// The mistake in the ranks' command lines, on all ranks; empty if no rank has one. Collective.
std::string mistake_of_job(const std::string& mine, comm::Communicator& ranks) {
  std::string found;
  const std::vector<std::string> all = ranks.gather_text(mine);
  const auto wrong = std::ranges::find_if(all, [](const std::string& text) { return !text.empty(); });
  if (wrong != all.end()) {
    found = *wrong;
    const auto rank = static_cast<int>(wrong - all.begin());
    const bool everywhere = std::ranges::count(all, *wrong) == ranks.size();
    if (!everywhere) found = fmt::format("rank {} ({}): {}", rank, ranks.host(rank), found);
  }
  return ranks.broadcast_text(found);
}

/// Throws: comm::JobMismatch, on all ranks, if a rank has a mistake in its command line or ranks were started
/// differently. Collective.
int check_alike(comm::Communicator& ranks, const std::string& mistake, const SharedSettings& shared) {
  const std::string found = mistake_of_job(mistake, ranks);
  if (!found.empty()) throw comm::JobMismatch(found);
  comm::require_same_on_all_ranks(ranks, shared);
  return 0;
}

/// Runs `work` and agrees on the outcome. Collective.
Outcome end_job(comm::Communicator& ranks, const std::function<int()>& work) {
  Outcome outcome;
  std::string mismatch;
  try {
    const int code = work();
    // The number of ranks that return 1, and the number of those that return more.
    std::vector<std::uint64_t> codes{code == 1 ? std::uint64_t{1} : 0, code > 1 ? std::uint64_t{1} : 0};
    ranks.all_reduce_sum(codes);
    outcome.exit_code = codes[1] != 0 ? kExitError : codes[0] != 0 ? 1 : 0;
  } catch (const comm::JobMismatch& error) {
    mismatch = error.what();  // thrown on all ranks
  } catch (const std::bad_alloc&) {
    ranks.fail("out of memory");
  } catch (const std::exception& error) {
    ranks.fail(error.what());
  }
  outcome.failure = ranks.conclude();
  if (outcome.failure.empty()) outcome.failure = mismatch;
  if (!outcome.failure.empty()) outcome.exit_code = kExitError;
  return outcome;
}

}  // namespace

comm::CommunicatorOptions communication_of(const RankRequest& request) {
  comm::CommunicatorOptions communication;
  communication.mode = request.exchange;
  communication.stall_timeout_seconds = request.stall_timeout_seconds;
  communication.advice = request.advice;
  // Allow several heartbeats: one may be late, and a rank may look for it just before it comes.
  constexpr double kHeartbeatsInTime = 4;
  communication.heartbeat_seconds =
      std::min(communication.heartbeat_seconds, communication.stall_timeout_seconds / kHeartbeatsInTime);
  return communication;
}

std::unique_ptr<comm::Communicator> join_job(const RankRequest& request) {
  joined = true;
  comm::set_abort_action(io::remove_unpublished_files);
  try {
    return comm::make_communicator(request.mpi, communication_of(request));
  } catch (const comm::WrongLauncher& error) {
    throw RequestError(fmt::format("{}; {} off if each is meant to work alone", error.what(), io::field("mpi")));
  }
}

bool join_was_tried() { return joined; }

bool is_one_of_many() { return comm::launched_rank().has_value(); }

Outcome run_job(comm::Communicator& ranks, const SharedSettings& shared, const std::function<int()>& body,
                const std::string& mistake) {
  return end_job(ranks, [&] {
    if (ranks.size() > 1 || !mistake.empty()) check_alike(ranks, mistake, shared);
    return body();
  });
}

}  // namespace hetsort::job
