// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
#include "sort/calibrate/calibrate.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <map>
#include <numeric>

#include "comm/bytes.h"
#include "io/checked.h"
#include "partition/plan.h"
#include "sort/plan/plan_sort.h"

namespace hetsort::sort {

namespace {

// Parts of the time.
constexpr double kDiskPart = 0.06;
constexpr double kLinkPart = 0.06;
constexpr double kAlonePart = 0.15;
constexpr double kSharesPart = 0.12;  // where there are two kinds of them
// The sorts together get what is left, less what a last repetition may take too long.
constexpr double kEnd = 0.95;
constexpr std::uint64_t kFirstRecords = 10'000;

std::uint64_t sum_of(const std::vector<std::uint64_t>& shares) {
  return std::accumulate(shares.begin(), shares.end(), std::uint64_t{0});
}

/// By what part of the larger one a node's share by one kind of rates differs from that by the other, at most.
double most_apart(const std::vector<double>& one, const std::vector<double>& other) {
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
  Calibrator(Bench& bench, const CalibrationLimits& limits, comm::Communicator& ranks, const TellStage& tell)
      : bench_(bench),
        limits_{limits.seconds, std::max<std::uint64_t>(1, limits.most_records)},
        ranks_(ranks),
        tell_(tell),
        begin_(bench.now_seconds()) {}

  Calibration run() {
    for (const std::vector<std::uint64_t>& rank : all_gather({limits_.most_records}, ranks_)) caps_.push_back(rank[0]);
    rates_.assign(caps_.size(), 1);
    measure_start();
    tell("disk");
    NodeMeasurements mine;
    mine.disk = bench_.measure_disk(kDiskPart * limits_.seconds);
    const std::vector<LinkRates> links = measure_links();
    if (ranks_.size() > 1) mine.alone = measure_alone();
    collect(mine, links);
    measure_together();
    return std::move(result_);
  }

 private:
  /// Sorts of so many records by all ranks, alone or together.
  struct SizeOfAll {
    std::vector<std::uint64_t> shares{};
    std::vector<TimedSort> sorts{};  // of this rank

    /// What it took the last rank. Collective.
    Repetition add(const TimedSort& mine, Calibrator& calibrator) {
      const Repetition all = calibrator.latest(mine.whole);
      sorts.push_back(mine);
      // The same part for all ranks, so that the same repetitions count.
      Repetition& whole = sorts.back().whole;
      whole.stolen_seconds = all.stolen_seconds / positive_seconds(all) * whole.seconds;
      return all;
    }
  };

  void tell(const std::string& stage) const {
    ranks_.set_phase(stage);
    if (tell_) tell_(stage);
  }

  /// Equal shares: nothing is known yet.
  void measure_start() {
    tell("the first sort");
    constexpr int kSorts = 6;
    const std::vector<std::uint64_t> shares = suitable_shares(kFirstRecords * caps_.size());
    std::vector<double> seconds;
    seconds.reserve(kSorts);
    const double before = latest(bench_.now_seconds() - bench_.job_start_seconds());
    for (int i = 0; i < kSorts; ++i) seconds.push_back(latest(bench_.sort_together(shares).whole.seconds));
    // Beyond the longest of the others it is no chance.
    const double longest = *std::max_element(seconds.begin() + 1, seconds.end());
    result_.start_seconds = before + std::max(0.0, seconds.front() - longest);
  }

  /// From this rank to each.
  std::vector<LinkRates> measure_links() {
    std::vector<LinkRates> links(static_cast<std::size_t>(ranks_.size()));
    const int rounds = meeting_rounds(ranks_.size());
    if (rounds > 0) tell("links");
    for (int round = 0; round < rounds; ++round) {
      const int peer = partner_in_round(ranks_.rank(), round, ranks_.size());
      // A pair measures one way, then the other.
      if (peer >= 0)
        links[static_cast<std::size_t>(peer)] = bench_.measure_link(peer, kLinkPart / 2 * limits_.seconds / rounds);
    }
    return links;
  }

  /// Brings all ranks' measurements to rank 0.
  void collect(const NodeMeasurements& mine, const std::vector<LinkRates>& links) {
    comm::Bytes bytes;
    comm::append_value(bytes, mine.disk);
    for (const LinkRates& link : links) comm::append_value(bytes, link);
    for (const MeasuredPoint& point : mine.alone) comm::append_value(bytes, point);
    for (const comm::Bytes& told : ranks_.gather(std::move(bytes))) {
      NodeMeasurements& node = result_.nodes.emplace_back();
      std::vector<LinkRates>& from = result_.links.emplace_back();
      node.disk = comm::value_at<DiskRates>(told, 0);
      std::size_t at = sizeof node.disk;
      for (int rank = 0; rank < ranks_.size(); ++rank, at += sizeof(LinkRates))
        from.push_back(comm::value_at<LinkRates>(told, at));
      for (; at < told.size(); at += sizeof(MeasuredPoint))
        node.alone.push_back(comm::value_at<MeasuredPoint>(told, at));
      node.from_root = result_.links.front()[result_.nodes.size() - 1];
    }
  }

  /// All at once, each its share: who is done long before the others leaves them what they would have shared. So each
  /// size has shares by what those before have shown. Collective.
  std::vector<MeasuredPoint> measure_alone() {
    const auto sort = [&](std::uint64_t records) {
      if (!alone_.contains(records)) {
        if (!alone_.empty()) rates_ = rates_shown(RateBy::kAllPhases);
        alone_[records].shares = suitable_shares(records);
      }
      SizeOfAll& size = alone_[records];
      tell(fmt::format("{} records, each node alone", sum_of(size.shares)));
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
    const std::vector<SortsOfSize> telling =
        by == RateBy::kForming ? tell_forming() : std::vector{mine_of(alone_.rbegin()->second)};
    return rates_beyond_chance(gather_rates(node_rate(telling, by), ranks_));
  }

  /// Sizes of which all ranks formed runs for long: beside a start of some milliseconds, caches, and a quota of
  /// processor time that does not stop a node which is done before it is used up. Of sorts of all if there are such,
  /// for a plan is for these; else alone. Where none took so long, the largest, or nearly. Collective.
  std::vector<SortsOfSize> tell_forming() {
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

  /// Whether sorts of all with shares by those rates are clearly shorter than by rates_, and then takes them: so it is
  /// where a node's disk holds up all, and not where links hide what it took a node alone. Collective.
  bool others_are_better(std::vector<double> others) {
    constexpr double kAlikeShares = 0.1;
    constexpr double kAlikeSeconds = 0.05;
    constexpr std::uint64_t kGrowth = 4;
    constexpr std::size_t kPairs = 8;
    if (most_apart(rates_, others) <= kAlikeShares) return false;
    const double deadline = deadline_at(kDiskPart + kLinkPart + kAlonePart + kSharesPart);
    std::uint64_t most = most_of_all();
    std::swap(rates_, others);
    most = std::min(most, most_of_all());
    std::swap(rates_, others);
    std::uint64_t records = std::min(most, caps_.size() * kFirstRecords);
    for (std::vector<Repetition> kept, tried;;) {
      const double begin = now_of_root();
      for (std::vector<Repetition>* sorts : {&kept, &tried}) {
        tell(fmt::format("{} records, all nodes together, two kinds of shares in turns", records));
        sorts->push_back(latest(bench_.sort_together(suitable_shares(records)).whole));
        std::swap(rates_, others);
      }
      const double end = now_of_root();
      // Two pairs of the last size at least, because a first sort makes it ready.
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

  /// Where forming tells the rates, the sorts of the sizes before correct them. Collective.
  void measure_together() {
    const auto sort = [&](std::uint64_t records) {
      if (!together_.contains(records)) {
        const bool known = !alone_.empty() || !together_.empty();
        if (known && !disks_decide_) rates_ = rates_shown(RateBy::kForming);
        together_[records].shares = suitable_shares(records);
      }
      SizeOfAll& size = together_[records];
      tell(fmt::format("{} records, all nodes together", sum_of(size.shares)));
      return size.add(bench_.sort_together(size.shares), *this);
    };
    std::vector<MeasuredPoint> points = measure_sizes(sort, kEnd);
    for (MeasuredPoint& point : points) {
      const std::vector<std::uint64_t>& shares = together_[point.records].shares;
      // Fewer than asked for where by newer rates fewer fit memory.
      point.records = sum_of(shares);
      if (ranks_.rank() == 0) result_.together.push_back({point, shares});
    }
  }

  /// What rank 0's clock says holds for all: sizes and repetitions must be the same everywhere. Collective.
  std::vector<MeasuredPoint> measure_sizes(const TimeRecords& sort, double until_part) {
    return measure_curve(sort, [this] { return now_of_root(); },
                         {caps_.size() * kFirstRecords, most_of_all(), deadline_at(until_part)});
  }

  double now_of_root() { return from_root(bench_.now_seconds()); }
  /// On rank 0's clock, when that part of the time has passed.
  double deadline_at(double part) { return from_root(begin_ + part * limits_.seconds); }
  double from_root(double value) {
    comm::Bytes bytes;
    if (ranks_.rank() == 0) comm::append_value(bytes, value);
    return comm::value_at<double>(ranks_.broadcast(std::move(bytes)), 0);
  }

  /// With which all should end together: of so many records, or of what fits.
  std::vector<std::uint64_t> suitable_shares(std::uint64_t records) const {
    const auto fitting = static_cast<std::int64_t>(std::min(records, most_of_all()));
    partition::Problem problem = partition::problem_from_speeds(fitting, rates_, partition::linear_cost(1));
    // What is fitting as a fraction may be rounded up.
    for (std::size_t rank = 0; rank < caps_.size(); ++rank)
      problem.nodes[rank].max_records = static_cast<std::int64_t>(caps_[rank]);
    std::vector<std::uint64_t> shares;
    for (const partition::NodePlan& node : partition::make_plan(problem, "threshold").nodes)
      shares.push_back(static_cast<std::uint64_t>(node.records));
    return shares;
  }

  /// The largest size of which each node's share fits its memory. Fewer records, rather than a fast node that takes no
  /// more than it can hold: then it would wait for the others, and its curve would say that it is slow.
  std::uint64_t most_of_all() const {
    const double sum = std::accumulate(rates_.begin(), rates_.end(), 0.0);
    double most = std::numeric_limits<double>::max();
    for (std::size_t rank = 0; rank < rates_.size(); ++rank)
      most = std::min(most, static_cast<double>(caps_[rank]) * sum / rates_[rank]);
    // Whole, unless it is no more than rounding that makes it less.
    constexpr double kRounding = 1e-12;
    const std::uint64_t whole = std::min(io::saturated(most * (1 + kRounding)), io::kMaxTotalBytes);
    return std::max<std::uint64_t>(caps_.size(), whole);
  }

  double latest(double seconds) { return latest(Repetition{seconds}).seconds; }
  /// The most of each: ranks of one host are stolen the same, and others wait for it.
  Repetition latest(const Repetition& mine) {
    comm::Bytes bytes;
    comm::append_value(bytes, mine);
    const comm::Bytes all = ranks_.all_reduce(std::move(bytes), [](const comm::Bytes& low, const comm::Bytes& high) {
      const auto one = comm::value_at<Repetition>(low, 0);
      const auto two = comm::value_at<Repetition>(high, 0);
      comm::Bytes most;
      comm::append_value(most, Repetition{.seconds = std::max(one.seconds, two.seconds),
                                          .stolen_seconds = std::max(one.stolen_seconds, two.stolen_seconds)});
      return most;
    });
    return comm::value_at<Repetition>(all, 0);
  }

  Bench& bench_;
  const CalibrationLimits limits_;
  comm::Communicator& ranks_;
  const TellStage& tell_;
  double begin_;
  std::vector<std::uint64_t> caps_;              // records that fit each rank's memory
  std::vector<double> rates_;                    // of each rank, by what sorts have shown; all alike before
  std::map<std::uint64_t, SizeOfAll> alone_;     // by what was asked for
  std::map<std::uint64_t, SizeOfAll> together_;  // the same
  bool disks_decide_ = false;                    // and not forming
  Calibration result_;
};

/// Seconds a record between two neighbours of a curve. Two that lie near each other, or noisy ones, may have any slope:
/// that of the upper one's straight line through zero is never far off.
double slope_between(const NodePoint& low, const NodePoint& high) {
  constexpr double kLeastOfRatio = 0.5;
  constexpr double kMostOfRatio = 1.3;
  const double ratio = high.seconds / static_cast<double>(high.records);
  const double slope = (high.seconds - low.seconds) / static_cast<double>(high.records - low.records);
  return std::clamp(slope, kLeastOfRatio * ratio, kMostOfRatio * ratio);
}

/// A straight line through the last point of a curve and one of at most a third of its records, or else the first: the
/// errors of nearer ones would decide its slope. Of a curve of one point through zero.
NodePoint carried_on(const std::vector<NodePoint>& curve) {
  constexpr std::uint64_t kTimes = 1000;
  constexpr std::uint64_t kApart = 3;
  const NodePoint& last = curve.back();
  std::size_t low = 0;
  for (std::size_t i = 0; i < curve.size(); ++i)
    if (curve[i].records <= last.records / kApart) low = i;
  const double slope =
      curve.size() > 1 ? slope_between(curve[low], last) : last.seconds / static_cast<double>(last.records);
  const std::uint64_t records = last.records * kTimes;
  return {records, last.seconds + slope * static_cast<double>(records - last.records), nullptr};
}

/// What the shortest sort takes, by the line through the first two points; of a curve of one point, or where that would
/// be less, by the one through zero.
NodePoint carried_back(const std::vector<NodePoint>& curve) {
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

Calibration calibrate(Bench& bench, const CalibrationLimits& limits, comm::Communicator& ranks, const TellStage& tell) {
  return Calibrator(bench, limits, ranks, tell).run();
}

std::vector<NodePoint> node_curve(const Calibration& calibration, std::size_t rank) {
  std::vector<NodePoint> curve;
  // A noisy small size must neither turn the curve around nor give two times for one number of records.
  const auto add = [&](std::uint64_t records, const MeasuredPoint& measured) {
    if (records == 0 || (!curve.empty() && records <= curve.back().records)) return;
    curve.push_back({records, std::max(measured.seconds, curve.empty() ? 0 : curve.back().seconds), &measured});
  };
  for (const TogetherPoint& point : calibration.together) add(point.shares[rank], point.whole);
  const bool together = !curve.empty();
  if (!together)
    for (const MeasuredPoint& point : calibration.nodes[rank].alone) add(point.records, point);
  curve.push_back(carried_on(curve));
  // Alone it is the nodes' ratio that counts, however few the records.
  if (together && curve.front().records > 1) curve.insert(curve.begin(), carried_back(curve));
  return curve;
}

}  // namespace hetsort::sort
