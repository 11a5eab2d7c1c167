// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
#include "sort/calibrate/calibrate.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <limits>
#include <map>
#include <numeric>
#include <span>

#include "comm/base/packing.h"
#include "partition/cluster.h"
#include "partition/plan.h"
#include "sort/calibrate/calibration_text.h"
#include "sort/calibrate/link_rates.h"

namespace hetsort::sort {

namespace {

// Fractions of the time for the calibration.
constexpr double kDiskPart = 0.08;
constexpr double kLinkPart = 0.25;
constexpr double kAlonePart = 0.2;      // for sorting alone, after disks and links
constexpr double kTogetherPart = 0.04;  // for each sort of all nodes
constexpr std::uint64_t kFirstRecords = 10'000;
constexpr std::uint64_t kGrowth = 4;  // factor from one size to the next
constexpr int kRepetitions = 3;
constexpr std::size_t kMaxRepetitions = 20;

/// The mean without a quarter of the values at each end. A quota on processor time makes equal work take one of two
/// times, of which a median would be one.
double trimmed_mean(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  const auto cut = static_cast<std::ptrdiff_t>(values.size() / 4);
  return std::accumulate(values.begin() + cut, values.end() - cut, 0.0) /
         static_cast<double>(static_cast<std::ptrdiff_t>(values.size()) - 2 * cut);
}

/// The means of repetitions. Repetitions with clearly more stolen time than the others are left out.
SortTimes summarize(std::span<const SortTimes> repetitions) {
  constexpr double kMoreStolen = 0.1;
  const auto stolen = [](const SortTimes& one) { return one.stolen / std::max(1e-9, one.whole); };
  double least = std::numeric_limits<double>::max();
  for (const SortTimes& one : repetitions) least = std::min(least, stolen(one));
  const auto of = [&](double SortTimes::*field) {
    std::vector<double> values;
    for (const SortTimes& one : repetitions)
      if (stolen(one) <= least + kMoreStolen) values.push_back(one.*field);
    return trimmed_mean(std::move(values));
  };
  return {.form = of(&SortTimes::form),
          .exchange = of(&SortTimes::exchange),
          .publish = of(&SortTimes::publish),
          .whole = of(&SortTimes::whole),
          .stolen = of(&SortTimes::stolen)};
}

/// The shares of a sort by all ranks, and its predicted times.
struct PlannedSort {
  std::vector<std::uint64_t> input;
  std::vector<std::uint64_t> output;
  partition::RunModel model{};
  partition::RunPrediction predicted{};
};

/// One calibration on this rank.
class Calibrator {
 public:
  Calibrator(Bench& bench, const CalibrationRequest& request, comm::Communicator& ranks)
      : bench_(bench), request_(request), ranks_(ranks) {}

  Calibration run() {
    gather_facts();
    measure_start();
    report_stage("disks");
    const DiskRates disk = bench_.measure_disk(kDiskPart * request_.seconds);
    if (ranks_.size() > 1) report_stage("links");
    const LinkRates links = measure_links(bench_, kLinkPart * request_.seconds, ranks_);
    result_.shared_link = links.all;
    result_.too_fast = links.too_fast;
    NodeMeasurements mine = measure_alone();
    for (std::size_t rank = 0; rank < result_.nodes.size(); ++rank) {
      NodeMeasurements& node = result_.nodes[rank];
      node.link_in = links.in[rank];
      node.link_out = links.out[rank];
      node.links = links.between[rank];
    }
    gather_nodes(mine, disk);
    measure_together();
    return std::move(result_);
  }

 private:
  void report_stage(const std::string& stage) const {
    ranks_.set_phase(stage);
    if (request_.on_progress) request_.on_progress(stage);
  }

  void gather_facts() {
    const NodeFacts& mine = request_.facts;
    struct Numbers {
      std::uint64_t memory_bytes;
      std::uint64_t threads;
      std::uint64_t max_records;
    };
    int rank = 0;
    for (const Numbers& of_rank : ranks_.all_gather(Numbers{mine.memory_bytes, mine.threads, mine.max_records}))
      result_.nodes.emplace_back().facts = {ranks_.host(rank++), of_rank.memory_bytes, of_rank.threads,
                                            std::max<std::uint64_t>(1, of_rank.max_records)};
  }

  /// Measures the start of a job by its first sorts. Shares are equal, because nothing is known yet.
  void measure_start() {
    report_stage("the first sort");
    const double before = latest(bench_.now_seconds() - bench_.job_start_seconds());
    std::vector<std::uint64_t> shares;
    for (const NodeMeasurements& node : result_.nodes)
      shares.push_back(std::min(kFirstRecords, node.facts.max_records));
    const auto first_or_next = [&] {
      const SortTimes times = sort_together(shares, shares, true);
      return times.whole - std::min(times.whole, times.stolen);
    };
    const double first = first_or_next();
    // If the first sort takes longer than the longest of the others, that is not chance.
    double longest = 0;
    for (int i = 0; i < kRepetitions; ++i) longest = std::max(longest, first_or_next());
    result_.start_seconds = before + std::max(0.0, first - longest);
  }

