// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
#include "sort/model/measured_shares.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <numeric>
#include <stdexcept>
#include <string>

#include "partition/plan.h"
#include "partition/run/best_output.h"
#include "partition/run/best_shares.h"
#include "partition/run/explain_run.h"
#include "partition/run/predict_run.h"

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

/// Merging a record takes so many times as long as forming it into a run, on most machines.
constexpr double kMergeRatio = 1.7;

/// The median of the values above zero, or `otherwise`.
double median_or(std::vector<double> values, double otherwise) {
  std::erase_if(values, [](double value) { return value <= 0; });
  if (values.empty()) return otherwise;
  std::ranges::sort(values);
  return values[values.size() / 2];
}

/// How many times as long merging takes as forming at these speeds, which a disk may have limited. One rank's
/// measurement is inexact, and ranks of one kind must not differ by it.
double merge_ratio_of(std::span<const double> speeds, std::span<const RankRates> rates) {
  std::vector<double> ratios;
  for (std::size_t rank = 0; rank < rates.size(); ++rank)
    if (rates[rank].merge_seconds > 0)
      ratios.push_back(speeds[rank] * rates[rank].merge_seconds / rates[rank].processors);
  return median_or(std::move(ratios), kMergeRatio);
}

/// Lets ranks that were not measured be as fast as those that were, compared with their rehearsals.
void use_rehearsals(std::span<const Work> work, std::span<const RankRates> rates, std::vector<double>& speeds) {
  const auto rehearsed = [&](std::size_t rank) {
    return rates[rank].form_seconds > 0 ? rates[rank].processors / rates[rank].form_seconds : 0;
  };
  std::vector<double> ratios;
  for (std::size_t rank = 0; rank < rates.size(); ++rank)
    if (is_measured(work[rank]) && rehearsed(rank) > 0) ratios.push_back(speeds[rank] / rehearsed(rank));
  const double ratio = median_or(std::move(ratios), 0);
  for (std::size_t rank = 0; rank < rates.size(); ++rank)
    if (!is_measured(work[rank]) && ratio * rehearsed(rank) > 0) speeds[rank] = ratio * rehearsed(rank);
}

constexpr double kAlikeSpeeds = 0.75;

/// A rate that is used only if it is known of all ranks.
bool all_have(std::span<const RankRates> rates, double RankRates::*rate) {
  return std::ranges::all_of(rates, [rate](const RankRates& rank) { return rank.*rate > 0; });
}

/// This rate of each rank.
std::vector<double> levelled(std::span<const RankRates> rates, double RankRates::*rate) {
  std::vector<double> values;
  values.reserve(rates.size());
  for (const RankRates& rank : rates) values.push_back(rank.*rate);
  level(values, kAlikeRates);
  return values;
}

/// How many seconds a second of processor time takes on a rank of median speed, divided by its time for forming a
/// record.
double stretch_ratio_of(std::span<const double> speeds, std::span<const RankRates> rates) {
  std::vector<double> ratios;
  for (std::size_t rank = 0; rank < rates.size(); ++rank) ratios.push_back(speeds[rank] / rates[rank].processors);
  return median_or(std::move(ratios), 0);
}

/// The run as far as it was measured. `speeds`: records that each rank forms into runs in a second.
partition::RunModel model_of(std::span<const double> speeds, const MeasuredJob& job) {
  const bool links = all_have(job.rates, &RankRates::link_in) && all_have(job.rates, &RankRates::link_out);
  const bool messages = all_have(job.rates, &RankRates::message_seconds);
  const bool disks = all_have(job.rates, &RankRates::disk_write);
  const double merge_ratio = merge_ratio_of(speeds, job.rates);
  const double stretch_ratio = stretch_ratio_of(speeds, job.rates);
  const std::vector<double> message_seconds = levelled(job.rates, &RankRates::message_seconds);
  const std::vector<double> link_in = levelled(job.rates, &RankRates::link_in);
  const std::vector<double> link_out = levelled(job.rates, &RankRates::link_out);
  const std::vector<double> disk_write = levelled(job.rates, &RankRates::disk_write);
  partition::RunModel model;
  model.record_bytes = static_cast<std::int64_t>(job.record_bytes);
  for (std::size_t rank = 0; rank < speeds.size(); ++rank) {
    partition::RankResources& resources = model.ranks.emplace_back();
    resources.name = job.names.empty() ? std::to_string(rank) : job.names[rank];
    resources.host = job.host[rank];
    const double form_seconds = 1 / speeds[rank];
    resources.sort = partition::linear_cost(form_seconds);
    resources.merge_seconds = merge_ratio * form_seconds;
    if (messages) {
      const double seconds = message_seconds[rank] * stretch_ratio * form_seconds;
      resources.message = {.in = seconds, .out = seconds};
    }
    if (links) resources.rates.link_in = link_in[rank];
    if (links) resources.rates.link_out = link_out[rank];
    if (disks) resources.rates.disk_write = disk_write[rank];
  }
  return model;
}

}  // namespace

