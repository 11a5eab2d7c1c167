// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
#include "sort/calibrate/calibrate.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <limits>
#include <map>
#include <numeric>
#include <span>

#include "comm/base/packing.h"
#include "partition/cluster.h"
#include "partition/cost/measured_costs.h"
#include "partition/plan.h"
#include "sort/calibrate/calibration_text.h"
#include "sort/calibrate/fit_exchange.h"
#include "sort/calibrate/link_rates.h"

namespace hetsort::sort {

namespace {

// Fractions of the time for the calibration.
constexpr double kDiskPart = 0.08;
constexpr double kLinkPart = 0.2;
constexpr double kAlonePart = 0.2;       // for sorting alone, after disks and links
constexpr double kTogetherPart = 0.025;  // for each sort of all nodes
constexpr double kMost = 1.2;            // when repetitions end
constexpr std::uint64_t kFirstRecords = 10'000;
constexpr std::uint64_t kGrowth = 4;  // factor from one size to the next
constexpr int kRepetitions = 3;
constexpr double kSkew = 3;  // the larger shares of skewed sorts are so many times the smaller ones
constexpr std::size_t kMaxRepetitions = 20;

/// A disturbance lengthens a repetition and shortens none: the mean would follow it.
double median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return (values[(values.size() - 1) / 2] + values[values.size() / 2]) / 2;
}

/// The medians of repetitions. Repetitions with clearly more stolen time than the others are left out.
SortTimes summarize(std::span<const SortTimes> repetitions) {
  constexpr double kMoreStolen = 0.1;
  const auto stolen = [](const SortTimes& one) { return one.stolen / std::max(1e-9, one.whole); };
  double least = std::numeric_limits<double>::max();
  for (const SortTimes& one : repetitions) least = std::min(least, stolen(one));
  const auto of = [&](double SortTimes::*field) {
    std::vector<double> values;
    for (const SortTimes& one : repetitions)
      if (stolen(one) <= least + kMoreStolen) values.push_back(one.*field);
    return median(std::move(values));
  };
  return {.form = of(&SortTimes::form),
          .exchange = of(&SortTimes::exchange),
          .publish = of(&SortTimes::publish),
          .whole = of(&SortTimes::whole),
          .stolen = of(&SortTimes::stolen),
          .form_processor = of(&SortTimes::form_processor),
          .exchange_processor = of(&SortTimes::exchange_processor)};
}

/// The shares of a sort by all ranks.
struct JointSort {
  const char* shares = "";  ///< how they were chosen
  std::vector<std::uint64_t> input{};
  std::vector<std::uint64_t> output{};
  bool synced = false;
};

/// A sort by all ranks, and what it took.
struct Measured {
  JointSort plan;
  SortTimes times;                ///< times of the latest rank; processor times are those of this rank
  std::vector<double> processor;  ///< processor seconds of each rank's exchange; 0 = unknown
};

/// One calibration on this rank.
class Calibrator {
 public:
  Calibrator(Bench& bench, const CalibrationRequest& request, comm::Communicator& ranks)
      : bench_(bench), request_(request), ranks_(ranks) {}

