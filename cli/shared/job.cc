// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
#include "cli/shared/job.h"

#include <fmt/format.h>

#include <charconv>
#include <chrono>
#include <cstdio>
#include <thread>
#include <vector>

#include "cli/shared/options.h"
#include "comm/deadline.h"

namespace hetsort::cli {

namespace {

namespace po = boost::program_options;

constexpr int kExitError = 2;
constexpr double kLongestStallSeconds = 1e6;

comm::ExchangeMode exchange_mode(const std::string& text) {
  if (text == "inline") return comm::ExchangeMode::kInline;
  if (text == "thread") return comm::ExchangeMode::kThread;
  if (text == "threads") return comm::ExchangeMode::kThreads;
  throw UsageError(fmt::format("--exchange '{}' is none of inline, thread, threads", text));
}

double stall_timeout(const std::string& text) {
  double seconds = 0;
  const auto [end, status] = std::from_chars(text.data(), text.data() + text.size(), seconds);
  if (status != std::errc() || end != text.data() + text.size() || !(seconds >= 1 && seconds <= kLongestStallSeconds))
    throw UsageError(
        fmt::format("--stall-timeout '{}' is not a number of seconds from 1 to {:.0f}", text, kLongestStallSeconds));
  return seconds;
}

comm::MpiUse mpi_use(const std::string& text) {
  if (text == "auto") return comm::MpiUse::kAuto;
  if (text == "on") return comm::MpiUse::kOn;
  if (text == "off") return comm::MpiUse::kOff;
  throw UsageError(fmt::format("--mpi '{}' is none of auto, on, off", text));
}

}  // namespace

void add_job_options(po::options_description& options, bool exchange) {
  auto add = options.add_options();
  const auto text = [] { return po::value<std::string>(); };
  if (exchange)
    add("exchange", text()->value_name("MODE"),
        "who communicates: inline (threads that wait), thread (one of its own, default), threads (a sender and a "
        "receiver)");
  add("mpi", text()->value_name("WHEN"), "auto (under a launcher), on or off");
  add("stall-timeout", text()->value_name("SECONDS"), "a rank silent for that long ends the job (60)");
}

JobRequest requested_job(const po::variables_map& values) {
  JobRequest request;
  if (values.count("exchange") != 0) request.communication.mode = exchange_mode(values["exchange"].as<std::string>());
  if (values.count("mpi") != 0) request.mpi = mpi_use(values["mpi"].as<std::string>());
  if (values.count("stall-timeout") != 0)
    request.communication.stall_timeout_seconds = stall_timeout(values["stall-timeout"].as<std::string>());
  // A sign of life may come late, and one may be looked for just before it comes.
  constexpr double kSignsInTime = 4;
  request.communication.heartbeat_seconds =
      std::min(request.communication.heartbeat_seconds, request.communication.stall_timeout_seconds / kSignsInTime);
  return request;
}

std::unique_ptr<comm::Communicator> join_job(const JobRequest& request) {
  return comm::make_communicator(request.mpi, request.communication);
}

bool is_one_of_many() { return comm::launched_rank().has_value(); }

void tell_mistake(const std::string& text) {
  const int rank = comm::launched_rank().value_or(0);
  if (rank == 0) {
    fmt::print(stderr, "hetsort: {}\n", text);
    return;
  }
  // Rank 0 may have started that much later. If it has nothing to tell, one of the others speaks and ends the job.
  constexpr double kRank0Seconds = 8;
  std::this_thread::sleep_for(std::chrono::duration<double>(kRank0Seconds + comm::turn_seconds(rank - 1)));
  fmt::print(stderr, "hetsort: rank {}: {}\n", rank, text);
}

Outcome run_job(comm::Communicator& ranks, const std::function<int()>& body) {
  Outcome outcome;
  try {
    const int code = body();
    // How many ranks say 1, how many more.
    std::vector<std::uint64_t> said{code == 1 ? std::uint64_t{1} : 0, code > 1 ? std::uint64_t{1} : 0};
    ranks.all_reduce_sum(said);
    outcome.exit_code = said[1] != 0 ? kExitError : said[0] != 0 ? 1 : 0;
  } catch (const std::bad_alloc&) {
    ranks.fail("out of memory");
  } catch (const std::exception& error) {
    ranks.fail(error.what());
  }
  outcome.failure = ranks.conclude();
  if (!outcome.failure.empty()) outcome.exit_code = kExitError;
  return outcome;
}

int report_outcome(const Outcome& outcome, const comm::Communicator& ranks) {
  if (outcome.failure.empty()) return outcome.exit_code;
  if (ranks.rank() == 0) fmt::print(stderr, "hetsort: {}\n", outcome.failure);
  return outcome.exit_code;
}

}  // namespace hetsort::cli
