// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
#include "cli/shared/job.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <new>
#include <thread>
#include <vector>

#include "cli/options/typed_options.h"
#include "cli/shared/messages.h"
#include "comm/base/abort_action.h"
#include "comm/base/deadline.h"
#include "io/publish.h"

namespace hetsort::cli {

namespace {

namespace po = boost::program_options;

constexpr int kExitError = 2;
constexpr double kMaxStallSeconds = 1e6;

/// Whether this process has tried to join a job, because MPI starts only once in a process.
bool join_was_tried = false;

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
    mismatch = terminal_safe(error.what());  // thrown on all ranks
  } catch (const std::bad_alloc&) {
    ranks.fail("out of memory");
  } catch (const std::exception& error) {
    ranks.fail(terminal_safe(error.what()));
  }
  outcome.failure = ranks.conclude();
  if (outcome.failure.empty()) outcome.failure = mismatch;
  if (!outcome.failure.empty()) outcome.exit_code = kExitError;
  return outcome;
}

/// Whether `arguments`, which may contain mistakes, ask for a process that works alone.
bool ask_to_work_alone(Arguments arguments) {
  bool alone = false;
  for (std::size_t i = 0; i < arguments.size() && arguments[i] != "--"; ++i) {
    if (arguments[i].starts_with("--mpi=")) alone = arguments[i] == "--mpi=off";
    if (arguments[i] == "--mpi" && i + 1 < arguments.size()) alone = arguments[i + 1] == "off";
  }
  return alone;
}

bool ask_to_work_alone(const SharedSettings& shared) {
  return std::ranges::any_of(
      shared, [](const comm::SharedSetting& setting) { return setting.name == "--mpi" && setting.value == "off"; });
}

/// Without a job in which to agree, rank 0 prints `text` and exits, and then the launcher ends the other ranks. They
/// wait for that, because the launcher would end rank 0 as well if one of them exited first. If a rank is not ended, no
/// other rank failed, and it prints its own text.
void print_in_turn(const std::string& text) {
  const int rank = comm::launched_rank().value_or(0);
  if (rank == 0) return print_message(text);
  // The maximum time by which rank 0 may have started later.
  constexpr double kRank0Seconds = 8;
  std::this_thread::sleep_for(std::chrono::duration<double>(kRank0Seconds + comm::turn_seconds(rank - 1)));
  print_message(fmt::format("rank {}: {}", rank, text));
}

}  // namespace

void add_exchange_option(po::options_description& options) {
  using comm::ExchangeMode;
  options.add_options()(
      "exchange",
      choice<ExchangeMode>(
          "MODE", "--exchange",
          {{"inline", ExchangeMode::kInline}, {"thread", ExchangeMode::kThread}, {"threads", ExchangeMode::kThreads}})
          ->default_value(ExchangeMode::kThread, "thread"),
      "which threads communicate: inline (those that compute), thread (one of its own) or threads (a sender and a "
      "receiver)");
}

void add_job_options(po::options_description& options) {
  using comm::MpiUse;
  auto add = options.add_options();
  add("mpi",
      choice<MpiUse>("WHEN", "--mpi", {{"auto", MpiUse::kAuto}, {"on", MpiUse::kOn}, {"off", MpiUse::kOff}})
          ->default_value(MpiUse::kAuto, "auto"),
      "auto (under a launcher), on or off");
  add("stall-timeout",
      seconds("SECONDS", "--stall-timeout", 1, kMaxStallSeconds)
          ->default_value(comm::CommunicatorOptions{}.stall_timeout_seconds, "60"),
      "a rank silent for that long ends the job");
}

JobRequest requested_job(const po::variables_map& values) {
  JobRequest request;
  comm::CommunicatorOptions& communication = request.communication;
  if (values.count("exchange") != 0) communication.mode = value_of<comm::ExchangeMode>(values, "exchange");
  request.mpi = value_of<comm::MpiUse>(values, "mpi");
  communication.stall_timeout_seconds = value_of<double>(values, "stall-timeout");
  // Allow several heartbeats: one may be late, and a rank may look for it just before it comes.
  constexpr double kHeartbeatsInTime = 4;
  communication.heartbeat_seconds =
      std::min(communication.heartbeat_seconds, communication.stall_timeout_seconds / kHeartbeatsInTime);
  return request;
}

std::unique_ptr<comm::Communicator> join_job(const JobRequest& request) {
  join_was_tried = true;
  comm::set_abort_action(io::remove_unpublished_files);
  return comm::make_communicator(request.mpi, request.communication);
}

bool is_one_of_many() { return comm::launched_rank().has_value(); }

int run_once(const SharedSettings& shared, const std::function<int()>& body) {
  if (!is_one_of_many() || ask_to_work_alone(shared)) return body();
  const std::unique_ptr<comm::Communicator> ranks = join_job({});
  return report_outcome(run_job(*ranks, shared, [&] { return ranks->rank() == 0 ? body() : 0; }), *ranks);
}

int print_once(const SharedSettings& shared, const std::string& text) {
  return run_once(shared, [&] {
    write_output(text);
    return 0;
  });
}

void report_mistake(const std::string& text, Arguments arguments) {
  if (ask_to_work_alone(arguments)) return print_message(text);
  if (join_was_tried || !is_one_of_many()) return print_in_turn(text);
  try {
    const std::unique_ptr<comm::Communicator> ranks = join_job({});
    report_outcome(end_job(*ranks, [&] { return check_alike(*ranks, text, {}); }), *ranks);
  } catch (const std::exception&) {
    print_in_turn(text);
  }
}

Outcome run_job(comm::Communicator& ranks, const SharedSettings& shared, const std::function<int()>& body,
                const std::string& mistake) {
  return end_job(ranks, [&] {
    if (ranks.size() > 1 || !mistake.empty()) check_alike(ranks, mistake, shared);
    return body();
  });
}

int report_outcome(const Outcome& outcome, const comm::Communicator& ranks) {
  if (outcome.failure.empty()) return outcome.exit_code;
  if (ranks.rank() == 0) print_message(outcome.failure);
  return outcome.exit_code;
}

}  // namespace hetsort::cli
