// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
#include "cli/process/outcome.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <new>
#include <stdexcept>
#include <thread>

#include "cli/process/signals.h"
#include "cli/terminal/messages.h"
#include "comm/base/deadline.h"

namespace hetsort::cli {

namespace {

/// Whether `arguments`, which may contain mistakes, ask for a process that works alone.
bool ask_to_work_alone(Arguments arguments) {
  bool alone = false;
  for (std::size_t i = 0; i < arguments.size() && arguments[i] != "--"; ++i) {
    if (arguments[i].starts_with("--mpi=")) alone = arguments[i] == "--mpi=off";
    if (arguments[i] == "--mpi" && i + 1 < arguments.size()) alone = arguments[i + 1] == "off";
  }
  return alone;
}

bool ask_to_work_alone(const job::SharedSettings& shared) {
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

job::Outcome run_everywhere(comm::Communicator& ranks, const job::SharedSettings& shared,
                            const std::function<int()>& body) {
  // A rank that ends the job by itself prints what another one has reported.
  const auto safe = [&] {
    try {
      return body();
    } catch (const comm::JobMismatch&) {
      throw;
    } catch (const std::bad_alloc&) {
      throw;
    } catch (const std::exception& error) {
      throw std::runtime_error(terminal_safe(error.what()));
    }
  };
  return job::run_job(ranks, shared, safe);
}

int run_once(const job::SharedSettings& shared, const std::function<int()>& body) {
  if (!job::is_one_of_many() || ask_to_work_alone(shared)) return body();
  const std::unique_ptr<comm::Communicator> ranks = job::join_job({});
  return report_outcome(run_everywhere(*ranks, shared, [&] { return ranks->rank() == 0 ? body() : 0; }), *ranks);
}

int print_once(const job::SharedSettings& shared, const std::string& text) {
  return run_once(shared, [&] {
    write_output(text);
    return 0;
  });
}

void report_mistake(const std::string& text, Arguments arguments) {
  if (ask_to_work_alone(arguments)) return print_message(text);
  if (job::join_was_tried() || !job::is_one_of_many()) return print_in_turn(text);
  try {
    const std::unique_ptr<comm::Communicator> ranks = job::join_job({});
    report_outcome(job::run_job(
                       *ranks, {}, [] { return 0; }, text),
                   *ranks);
  } catch (const std::exception&) {
    print_in_turn(text);
  }
}

int report_outcome(const job::Outcome& outcome, const comm::Communicator& ranks) {
  if (outcome.failure.empty()) return outcome.exit_code;
  leave_report_to_outcome();
  if (ranks.rank() == 0) print_message(outcome.failure);
  return outcome.exit_code;
}

void check_files(const job::NamedFiles& files, const comm::Communicator& ranks) {
  if (files.write_standard_error(ranks)) limit_talk(Talk::kErrors);
  if (files.have_passed_on_output(ranks)) limit_talk(Talk::kOnlyAsked);
  files.check(ranks);
}

}  // namespace hetsort::cli
