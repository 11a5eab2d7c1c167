// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
#include "sort/calibrate/calibrate.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <map>
#include <numeric>

#include "comm/packing.h"
#include "io/checked.h"
#include "partition/plan.h"
#include "sort/plan/plan_sort.h"

namespace hetsort::sort {

namespace {

// Fractions of the whole time.
constexpr double kDiskPart = 0.06;
constexpr double kLinkPart = 0.06;
constexpr double kAlonePart = 0.15;
constexpr double kSharesPart = 0.12;  // to compare two share vectors, if they differ
// The sorts together end here, because the last repetition may take longer than predicted.
constexpr double kEnd = 0.95;
constexpr std::uint64_t kFirstRecords = 10'000;

std::uint64_t sum_of(const std::vector<std::uint64_t>& shares) {
  return std::accumulate(shares.begin(), shares.end(), std::uint64_t{0});
}

/// The largest relative difference between a node's shares by the one and by the other rates.
double max_share_difference(const std::vector<double>& one, const std::vector<double>& other) {
  const double sum_of_one = std::accumulate(one.begin(), one.end(), 0.0);
  const double sum_of_other = std::accumulate(other.begin(), other.end(), 0.0);
  double most = 0;
  for (std::size_t node = 0; node < one.size(); ++node) {
    const double ratio = one[node] / sum_of_one * sum_of_other / other[node];
    most = std::max(most, 1 - std::min(ratio, 1 / ratio));
  }
  return most;
}

/// One calibration on this rank.
class Calibrator {
 public:
  Calibrator(Bench& bench, const CalibrationLimits& limits, comm::Communicator& ranks,
             const ProgressCallback& on_progress)
      : bench_(bench),
        limits_{limits.seconds, std::max<std::uint64_t>(1, limits.most_records)},
        ranks_(ranks),
        on_progress_(on_progress),
        begin_(bench.now_seconds()) {}

  Calibration run() {
    for (const std::vector<std::uint64_t>& rank : ranks_.all_gather({limits_.most_records})) caps_.push_back(rank[0]);
    rates_.assign(caps_.size(), 1);
    measure_start();
    report_stage("disk");
    NodeMeasurements mine;
    mine.disk = bench_.measure_disk(kDiskPart * limits_.seconds);
    const std::vector<LinkRates> links = measure_links();
    if (ranks_.size() > 1) mine.alone = measure_alone();
    collect(mine, links);
    measure_together();
    return std::move(result_);
  }

 private:
  /// Sorts of one number of records by all ranks, alone or together.
  struct SizeOfAll {
    std::vector<std::uint64_t> shares{};
    std::vector<TimedSort> sorts{};  // of this rank

    /// Adds a sort. Returns the time of the slowest rank. Collective.
    Repetition add(const TimedSort& mine, Calibrator& calibrator) {
      const Repetition all = calibrator.latest(mine.whole);
      sorts.push_back(mine);
      // All ranks use the same part of stolen time, so that they discard the same repetitions.
      Repetition& whole = sorts.back().whole;
      whole.stolen_seconds = all.stolen_seconds / positive_seconds(all) * whole.seconds;
      return all;
    }
  };

  void report_stage(const std::string& stage) const {
    ranks_.set_phase(stage);
    if (on_progress_) on_progress_(stage);
  }

  /// Measures the start of a job. Shares are equal, because no speeds are known yet.
  void measure_start() {
    report_stage("the first sort");
    constexpr int kSorts = 6;
    const std::vector<std::uint64_t> shares = suitable_shares(kFirstRecords * caps_.size());
    std::vector<double> seconds;
    seconds.reserve(kSorts);
    const double before = latest(bench_.now_seconds() - bench_.job_start_seconds());
    for (int i = 0; i < kSorts; ++i) seconds.push_back(latest(bench_.sort_together(shares).whole.seconds));
    // A first sort that takes longer than the longest of the others is not chance.
    const double longest = *std::max_element(seconds.begin() + 1, seconds.end());
    result_.start_seconds = before + std::max(0.0, seconds.front() - longest);
  }

  /// Rates from this rank to each other rank.
  std::vector<LinkRates> measure_links() {
    std::vector<LinkRates> links(static_cast<std::size_t>(ranks_.size()));
    const int rounds = meeting_rounds(ranks_.size());
    if (rounds > 0) report_stage("links");
    for (int round = 0; round < rounds; ++round) {
      const int peer = partner_in_round(ranks_.rank(), round, ranks_.size());
      // A pair measures one direction after the other.
      if (peer >= 0)
        links[static_cast<std::size_t>(peer)] = bench_.measure_link(peer, kLinkPart / 2 * limits_.seconds / rounds);
    }
    return links;
  }

