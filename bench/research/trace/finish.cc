// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
#include "bench/research/trace/finish.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <exception>
#include <fstream>
#include <numeric>
#include <sstream>
#include <stdexcept>
#include <string>
#include <vector>

#include "bench/research/mheta/write_program.h"
#include "bench/research/trace/iteration.h"
#include "bench/research/trace/mpi_ranks.h"
#include "bench/research/trace/recorder.h"

namespace hetsort::research::trace {
namespace {

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
  if (ranks.rank() != 0) return;
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
