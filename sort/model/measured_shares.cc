// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
#include "sort/model/measured_shares.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <stdexcept>
#include <string>
#include <unordered_map>

#include "partition/plan.h"
#include "partition/run/best_output.h"

namespace hetsort::sort {

namespace {

constexpr double kMinSeconds = 0.01;

// One rank's input may be in the page cache and another's on a disk that has to spin up. Such differences last for one
// phase and must not leave a rank without records in the next. Machines that differ by more gain little from each
// other.
constexpr double kMaxRatio = 16;

// The fraction of its quota that a rank uses if nothing else stops it.
constexpr double kNearlyAll = 0.9;
constexpr double kBulk = 0.5;  // fraction that it uses over few periods
constexpr double kEdgePeriods = 2;

}  // namespace

double seconds_of_work(const Spent& spent, const std::optional<ProcessorQuota>& quota, std::size_t threads) {
  // A quota of as many processors as there are threads never stops the rank.
  if (!quota || quota->processors >= static_cast<double>(threads)) return spent.seconds;
  // A rank that the quota stops uses all of it, except in the first and the last period.
  const double allowed = quota->processors * std::max(kNearlyAll * spent.seconds - kEdgePeriods * quota->period_seconds,
                                                      kBulk * spent.seconds);
  return spent.processor_seconds < allowed ? spent.seconds : spent.processor_seconds / quota->processors;
}

bool is_measured(const Work& work) { return work.records > 0 && work.seconds >= kMinSeconds; }

namespace {

/// Records per second of each rank; empty if no rank was measured.
std::vector<double> speeds_of(std::span<const Work> work) {
  std::vector<double> rates;
  for (const Work& rank : work)
    if (is_measured(rank)) rates.push_back(static_cast<double>(rank.records) / rank.seconds);
  if (rates.empty()) return rates;

  std::vector<double> sorted = rates;
  std::sort(sorted.begin(), sorted.end());
  const double median = sorted[sorted.size() / 2];
  for (double& rate : rates) rate = std::clamp(rate, median / kMaxRatio, median * kMaxRatio);
  const double mean = std::accumulate(rates.begin(), rates.end(), 0.0) / static_cast<double>(rates.size());
  std::vector<double> speeds;
  auto next = rates.begin();
  for (const Work& rank : work) {
    const double at_least = std::min(static_cast<double>(rank.records) / kMinSeconds, median * kMaxRatio);
    const double guess = rank.seconds < kMinSeconds ? std::max(mean, at_least) : mean;
    speeds.push_back(is_measured(rank) ? *next++ : guess);
  }
  return speeds;
}

/// The exchange as far as it was measured. Forming and merging a record take the same time in it: each reads, compares
/// and writes the record once.
partition::RunModel exchange_model(std::span<const double> speeds, const MeasuredLinks& links) {
  partition::RunModel model;
  model.record_bytes = static_cast<std::int64_t>(links.record_bytes);
  for (std::size_t rank = 0; rank < speeds.size(); ++rank) {
    partition::RankResources& resources = model.ranks.emplace_back();
    resources.name = std::to_string(rank);
    resources.host = links.host[rank];
    resources.merge_seconds = 1 / speeds[rank];
    resources.sort = partition::linear_cost(resources.merge_seconds);
    resources.rates.link_in = resources.rates.link_out = links.bytes_per_second;
  }
  return model;
}

}  // namespace

Shares shares_by_rates(std::uint64_t records, std::span<const Work> work) {
  Shares shares = equal_shares(records, work.size());
  shares.strategy = "auto";
  const std::vector<double> speeds = speeds_of(work);
  if (speeds.empty()) return shares;
  const partition::Problem problem =
      partition::problem_from_speeds(static_cast<std::int64_t>(records), speeds, partition::linear_cost(1));
  const partition::Plan plan = partition::make_plan(problem, "proportional");
  for (std::size_t rank = 0; rank < work.size(); ++rank)
    shares.records[rank] = static_cast<std::uint64_t>(plan.nodes[rank].records);
  return shares;
}

Shares shares_by_rates(std::span<const Work> work, const MeasuredLinks& links) {
  const std::uint64_t records = std::accumulate(links.input.begin(), links.input.end(), std::uint64_t{0});
  Shares shares = equal_shares(records, work.size());
  shares.strategy = "auto";
  const std::vector<double> speeds = speeds_of(work);
  if (speeds.empty()) return shares;
  const std::vector<std::int64_t> input(links.input.begin(), links.input.end());
  const std::vector<std::int64_t> output = partition::best_output(exchange_model(speeds, links), input);
  shares.records.assign(output.begin(), output.end());
  return shares;
}

MeasuredLinks gather_links(double bytes_per_second, std::uint64_t input_records, std::size_t record_bytes,
                           comm::Communicator& ranks) {
  MeasuredLinks links{.host = {}, .input = {}, .bytes_per_second = bytes_per_second, .record_bytes = record_bytes};
  std::unordered_map<std::string, std::size_t> numbers;
  for (const std::uint64_t records : ranks.all_gather(input_records)) {
    links.host.push_back(
        numbers.emplace(ranks.host(static_cast<int>(links.host.size())), numbers.size()).first->second);
    links.input.push_back(records);
  }
  return links;
}

std::vector<Work> gather_work(const Work& mine, comm::Communicator& ranks) {
  std::vector<Work> all = ranks.all_gather(mine);
  for (const Work& work : all)
    if (!std::isfinite(work.seconds) || work.seconds < 0)
      throw std::runtime_error("a rank reports impossible seconds of work: network or memory changed them");
  return all;
}

}  // namespace hetsort::sort