  /// Brings all ranks' measurements to rank 0.
  void collect(const NodeMeasurements& mine, const std::vector<LinkRates>& links) {
    comm::Packer packer;
    packer.value(mine.disk);
    packer.values(links);
    packer.values(mine.alone);
    for (const comm::Bytes& bytes : ranks_.gather(packer.take())) {
      comm::Unpacker unpacker(bytes);
      NodeMeasurements& node = result_.nodes.emplace_back();
      node.disk = unpacker.value<DiskRates>();
      result_.links.push_back(unpacker.values<LinkRates>());
      node.alone = unpacker.values<MeasuredPoint>();
      unpacker.end();
      node.from_root = result_.links.front()[result_.nodes.size() - 1];
    }
  }

  /// All nodes sort at the same time, each its share. A node that ends early leaves shared resources to the others. So
  /// the shares of each size follow the rates of the sizes before. Collective.
  std::vector<MeasuredPoint> measure_alone() {
    const auto sort = [&](std::uint64_t records) {
      if (!alone_.contains(records)) {
        if (!alone_.empty()) rates_ = rates_shown(RateBy::kAllPhases);
        alone_[records].shares = suitable_shares(records);
      }
      SizeOfAll& size = alone_[records];
      report_stage(fmt::format("{} records, each node alone", sum_of(size.shares)));
      return size.add(bench_.sort_alone(size.shares), *this);
    };
    std::vector<MeasuredPoint> mine;
    for (const MeasuredPoint& point : measure_sizes(sort, kDiskPart + kLinkPart + kAlonePart)) {
      const SizeOfAll& size = alone_[point.records];
      std::vector<Repetition> whole;
      for (const TimedSort& one : size.sorts) whole.push_back(one.whole);
      mine.push_back(summarize(size.shares[static_cast<std::size_t>(ranks_.rank())], whole));
    }
    rates_ = rates_shown(RateBy::kForming);
    disks_decide_ = others_are_better(rates_shown(RateBy::kAllPhases));
    return mine;
  }

  /// Collective.
  std::vector<double> rates_shown(RateBy by) {
    const std::vector<SortsOfSize> sizes =
        by == RateBy::kForming ? sizes_of_long_forming() : std::vector{mine_of(alone_.rbegin()->second)};
    return rates_beyond_chance(gather_rates(node_rate(sizes, by), ranks_));
  }

  /// Sizes for which all ranks formed runs long enough: shorter times depend on a start of some milliseconds, on
  /// caches, and on a quota of processor time that is not used up yet. Sorts together are preferred, because plans are
  /// for these. If no size took long enough, about the largest one. Collective.
  std::vector<SortsOfSize> sizes_of_long_forming() {
    constexpr double kLong = 0.05;
    constexpr std::uint64_t kAlike = 2;
    for (const auto* sizes : {&together_, &alone_}) {
      std::vector<SortsOfSize> formed_long;
      for (const auto& [records, size] : *sizes) {
        double mine = 0;
        for (const TimedSort& one : size.sorts) mine += one.forming_seconds / static_cast<double>(size.sorts.size());
        const double least = -latest(-mine);
        if (least >= kLong) formed_long.push_back(mine_of(size));
      }
      if (!formed_long.empty()) return formed_long;
    }
    const bool larger_alone =
        together_.empty() || (!alone_.empty() && alone_.rbegin()->first > kAlike * together_.rbegin()->first);
    return {mine_of(larger_alone ? alone_.rbegin()->second : together_.rbegin()->second)};
  }

  SortsOfSize mine_of(const SizeOfAll& size) const {
    return {size.shares[static_cast<std::size_t>(ranks_.rank())], size.sorts};
  }