  /// Each rank sorts for itself. All ranks sort the same sizes, except that a rank with little memory sorts fewer
  /// records.
  NodeMeasurements measure_alone() {
    NodeMeasurements mine;
    const std::uint64_t most = ranks_.all_reduce_max(request_.facts.max_records);
    const double deadline = now_of_root() + kAlonePart * request_.seconds;
    for (std::uint64_t records = kFirstRecords;; records *= kGrowth) {
      const std::uint64_t own = std::max<std::uint64_t>(1, std::min(records, request_.facts.max_records));
      report_stage(fmt::format("{} records, each node alone", records));
      std::vector<SortTimes> sorts;
      sorts.reserve(kMaxRepetitions);
      const double begin = now_of_root();
      for (int i = 0; i < kRepetitions; ++i) sorts.push_back(bench_.sort_alone(own));
      const double end = now_of_root();
      const bool last = records >= most || end + static_cast<double>(kGrowth) * (end - begin) > deadline;
      // The rest of the time makes the largest size more exact, from which the cost of merging follows.
      const double each = (end - begin) / kRepetitions;
      while (last && sorts.size() < kMaxRepetitions && now_of_root() + each <= deadline)
        sorts.push_back(bench_.sort_alone(own));
      const SortTimes times = summarize(sorts);
      if (mine.form.empty() || own > mine.form.back().records) {
        const double least = mine.form.empty() ? 1e-9 : mine.form.back().seconds;
        mine.form.push_back({own, std::max(times.form, least)});
        mine.merge_seconds = std::max(1e-12, times.exchange / static_cast<double>(own));
      }
      ranks_.barrier();
      if (last) return mine;
    }
  }

  /// Brings the measurements of all ranks to rank 0.
  void gather_nodes(const NodeMeasurements& mine, const DiskRates& disk) {
    comm::Packer packer;
    packer.value(disk);
    packer.values(mine.form);
    packer.value(mine.merge_seconds);
    std::size_t rank = 0;
    for (const comm::Bytes& bytes : ranks_.gather(packer.take())) {
      comm::Unpacker unpacker(bytes);
      NodeMeasurements& node = result_.nodes[rank++];
      node.disk = unpacker.value<DiskRates>();
      node.form = unpacker.values<FormPoint>();
      node.merge_seconds = unpacker.value<double>();
      unpacker.end();
    }
    sum_disks();
  }

  /// Gives each rank the rate of its host: the sum over its ranks, which shared the disk while each measured it.
  void sum_disks() {
    std::map<std::string, DiskRates> hosts;
    for (const NodeMeasurements& node : result_.nodes) {
      hosts[node.facts.host].read_bytes_per_second += node.disk.read_bytes_per_second;
      hosts[node.facts.host].write_bytes_per_second += node.disk.write_bytes_per_second;
    }
    for (NodeMeasurements& node : result_.nodes) node.disk = hosts[node.facts.host];
  }

  void measure_together() {
    PlannedSort plan = on_root([&] { return plan_all(); });
    const SortTimes first = repeat_together(plan, false);
    if (ranks_.rank() == 0) learn_messages(plan, first.exchange);
    plan = on_root([&] { return plan_for(sum(plan.input), true); });
    const SortTimes second = repeat_together(plan, true);
    if (ranks_.rank() != 0) return;
    learn_rest(second);
    result_.check = {.records = sum(plan.input),
                     .predicted_form = plan.predicted.form_seconds,
                     .predicted_exchange = plan.predicted.exchange_seconds,
                     .predicted = plan.predicted.form_seconds + result_.select_seconds +
                                  plan.predicted.exchange_seconds + result_.publish_seconds,
                     .measured = second};
  }

  /// Plans a sort of as many records as the ranks sorted alone, or fewer if that would take too long.
  PlannedSort plan_all() const {
    std::uint64_t records = 0;
    for (const NodeMeasurements& node : result_.nodes) records += node.form.back().records;
    for (;; records /= 2) {
      PlannedSort plan = plan_for(records, false);
      const double seconds = plan.predicted.seconds - result_.start_seconds;
      if (seconds <= kTogetherPart * request_.seconds || records < kFirstRecords * result_.nodes.size()) return plan;
    }
  }