void level(std::vector<double>& values, double alike) {
  std::vector<double*> order;
  order.reserve(values.size());
  for (double& value : values) order.push_back(&value);
  std::ranges::sort(order, std::greater(), [](const double* value) { return *value; });
  for (auto first = order.begin(); first != order.end();) {
    const double least = alike * **first;
    const auto end = std::find_if(first, order.end(), [least](const double* value) { return *value < least; });
    double sum = 0;
    for (auto one = first; one != end; ++one) sum += **one;
    for (const double mean = sum / static_cast<double>(end - first); first != end; ++first) **first = mean;
  }
}

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

MeasuredShares shares_by_rates(std::span<const Work> work, const MeasuredJob& job) {
  const std::uint64_t records = std::accumulate(job.input.begin(), job.input.end(), std::uint64_t{0});
  MeasuredShares found{equal_shares(records, work.size())};
  found.shares.strategy = "auto";
  std::vector<double> speeds = speeds_of(work);
  if (speeds.empty()) return found;
  use_rehearsals(work, job.rates, speeds);
  const partition::RunModel model = model_of(speeds, job);
  const std::vector<std::int64_t> input(job.input.begin(), job.input.end());
  const std::vector<std::int64_t> output = partition::best_output(model, input);
  found.shares.records.assign(output.begin(), output.end());
  found.exchange = partition::predict_run(model, input, output).exchange;
  found.explanation = partition::explain_run(model, input, output, job.input_choice);
  return found;
}

namespace {

/// The best shares; if one rank alone takes hardly longer, it gets all records.
partition::PhaseShares shares_worth_having(const partition::RunModel& model, std::int64_t records,
                                           std::span<const std::uint64_t> capacities) {
  constexpr double kHardlyLonger = 1.05;  // less than measurements are exact
  partition::PhaseShares best = partition::best_shares(model, records);
  const auto most = static_cast<std::size_t>(std::ranges::max_element(best.input) - best.input.begin());
  if (capacities[most] < static_cast<std::uint64_t>(records)) return best;
  std::vector<std::int64_t> alone(best.input.size(), 0);
  alone[most] = records;
  const double seconds = partition::predict_run(model, best.input, best.output).seconds;
  if (partition::predict_run(model, alone, alone).seconds > kHardlyLonger * seconds) return best;
  return {alone, alone};
}

}  // namespace

ClaimPlan plan_claims(const MeasuredJob& job, std::uint64_t records, std::span<const std::uint64_t> capacities) {
  constexpr double kWorth = 0.9;  // a plan must shorten the run to this part of it
  constexpr double kFewer = 0.8;  // a rank reads clearly less than its processor could
  const std::size_t size = capacities.size();
  ClaimPlan plan{equal_shares(records, size).records, {capacities.begin(), capacities.end()}};
  if (job.rates.empty() || !all_have(job.rates, &RankRates::form_seconds) ||
      !all_have(job.rates, &RankRates::link_in) || !all_have(job.rates, &RankRates::link_out))
    return plan;
  std::vector<double> speeds;
  for (const RankRates& rank : job.rates) speeds.push_back(rank.processors / rank.form_seconds);
  level(speeds, kAlikeSpeeds);
  partition::RunModel model = model_of(speeds, job);
  std::vector<std::uint64_t> planned(capacities.begin(), capacities.end());
  for (std::size_t rank = 0; rank < size; ++rank) {
    if (planned[rank] == kOnDisk) planned[rank] = plan.slices[rank];
    if (planned[rank] < records) model.ranks[rank].max_records = static_cast<std::int64_t>(planned[rank]);
  }
  const auto all = static_cast<std::int64_t>(records);
  const partition::Plan race =
      partition::make_plan(partition::problem_from_speeds(all, speeds, partition::linear_cost(1)), "proportional");
  std::vector<std::int64_t> raced;
  for (const partition::NodePlan& node : race.nodes) raced.push_back(node.records);
  const partition::PhaseShares best = shares_worth_having(model, all, planned);
  const double seconds = partition::predict_run(model, best.input, best.output).seconds;
  const partition::RunPrediction unplanned = partition::predict_run(model, raced, partition::best_output(model, raced));
  if (seconds > kWorth * unplanned.seconds) return plan;
  for (std::size_t rank = 0; rank < size; ++rank) {
    plan.slices[rank] = static_cast<std::uint64_t>(best.input[rank]);
    if (static_cast<double>(best.input[rank]) < kFewer * static_cast<double>(raced[rank]))
      plan.most[rank] = plan.slices[rank];
  }
  return plan;
}

void check_work(const std::vector<Work>& all) {
  for (const Work& work : all)
    if (!std::isfinite(work.seconds) || work.seconds < 0)
      throw std::runtime_error("a rank reports impossible seconds of work: network or memory changed them");
}

std::vector<Work> gather_work(const Work& mine, comm::Communicator& ranks) {
  std::vector<Work> all = ranks.all_gather(mine);
  check_work(all);
  return all;
}

}  // namespace hetsort::sort
