// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
#include "bench/research/trace/finish.h"

#include <fmt/format.h>
#include <mpi.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdlib>
#include <ctime>
#include <exception>
#include <fstream>
#include <numeric>
#include <sstream>
#include <stdexcept>
#include <string>
#include <vector>

#include "bench/research/mheta/write_program.h"
#include "bench/research/trace/iteration.h"
#include "bench/research/trace/recorder.h"
#include "sort/machine/processor_quota.h"

namespace hetsort::research::trace {
namespace {

using Clock = std::chrono::steady_clock;
using Numbers = std::vector<double>;

constexpr int kTag = 0;
constexpr int kRounds = 20;
constexpr int kLongBytes = 1 << 20;  // the start of such a message hardly counts

double seconds_since(Clock::time_point begin) { return std::chrono::duration<double>(Clock::now() - begin).count(); }

double processor_seconds() {
  timespec now{};
  ::clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}

struct Ranks {
  MPI_Comm all = MPI_COMM_NULL;
  int rank = 0;
  int size = 1;

  Ranks() {
    PMPI_Comm_dup(MPI_COMM_WORLD, &all);
    PMPI_Comm_rank(all, &rank);
    PMPI_Comm_size(all, &size);
  }
  Ranks(const Ranks&) = delete;
  Ranks& operator=(const Ranks&) = delete;
  ~Ranks() { PMPI_Comm_free(&all); }