  /// Plans as a user of the cluster file does.
  PlannedSort plan_for(std::uint64_t records, bool synced) const {
    const partition::Cluster cluster = partition::parse_cluster(cluster_text(result_, {}), "calibration");
    const partition::ClusterUse use{
        .record_bytes = static_cast<std::int64_t>(request_.record_bytes), .memory_caps = false, .synced = synced};
    partition::Problem problem = partition::problem_from_cluster(cluster, static_cast<std::int64_t>(records), use);
    for (std::size_t rank = 0; rank < result_.nodes.size(); ++rank)
      problem.nodes[rank].max_records = static_cast<std::int64_t>(
          std::min<std::uint64_t>(result_.nodes[rank].facts.max_records, std::numeric_limits<std::int64_t>::max()));
    partition::add_run_model(problem, cluster, use);
    const partition::Plan plan = partition::make_plan(problem, "phases");
    PlannedSort planned{.input = {}, .output = {}, .model = partition::run_model_of(problem), .predicted = *plan.run};
    for (const partition::NodePlan& node : plan.nodes) {
      planned.input.push_back(static_cast<std::uint64_t>(node.input));
      planned.output.push_back(static_cast<std::uint64_t>(node.records));
    }
    return planned;
  }

  /// Measures the phases between those that the model predicts.
  void learn_rest(const SortTimes& times) {
    result_.publish_seconds = std::max(0.0, times.publish);
    result_.select_seconds = std::max(0.0, times.whole - times.form - times.exchange - times.publish);
  }

  /// Finds the processor cost of messages with which the model predicts the measured time of the exchange. Messages
  /// cost the nodes' processors time in proportion to the time of merging.
  void learn_messages(const PlannedSort& plan, double exchange_seconds) {
    if (result_.nodes.size() < 2) return;
    const std::vector<std::int64_t> input(plan.input.begin(), plan.input.end());
    const std::vector<std::int64_t> output(plan.output.begin(), plan.output.end());
    partition::RunModel model = plan.model;
    const auto predicted = [&](double times) {
      for (partition::RankResources& rank : model.ranks) rank.message_seconds = times * rank.merge_seconds;
      return partition::predict_run(model, input, output).exchange_seconds;
    };
    double low = 0;
    double high = 1;                     // a byte costs as much as merging a record
    constexpr double kExplained = 0.99;  // a smaller rest is chance
    if (predicted(low) >= kExplained * exchange_seconds || predicted(high) < exchange_seconds) return;
    constexpr int kSteps = 60;
    for (int step = 0; step < kSteps; ++step) {
      const double middle = (low + high) / 2;
      (predicted(middle) < exchange_seconds ? low : high) = middle;
    }
    for (NodeMeasurements& node : result_.nodes) node.message_seconds = high * node.merge_seconds;
  }

  SortTimes repeat_together(const PlannedSort& plan, bool synced) {
    report_stage(fmt::format("{} records, all nodes together", sum(plan.input)));
    std::array<SortTimes, kRepetitions> sorts;
    for (SortTimes& one : sorts) one = sort_together(plan.input, plan.output, synced);
    return summarize(sorts);
  }

  /// The times of the latest rank. Publishing is the exception: its time is that of the rank that waits the least in
  /// it.
  SortTimes sort_together(const std::vector<std::uint64_t>& input, const std::vector<std::uint64_t>& output,
                          bool synced) {
    SortTimes times = bench_.sort_together(input, output, synced);
    for (double* const value : {&times.form, &times.exchange, &times.whole, &times.stolen}) *value = latest(*value);
    times.publish = -latest(-times.publish);
    return times;
  }

  static std::uint64_t sum(const std::vector<std::uint64_t>& shares) {
    return std::accumulate(shares.begin(), shares.end(), std::uint64_t{0});
  }

  /// The plan that rank 0 makes, on all ranks; the prediction stays on rank 0.
  template <typename MakePlan>
  PlannedSort on_root(const MakePlan& make_plan) {
    PlannedSort plan;
    if (ranks_.rank() == 0) plan = make_plan();
    comm::Packer packer;
    packer.values(plan.input);
    packer.values(plan.output);
    const comm::Bytes bytes = ranks_.broadcast(packer.take());
    comm::Unpacker unpacker(bytes);
    plan.input = unpacker.values<std::uint64_t>();
    plan.output = unpacker.values<std::uint64_t>();
    return plan;
  }

  /// Rank 0's clock decides for all ranks, because sizes must be the same everywhere.
  double now_of_root() {
    comm::Packer packer;
    packer.value(bench_.now_seconds());
    const comm::Bytes bytes = ranks_.broadcast(packer.take());
    return comm::Unpacker(bytes).value<double>();
  }

  /// The maximum over all ranks.
  double latest(double mine) {
    comm::Packer packer;
    packer.value(mine);
    const comm::Bytes bytes = ranks_.all_reduce(packer.take(), [](const comm::Bytes& low, const comm::Bytes& high) {
      return comm::Unpacker(low).value<double>() < comm::Unpacker(high).value<double>() ? high : low;
    });
    return comm::Unpacker(bytes).value<double>();
  }

  Bench& bench_;
  const CalibrationRequest& request_;
  comm::Communicator& ranks_;
  Calibration result_;
};

}  // namespace

Calibration calibrate(Bench& bench, const CalibrationRequest& request, comm::Communicator& ranks) {
  return Calibrator(bench, request, ranks).run();
}

}  // namespace hetsort::sort
