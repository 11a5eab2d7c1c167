// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
#include "bench/research/trace/mpi_ranks.h"

#include <algorithm>
#include <chrono>
#include <ctime>
#include <utility>

#include "sort/machine/processor_quota.h"

namespace hetsort::research::trace {
namespace {

using Clock = std::chrono::steady_clock;

constexpr int kTag = 0;
constexpr int kRounds = 20;

double seconds_since(Clock::time_point begin) { return std::chrono::duration<double>(Clock::now() - begin).count(); }

double processor_seconds() {
  timespec now{};
  ::clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}

}  // namespace

Ranks::Ranks() {
  PMPI_Comm_dup(MPI_COMM_WORLD, &all_);
  PMPI_Comm_rank(all_, &rank_);
  PMPI_Comm_size(all_, &size_);
}

Ranks::~Ranks() { PMPI_Comm_free(&all_); }

Numbers Ranks::gather(double mine) const {
  Numbers all_numbers(static_cast<std::size_t>(size_));
  PMPI_Gather(&mine, 1, MPI_DOUBLE, all_numbers.data(), 1, MPI_DOUBLE, 0, all_);
  return all_numbers;
}

Numbers half_round_trips(const Ranks& ranks, int bytes) {
  std::vector<char> message(static_cast<std::size_t>(bytes));
  Numbers medians(static_cast<std::size_t>(ranks.size()), 0.0);
  for (int other = 1; other < ranks.size(); ++other) {
    Numbers times;
    for (int round = 0; round < kRounds && (ranks.rank() == 0 || ranks.rank() == other); ++round) {
      const int partner = ranks.rank() == 0 ? other : 0;
      const auto begin = Clock::now();
      if (ranks.rank() == 0) PMPI_Send(message.data(), bytes, MPI_BYTE, partner, kTag, ranks.all());
      PMPI_Recv(message.data(), bytes, MPI_BYTE, partner, kTag, ranks.all(), MPI_STATUS_IGNORE);
      if (ranks.rank() != 0) PMPI_Send(message.data(), bytes, MPI_BYTE, partner, kTag, ranks.all());
      times.push_back(seconds_since(begin) / 2);
    }
    std::ranges::sort(times);
    if (!times.empty()) medians[static_cast<std::size_t>(other)] = times[times.size() / 2];
  }
  return medians;
}

MessageSeconds message_seconds(const Ranks& ranks) {
  MessageSeconds sum;
  double value = 0;
  double received = 0;
  for (int round = 0; round < kRounds && ranks.size() > 1; ++round) {
    MPI_Request request = MPI_REQUEST_NULL;
    const double begin = processor_seconds();
    PMPI_Isend(&value, 1, MPI_DOUBLE, (ranks.rank() + 1) % ranks.size(), kTag, ranks.all(), &request);
    sum.send += (processor_seconds() - begin) / kRounds;
    PMPI_Barrier(ranks.all());
    const double sent = processor_seconds();
    PMPI_Recv(&received, 1, MPI_DOUBLE, (ranks.rank() + ranks.size() - 1) % ranks.size(), kTag, ranks.all(),
              MPI_STATUS_IGNORE);
    sum.receive += (processor_seconds() - sent) / kRounds;
    PMPI_Wait(&request, MPI_STATUS_IGNORE);
  }
  return sum;
}

std::vector<std::vector<Call>> gather_calls(const Ranks& ranks, std::vector<Call> mine) {
  std::vector<std::vector<Call>> all;
  const auto bytes = [](std::size_t calls) { return static_cast<int>(calls * sizeof(Call)); };
  if (ranks.rank() != 0) {
    PMPI_Send(mine.data(), bytes(mine.size()), MPI_BYTE, 0, kTag, ranks.all());
    return all;
  }
  all.push_back(std::move(mine));
  for (int rank = 1; rank < ranks.size(); ++rank) {
    MPI_Status status;
    int count = 0;
    PMPI_Probe(rank, kTag, ranks.all(), &status);
    PMPI_Get_count(&status, MPI_BYTE, &count);
    all.emplace_back(static_cast<std::size_t>(count) / sizeof(Call));
    PMPI_Recv(all.back().data(), count, MPI_BYTE, rank, kTag, ranks.all(), MPI_STATUS_IGNORE);
  }
  return all;
}

std::vector<Host> gather_hosts(const Ranks& ranks) {
  Host mine;
  int length = 0;
  PMPI_Get_processor_name(mine.name.data(), &length);
  if (const auto quota = sort::read_processor_quota()) mine.processors = quota->processors;
  std::vector<Host> hosts(static_cast<std::size_t>(ranks.size()));
  PMPI_Gather(&mine, sizeof(Host), MPI_BYTE, hosts.data(), sizeof(Host), MPI_BYTE, 0, ranks.all());
  return hosts;
}

}  // namespace hetsort::research::trace