  /// Whether sorts together are clearly shorter with shares by `others` than by rates_; then rates_ become `others`.
  /// That is so where a node's disk holds up all nodes, and not where links take longer than disks. Collective.
  bool others_are_better(std::vector<double> others) {
    constexpr double kAlikeShares = 0.1;
    constexpr double kAlikeSeconds = 0.05;
    constexpr std::uint64_t kGrowth = 4;
    constexpr std::size_t kPairs = 8;
    if (max_share_difference(rates_, others) <= kAlikeShares) return false;
    const double deadline = deadline_at(kDiskPart + kLinkPart + kAlonePart + kSharesPart);
    std::uint64_t most = most_of_all();
    std::swap(rates_, others);
    most = std::min(most, most_of_all());
    std::swap(rates_, others);
    std::uint64_t records = std::min(most, caps_.size() * kFirstRecords);
    for (std::vector<Repetition> kept, tried;;) {
      const double begin = now_of_root();
      for (std::vector<Repetition>* sorts : {&kept, &tried}) {
        report_stage(fmt::format("{} records, all nodes together, two kinds of shares in turns", records));
        sorts->push_back(latest(bench_.sort_together(suitable_shares(records)).whole));
        std::swap(rates_, others);
      }
      const double end = now_of_root();
      // At least two pairs of the last size, because the first sort of a size warms up.
      if (records < most && end + 2 * kGrowth * (end - begin) <= deadline) {
        records = std::min(most, records * kGrowth);
        kept.clear();
        tried.clear();
      } else if (kept.size() == kPairs || (kept.size() > 1 && end + (end - begin) > deadline)) {
        const bool better = summarize(records, tried).seconds < (1 - kAlikeSeconds) * summarize(records, kept).seconds;
        if (better) rates_ = std::move(others);
        return better;
      }
    }
  }

  /// If forming decides the rates, the sorts of each size correct the rates of the next. Collective.
  void measure_together() {
    const auto sort = [&](std::uint64_t records) {
      if (!together_.contains(records)) {
        const bool known = !alone_.empty() || !together_.empty();
        if (known && !disks_decide_) rates_ = rates_shown(RateBy::kForming);
        together_[records].shares = suitable_shares(records);
      }
      SizeOfAll& size = together_[records];
      report_stage(fmt::format("{} records, all nodes together", sum_of(size.shares)));
      return size.add(bench_.sort_together(size.shares), *this);
    };
    std::vector<MeasuredPoint> points = measure_sizes(sort, kEnd);
    for (MeasuredPoint& point : points) {
      const std::vector<std::uint64_t>& shares = together_[point.records].shares;
      // Fewer than requested if fewer fit memory by the newer rates.
      point.records = sum_of(shares);
      if (ranks_.rank() == 0) result_.together.push_back({point, shares});
    }
  }

  /// Rank 0's clock decides for all ranks, because sizes and repetitions must be the same everywhere. Collective.
  std::vector<MeasuredPoint> measure_sizes(const TimeRecords& sort, double until_part) {
    return measure_curve(sort, [this] { return now_of_root(); },
                         {caps_.size() * kFirstRecords, most_of_all(), deadline_at(until_part)});
  }

  double now_of_root() { return from_root(bench_.now_seconds()); }
  /// When that part of the time has passed, on rank 0's clock.
  double deadline_at(double part) { return from_root(begin_ + part * limits_.seconds); }
  double from_root(double value) {
    comm::Packer packer;
    packer.value(value);
    const comm::Bytes bytes = ranks_.broadcast(packer.take());
    return comm::Unpacker(bytes).value<double>();
  }

  /// Shares of `records`, or of as many as fit, with which all ranks should end at the same time.
  std::vector<std::uint64_t> suitable_shares(std::uint64_t records) const {
    const auto fitting = static_cast<std::int64_t>(std::min(records, most_of_all()));
    partition::Problem problem = partition::problem_from_speeds(fitting, rates_, partition::linear_cost(1));
    // A share that fits as a fraction may not fit when it is rounded up.
    for (std::size_t rank = 0; rank < caps_.size(); ++rank)
      problem.nodes[rank].max_records = static_cast<std::int64_t>(caps_[rank]);
    std::vector<std::uint64_t> shares;
    for (const partition::NodePlan& node : partition::make_plan(problem, "threshold").nodes)
      shares.push_back(static_cast<std::uint64_t>(node.records));
    return shares;
  }

  /// The largest number of records of which each node's share fits its memory. A fast node with a smaller share than
  /// its speed asks for would wait for the others, and its curve would make it look slow.
  std::uint64_t most_of_all() const {
    const double sum = std::accumulate(rates_.begin(), rates_.end(), 0.0);
    double most = std::numeric_limits<double>::max();
    for (std::size_t rank = 0; rank < rates_.size(); ++rank)
      most = std::min(most, static_cast<double>(caps_[rank]) * sum / rates_[rank]);
    // Rounding errors must not cost a record.
    constexpr double kRounding = 1e-12;
    const std::uint64_t whole = std::min(io::saturated(most * (1 + kRounding)), io::kMaxTotalBytes);
    return std::max<std::uint64_t>(caps_.size(), whole);
  }

