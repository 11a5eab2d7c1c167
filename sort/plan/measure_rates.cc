// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
#include "sort/plan/measure_rates.h"

#include <algorithm>
#include <cmath>
#include <stdexcept>
#include <thread>

#include "sort/machine/processor_quota.h"
#include "sort/plan/rehearsal.h"

namespace hetsort::sort {

namespace {

// The part of the rate of a short transfer that links reach in an exchange, where queues in both directions fill: 0.7
// to 0.9 over links of 250 Mb/s and 1 Gb/s.
constexpr double kReached = 0.8;
constexpr double kLineRate = 250e6;  // bytes of lines that a processor sorts in a second, about

/// The seconds in which the processors of all ranks can sort the input. Collective.
double seconds_of_all(std::uint64_t input_bytes, double bytes_per_second, comm::Communicator& ranks) {
  double all = 0;
  for (const double rate : ranks.all_gather(bytes_per_second))
    if (rate > 0 && std::isfinite(rate)) all += rate;
  return all > 0 ? static_cast<double>(input_bytes) / all : 0;
}

}  // namespace

double processors_of(const comm::Communicator& ranks) {
  const double of_host = std::max(1U, std::thread::hardware_concurrency());
  const double own = of_host / static_cast<double>(ranks.ranks_on_host());
  const std::optional<ProcessorQuota> quota = read_processor_quota();
  return quota ? std::min(own, quota->processors) : own;
}

RankRates measure_rates(const ProbeSize& size, const SortOptions& options, comm::Communicator& ranks) {
  RankRates rates;
  const double processors = processors_of(ranks);
  const auto threads = static_cast<double>(options.threads);
  rates.processors = std::min(processors, threads);
  double bytes_per_second = kLineRate * rates.processors;
  if (!options.layout.is_lines()) {
    const std::uint64_t share =
        size.input_bytes / options.layout.record_bytes / static_cast<std::uint64_t>(ranks.size());
    const ProcessorCosts costs = rehearse(options.layout, share);
    bytes_per_second = static_cast<double>(options.layout.record_bytes) * rates.processors /
                       std::max(1e-12, costs.form_seconds + costs.merge_seconds);
    rates.form_seconds = costs.form_seconds;
    rates.merge_seconds = costs.merge_seconds;
  }
  const double seconds = seconds_of_all(size.input_bytes, bytes_per_second, ranks);
  const ProbedLink link = probe_links(size, seconds, ranks)[static_cast<std::size_t>(ranks.rank())];
  rates.link_in = rates.link_out = kReached * link.rate;
  rates.message_seconds = link.message_seconds;
  return rates;
}

void check_rates(std::span<const RankRates> rates) {
  constexpr double kMost = 1e15;
  for (const RankRates& rank : rates)
    for (const double value : {rank.form_seconds, rank.merge_seconds, rank.message_seconds, rank.processors,
                               rank.link_in, rank.link_out, rank.disk_write})
      if (!(value >= 0 && value <= kMost))
        throw std::runtime_error("a rank reports an impossible rate: network or memory changed it");
}

}  // namespace hetsort::sort