  /// A number of each rank, on rank 0. Collective.
  Numbers gather(double mine) const {
    Numbers all_numbers(static_cast<std::size_t>(size));
    PMPI_Gather(&mine, 1, MPI_DOUBLE, all_numbers.data(), 1, MPI_DOUBLE, 0, all);
    return all_numbers;
  }
};

/// What a rank says about itself.
struct Host {
  std::array<char, MPI_MAX_PROCESSOR_NAME> name{};
  double processors = 0;  ///< quota of its control group; 0 = none
};

/// Median of half the seconds of a message of this size from rank 0 to each rank and back, on rank 0. Collective.
Numbers half_round_trips(const Ranks& ranks, int bytes) {
  std::vector<char> message(static_cast<std::size_t>(bytes));
  Numbers medians(static_cast<std::size_t>(ranks.size), 0.0);
  for (int other = 1; other < ranks.size; ++other) {
    Numbers times;
    for (int round = 0; round < kRounds && (ranks.rank == 0 || ranks.rank == other); ++round) {
      const int partner = ranks.rank == 0 ? other : 0;
      const auto begin = Clock::now();
      if (ranks.rank == 0) PMPI_Send(message.data(), bytes, MPI_BYTE, partner, kTag, ranks.all);
      PMPI_Recv(message.data(), bytes, MPI_BYTE, partner, kTag, ranks.all, MPI_STATUS_IGNORE);
      if (ranks.rank != 0) PMPI_Send(message.data(), bytes, MPI_BYTE, partner, kTag, ranks.all);
      times.push_back(seconds_since(begin) / 2);
    }
    std::ranges::sort(times);
    if (!times.empty()) medians[static_cast<std::size_t>(other)] = times[times.size() / 2];
  }
  return medians;
}

struct MessageSeconds {
  double send = 0;
  double receive = 0;
};

/// Processor seconds to send a short message to the next rank, and to receive one that has arrived already. Collective.
MessageSeconds message_seconds(const Ranks& ranks) {
  MessageSeconds sum;
  double value = 0;
  double received = 0;
  for (int round = 0; round < kRounds && ranks.size > 1; ++round) {
    MPI_Request request = MPI_REQUEST_NULL;
    const double begin = processor_seconds();
    PMPI_Isend(&value, 1, MPI_DOUBLE, (ranks.rank + 1) % ranks.size, kTag, ranks.all, &request);
    sum.send += (processor_seconds() - begin) / kRounds;
    PMPI_Barrier(ranks.all);
    const double sent = processor_seconds();
    PMPI_Recv(&received, 1, MPI_DOUBLE, (ranks.rank + ranks.size - 1) % ranks.size, kTag, ranks.all, MPI_STATUS_IGNORE);
    sum.receive += (processor_seconds() - sent) / kRounds;
    PMPI_Wait(&request, MPI_STATUS_IGNORE);
  }
  return sum;
}

/// The calls of all ranks, on rank 0. Collective.
std::vector<std::vector<Call>> gather_calls(const Ranks& ranks, std::vector<Call> mine) {
  std::vector<std::vector<Call>> all;
  const auto bytes = [](std::size_t calls) { return static_cast<int>(calls * sizeof(Call)); };
  if (ranks.rank != 0) {
    PMPI_Send(mine.data(), bytes(mine.size()), MPI_BYTE, 0, kTag, ranks.all);
    return all;
  }
  all.push_back(std::move(mine));
  for (int rank = 1; rank < ranks.size; ++rank) {
    MPI_Status status;
    int count = 0;
    PMPI_Probe(rank, kTag, ranks.all, &status);
    PMPI_Get_count(&status, MPI_BYTE, &count);
    all.emplace_back(static_cast<std::size_t>(count) / sizeof(Call));
    PMPI_Recv(all.back().data(), count, MPI_BYTE, rank, kTag, ranks.all, MPI_STATUS_IGNORE);
  }
  return all;
}

std::vector<Host> gather_hosts(const Ranks& ranks) {
  Host mine;
  int length = 0;
  PMPI_Get_processor_name(mine.name.data(), &length);
  if (const auto quota = sort::read_processor_quota()) mine.processors = quota->processors;
  std::vector<Host> hosts(static_cast<std::size_t>(ranks.size));
  PMPI_Gather(&mine, sizeof(Host), MPI_BYTE, hosts.data(), sizeof(Host), MPI_BYTE, 0, ranks.all);
  return hosts;
}

/// Elapsed seconds of a second of processor time while all ranks of a host compute within its quota.
double slowdown(const std::vector<Host>& hosts, const Host& host) {
  const auto on_host = std::ranges::count(hosts, host.name, &Host::name);
  return host.processors > 0 ? std::max(1.0, static_cast<double>(on_host) / host.processors) : 1.0;
}

Numbers shares_of(const TraceRequest& request, std::size_t ranks) {
  if (request.rows < static_cast<std::int64_t>(ranks))
    throw std::runtime_error(
        "HETSORT_TRACE_ROWS must be the number of rows of the program, at least one for each rank");
  Numbers shares;
  if (request.shares.empty()) {
    for (std::size_t rank = 0; rank < ranks; ++rank) {
      const auto place = static_cast<std::int64_t>(rank);
      const auto count = static_cast<std::int64_t>(ranks);
      const std::int64_t own = request.rows / count + (place < request.rows % count ? 1 : 0);
      shares.push_back(static_cast<double>(own));
    }
    return shares;
  }
  std::istringstream words(request.shares);
  for (std::string word; std::getline(words, word, ',');) shares.push_back(std::strtod(word.c_str(), nullptr));
  const double sum = std::accumulate(shares.begin(), shares.end(), 0.0);
  if (shares.size() != ranks || sum != static_cast<double>(request.rows) || std::ranges::min(shares) < 1)
    throw std::runtime_error(fmt::format("HETSORT_TRACE_SHARES='{}' are not {} numbers of at least 1 with the sum {}",
                                         request.shares, ranks, request.rows));
  return shares;
}

void write_file(const std::string& path, const std::string& text) {
  std::ofstream file(path);
  file << text << std::flush;
  if (!file) throw std::runtime_error("cannot write " + path);
}

std::string cluster_text(const std::vector<Host>& hosts, const Numbers& shortest, const Numbers& longest) {
  std::string text;
  for (std::size_t rank = 0; rank < hosts.size(); ++rank) {
    text += fmt::format("[[node]]\nname = \"{}-{}\"\nspeed = 1\n", hosts[rank].name.data(), rank);
    const double seconds = longest[rank] - shortest[rank];
    if (seconds > 0) text += fmt::format("bandwidth = \"{:.6f}MB/s\"\n", 1e-6 * kLongBytes / seconds);
  }
  return text;
}

void finish(const Ranks& ranks, std::vector<Call> mine) {
  const Recorder& recorder = Recorder::instance();
  const TraceRequest& request = recorder.request();
  const Numbers shortest = half_round_trips(ranks, 1);
  const Numbers longest = half_round_trips(ranks, kLongBytes);
  const MessageSeconds message = message_seconds(ranks);
  const std::vector<Host> hosts = gather_hosts(ranks);
  TracedMachine machine{ranks.gather(message.send), ranks.gather(message.receive), std::ranges::max(shortest)};
  const Numbers full = ranks.gather(recorder.is_full() ? 1 : 0);
  const std::vector<std::vector<Call>> calls = gather_calls(ranks, std::move(mine));
  if (ranks.rank != 0) return;
  const Numbers rows = shares_of(request, calls.size());
  TracedIteration iteration = iteration_of(sections_of(calls));
  for (TracedSection& section : iteration.sections)
    for (std::size_t rank = 0; rank < hosts.size(); ++rank) {
      section.ranks[rank].computing *= slowdown(hosts, hosts[rank]);
      section.ranks[rank].combining *= slowdown(hosts, hosts[rank]);
    }
  Program program = program_of(iteration, machine, rows, request.iterations);
  program.name = "traced";
  write_file(request.prefix + "-program.toml", program_text(program));
  write_file(request.prefix + "-cluster.toml", cluster_text(hosts, shortest, longest));
  fmt::print(stderr, "hetsort-trace: {}{} iterations of {} sections; {}-program.toml has the means of {}\n",
             std::ranges::max(full) > 0 ? "too many calls, the last ones are left out; " : "", iteration.seen,
             iteration.sections.size(), request.prefix, iteration.measured);
}

}  // namespace

void finish_trace() {
  Recorder& recorder = Recorder::instance();
  if (!recorder.is_on()) return;
  std::vector<Call> mine = recorder.end();
  const Ranks ranks;
  try {
    finish(ranks, std::move(mine));
  } catch (const std::exception& error) {
    fmt::print(stderr, "hetsort-trace: nothing was written: {}\n", error.what());
  }
}

}  // namespace hetsort::research::trace