  double latest(double seconds) { return latest(Repetition{seconds}).seconds; }
  /// The maximum of each over all ranks. Collective.
  Repetition latest(const Repetition& mine) {
    const auto packed = [](const Repetition& repetition) {
      comm::Packer packer;
      packer.value(repetition);
      return packer.take();
    };
    const auto unpacked = [](const comm::Bytes& bytes) { return comm::Unpacker(bytes).value<Repetition>(); };
    return unpacked(ranks_.all_reduce(packed(mine), [&](const comm::Bytes& low, const comm::Bytes& high) {
      const Repetition one = unpacked(low);
      const Repetition two = unpacked(high);
      return packed({.seconds = std::max(one.seconds, two.seconds),
                     .stolen_seconds = std::max(one.stolen_seconds, two.stolen_seconds)});
    }));
  }

  Bench& bench_;
  const CalibrationLimits limits_;
  comm::Communicator& ranks_;
  const ProgressCallback& on_progress_;
  double begin_;
  std::vector<std::uint64_t> caps_;              // records that fit each rank's memory
  std::vector<double> rates_;                    // records a second of each rank; equal before the first sorts
  std::map<std::uint64_t, SizeOfAll> alone_;     // by the number of records requested
  std::map<std::uint64_t, SizeOfAll> together_;  // the same
  bool disks_decide_ = false;                    // instead of the processors
  Calibration result_;
};

/// Seconds a record between two neighbours of a curve. Points that are close or noisy may have any slope, so it is
/// limited to the neighbourhood of the slope from zero to the upper point.
double slope_between(const NodePoint& low, const NodePoint& high) {
  constexpr double kMinOfRatio = 0.5;
  constexpr double kMaxOfRatio = 1.3;
  const double ratio = high.seconds / static_cast<double>(high.records);
  const double slope = (high.seconds - low.seconds) / static_cast<double>(high.records - low.records);
  return std::clamp(slope, kMinOfRatio * ratio, kMaxOfRatio * ratio);
}

/// The curve extrapolated in a straight line through its last point and a point of at most a third of its records, or
/// the first point. The errors of a nearer point would decide the slope. A curve of one point is a line through zero.
NodePoint extrapolated_up(const std::vector<NodePoint>& curve) {
  constexpr std::uint64_t kTimes = 1000;
  constexpr std::uint64_t kDistance = 3;
  const NodePoint& last = curve.back();
  std::size_t low = 0;
  for (std::size_t i = 0; i < curve.size(); ++i)
    if (curve[i].records <= last.records / kDistance) low = i;
  const double slope =
      curve.size() > 1 ? slope_between(curve[low], last) : last.seconds / static_cast<double>(last.records);
  const std::uint64_t records = last.records * kTimes;
  return {records, last.seconds + slope * static_cast<double>(records - last.records), nullptr};
}

/// The curve extrapolated to one record, by the line through the first two points. A curve of one point is a line
/// through zero, which is also the lower limit.
NodePoint extrapolated_down(const std::vector<NodePoint>& curve) {
  const NodePoint& first = curve.front();
  const double least = first.seconds / static_cast<double>(first.records);
  double seconds = least;
  if (curve.size() > 1)
    seconds = first.seconds - (curve[1].seconds - first.seconds) /
                                  static_cast<double>(curve[1].records - first.records) *
                                  static_cast<double>(first.records - 1);
  return {1, std::clamp(seconds, least, first.seconds), nullptr};
}

}  // namespace

Calibration calibrate(Bench& bench, const CalibrationLimits& limits, comm::Communicator& ranks,
                      const ProgressCallback& on_progress) {
  return Calibrator(bench, limits, ranks, on_progress).run();
}

std::vector<NodePoint> node_curve(const Calibration& calibration, std::size_t rank) {
  std::vector<NodePoint> curve;
  // Noise must not make the curve fall, nor give one number of records two times.
  const auto add = [&](std::uint64_t records, const MeasuredPoint& measured) {
    if (records == 0 || (!curve.empty() && records <= curve.back().records)) return;
    curve.push_back({records, std::max(measured.seconds, curve.empty() ? 0 : curve.back().seconds), &measured});
  };
  for (const TogetherPoint& point : calibration.together) add(point.shares[rank], point.whole);
  const bool together = !curve.empty();
  if (!together)
    for (const MeasuredPoint& point : calibration.nodes[rank].alone) add(point.records, point);
  curve.push_back(extrapolated_up(curve));
  // Of sorts alone only the ratio of the nodes matters, which a fixed start would change.
  if (together && curve.front().records > 1) curve.insert(curve.begin(), extrapolated_down(curve));
  return curve;
}

}  // namespace hetsort::sort