  Calibration run() {
    deadline_ = now_of_root() + kMost * request_.seconds;
    gather_facts();
    measure_start();
    report_stage("disks");
    const DiskRates disk = bench_.measure_disk(kDiskPart * request_.seconds);
    if (ranks_.size() > 1) report_stage("links");
    const LinkRates links = measure_links(bench_, kLinkPart * request_.seconds, ranks_);
    result_.shared_link = links.all;
    result_.too_fast = links.too_fast;
    NodeMeasurements mine = measure_alone();
    std::vector<partition::CostPoint> formed;
    for (const FormPoint& point : mine.form) formed.push_back({static_cast<double>(point.records), point.seconds});
    form_cost_ = partition::table_cost(std::move(formed));
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
      const double form = times.form_processor > 0 ? times.form_processor : times.form;
      const double merge = times.exchange_processor > 0 ? times.exchange_processor : times.exchange;
      if (mine.form.empty() || own > mine.form.back().records) {
        const double least = mine.form.empty() ? 1e-9 : mine.form.back().seconds;
        mine.form.push_back({own, std::max(form, least)});
        mine.merge_seconds = std::max(1e-12, merge / static_cast<double>(own));
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

  /// Sorts whose shares differ, so that different resources bind them, and then one as a user of the file would.
  void measure_together() {
    const std::uint64_t records = sum(on_root([&] { return plan_all(); }).input);
    const std::vector<double> equal(result_.nodes.size(), 1.0);
    std::vector<double> skewed = equal;
    for (std::size_t rank = 0; rank < skewed.size(); rank += 2) skewed[rank] = kSkew;
    std::vector<Measured> sorts;
    int plans = result_.nodes.size() > 1 ? 5 : 2;
    const auto measure = [&](const char* shares, std::uint64_t count, const auto& input, const auto& output) {
      sorts.push_back(repeat_together(on_root([&] { return plan_by_weights(shares, count, input, output); }), plans--));
    };
    measure("equal", records, equal, equal);
    if (result_.nodes.size() > 1) {
      measure("skewed output", records, equal, skewed);
      const std::uint64_t half = sum(sorts.front().plan.input) / 2;
      measure("equal, half size", half, equal, equal);
      measure("skewed input", half, skewed, equal);
    }
    correct_forming();
    if (ranks_.rank() == 0) learn_from(sorts);
    sorts.push_back(repeat_together(on_root([&] { return plan_by_phases("phases, synced", records, true); }), plans));
    if (ranks_.rank() != 0) return;
    result_.publish_seconds = std::max(0.0, sorts.back().times.publish - sorts.front().times.publish);
    for (const Measured& one : sorts) add_check(one);
  }

  /// Makes forming runs cost what it did while all ranks sorted together. These are more sorts than each rank had
  /// alone.
  void correct_forming() {
    std::size_t rank = 0;
    for (const double factor : ranks_.all_gather(form_factors_.empty() ? 1 : median(form_factors_)))
      for (FormPoint& point : result_.nodes[rank++].form) point.seconds *= factor;
  }

  /// Plans a sort of as many records as the ranks sorted alone, or fewer if that would take too long.
  JointSort plan_all() const {
    std::uint64_t records = 0;
    for (const NodeMeasurements& node : result_.nodes) records += node.form.back().records;
    return within_time(records, [this](std::uint64_t some) { return plan_by_phases("", some, false); });
  }

  /// Halves the records until the planned sort is short enough.
  template <typename MakePlan>
  JointSort within_time(std::uint64_t records, const MakePlan& make_plan) const {
    for (;; records /= 2) {
      JointSort plan = make_plan(records);
      const double seconds = predict(plan).seconds - result_.start_seconds;
      if (seconds <= kTogetherPart * request_.seconds || records < kFirstRecords * result_.nodes.size()) return plan;
    }
  }

  /// The problem that a user of the cluster file has.
  partition::Problem problem_for(std::uint64_t records, bool synced) const {
    const partition::Cluster cluster = partition::parse_cluster(cluster_text(result_, {}), "calibration");
    const partition::ClusterUse use{
        .record_bytes = static_cast<std::int64_t>(request_.record_bytes), .memory_caps = false, .synced = synced};
    partition::Problem problem = partition::problem_from_cluster(cluster, static_cast<std::int64_t>(records), use);
    use_limits(problem);
    partition::add_run_model(problem, cluster, use);
    return problem;
  }

  void use_limits(partition::Problem& problem) const {
    for (std::size_t rank = 0; rank < result_.nodes.size(); ++rank)
      problem.nodes[rank].max_records = static_cast<std::int64_t>(
          std::min<std::uint64_t>(result_.nodes[rank].facts.max_records, std::numeric_limits<std::int64_t>::max()));
  }

  JointSort plan_by_phases(const char* name, std::uint64_t records, bool synced) const {
    JointSort planned{.shares = name, .input = {}, .output = {}, .synced = synced};
    for (const partition::NodePlan& node : partition::make_plan(problem_for(records, synced), "phases").nodes) {
      planned.input.push_back(static_cast<std::uint64_t>(node.input));
      planned.output.push_back(static_cast<std::uint64_t>(node.records));
    }
    return planned;
  }

  JointSort plan_by_weights(const char* name, std::uint64_t records, const std::vector<double>& input,
                            const std::vector<double>& output) const {
    return within_time(records, [&](std::uint64_t some) {
      return JointSort{.shares = name, .input = weighted(some, input), .output = weighted(some, output)};
    });
  }

  partition::RunPrediction predict(const JointSort& plan) const {
    return partition::predict_run(partition::run_model_of(problem_for(sum(plan.input), plan.synced)),
                                  signed_of(plan.input), signed_of(plan.output));
  }

  /// Shares in proportion to the weights, within what the ranks have room for.
  std::vector<std::uint64_t> weighted(std::uint64_t records, const std::vector<double>& weights) const {
    partition::Problem problem =
        partition::problem_from_speeds(static_cast<std::int64_t>(records), weights, partition::linear_cost(1));
    use_limits(problem);
    std::vector<std::uint64_t> shares;
    for (const partition::NodePlan& node : partition::make_plan(problem, "proportional").nodes)
      shares.push_back(static_cast<std::uint64_t>(node.records));
    return shares;
  }

  /// Fits the costs of messages and links, and the seconds that no phase explains. Requires: sorts without sync.
  void learn_from(const std::vector<Measured>& sorts) {
    std::vector<MeasuredExchange> exchanges;
    std::vector<double> around;
    for (const Measured& one : sorts) {
      exchanges.push_back(
          {signed_of(one.plan.input), signed_of(one.plan.output), std::max(1e-9, one.times.exchange), one.processor});
      around.push_back(one.times.whole - one.times.form - one.times.exchange);
    }
    const std::uint64_t records = sum(sorts.front().plan.input);
    FittedCosts fit;
    if (sorts.size() > 1) fit = fit_exchange(partition::run_model_of(problem_for(records, false)), exchanges);
    for (NodeMeasurements& node : result_.nodes) {
      node.message = {.in = fit.in * node.merge_seconds, .out = fit.out * node.merge_seconds};
      node.link_in /= fit.links;
      node.link_out /= fit.links;
    }
    result_.shared_link /= fit.links;
    result_.select_seconds = std::max(0.0, median(around)) + fit.unexplained_seconds;
  }

  void add_check(const Measured& sort) {
    const partition::RunPrediction predicted = predict(sort.plan);
    result_.checks.push_back({.shares = sort.plan.shares,
                              .records = sum(sort.plan.input),
                              .predicted_form = predicted.form_seconds,
                              .predicted_exchange = predicted.exchange_seconds,
                              .predicted = predicted.seconds - predicted.start_seconds,
                              .measured = sort.times});
  }

  /// Sorts some times, fewer if time runs short. `plans`: the number of plans that still wait for their turn, with
  /// this.
  Measured repeat_together(JointSort plan, int plans) {
    report_stage(fmt::format("{} records, all nodes together", sum(plan.input)));
    const double begin = now_of_root();
    const double end = begin + std::max(0.0, deadline_ - begin) / plans;
    std::vector<SortTimes> sorts;
    double now = begin;
    do {
      sorts.push_back(sort_together(plan.input, plan.output, plan.synced));
      now = now_of_root();
    } while (std::ssize(sorts) < kRepetitions && now + (now - begin) / static_cast<double>(sorts.size()) <= end);
    const SortTimes times = summarize(sorts);
    return {std::move(plan), times, ranks_.all_gather(times.exchange_processor)};
  }

  /// The times of the latest rank. Publishing is the exception: its time is that of the rank that waits the least in
  /// it.
  SortTimes sort_together(const std::vector<std::uint64_t>& input, const std::vector<std::uint64_t>& output,
                          bool synced) {
    SortTimes times = bench_.sort_together(input, output, synced);
    const std::uint64_t formed = input[static_cast<std::size_t>(ranks_.rank())];
    // Seconds on the clock may be those of the disk.
    if (form_cost_ && formed > 0 && times.form_processor > 0)
      form_factors_.push_back(times.form_processor / form_cost_->value(static_cast<double>(formed)));
    for (double* const value : {&times.form, &times.exchange, &times.whole, &times.stolen}) *value = latest(*value);
    times.publish = -latest(-times.publish);
    return times;
  }

  static std::vector<std::int64_t> signed_of(const std::vector<std::uint64_t>& shares) {
    return {shares.begin(), shares.end()};
  }

  static std::uint64_t sum(const std::vector<std::uint64_t>& shares) {
    return std::accumulate(shares.begin(), shares.end(), std::uint64_t{0});
  }

  /// The plan that rank 0 makes, on all ranks; its name stays on rank 0.
  template <typename MakePlan>
  JointSort on_root(const MakePlan& make_plan) {
    JointSort plan;
    if (ranks_.rank() == 0) plan = make_plan();
    comm::Packer packer;
    packer.values(plan.input);
    packer.values(plan.output);
    packer.value(plan.synced);
    const comm::Bytes bytes = ranks_.broadcast(packer.take());
    comm::Unpacker unpacker(bytes);
    plan.input = unpacker.values<std::uint64_t>();
    plan.output = unpacker.values<std::uint64_t>();
    plan.synced = unpacker.value<bool>();
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
  partition::CostPtr form_cost_;      // of this rank, as it sorted alone
  std::vector<double> form_factors_;  // forming in each sort of all ranks, relative to form_cost_
  double deadline_ = 0;               // by rank 0's clock
};

}  // namespace

Calibration calibrate(Bench& bench, const CalibrationRequest& request, comm::Communicator& ranks) {
  return Calibrator(bench, request, ranks).run();
}

}  // namespace hetsort::sort
