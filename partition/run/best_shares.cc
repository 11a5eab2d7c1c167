// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
#include "partition/run/best_shares.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <optional>
#include <random>
#include <utility>

#include "partition/run/best_output.h"
#include "partition/run/phase_costs.h"
#include "partition/run/predict_run.h"
#include "partition/run/rank_intervals.h"

namespace hetsort::partition {
namespace {

/// The inputs with which ranks and hosts keep within a time while they form runs and, if sending is bounded, within
/// another time while they send.
class InputIntervals {
 public:
  InputIntervals(const RunModel& model, const HostRanks& hosts, std::int64_t records)
      : model_(model), hosts_(hosts), records_(records) {
    for (std::size_t host = 0; host < hosts.hosts(); ++host) {
      disks_.push_back(form_disk(model, hosts.ranks(host)));
      disks_.back().read_seconds *= uncached_part(hosts.ranks(host));
    }
    for (const RankResources& rank : model.ranks) processors_.push_back({rank.sort.get(), cap_of(rank, records)});
  }

  /// A host keeps the part of its input that `host_input` has of all records, because its output is about as large;
  /// nothing if `host_input` is empty. Sending is not bound yet.
  void keep_as(std::span<const std::int64_t> host_input) {
    send_.clear();
    for (std::size_t host = 0; host < hosts_.hosts(); ++host) {
      const std::optional<double>& rate = model_.ranks[hosts_.ranks(host).front()].rates.link_out;
      const double kept =
          host_input.empty() ? 0 : static_cast<double>(host_input[host]) / static_cast<double>(records_);
      send_.push_back({0, (1 - kept) * seconds_per_record(model_, rate)});
    }
  }
  /// Sending may take `ratio` times as long as forming runs, or `seconds` if that is more.
  void bound_sending(double ratio, double seconds = 0) {
    send_ratio_ = ratio;
    send_seconds_ = seconds;
  }

  Interval rank(std::size_t rank, double seconds) const {
    const Processor& processor = processors_[rank];
    return {0, whole_inverse(*processor.sort, seconds, processor.cap)};
  }

  Interval operator()(std::size_t host, double seconds) const {
    Interval interval = sum_of_ranks(hosts_.ranks(host), records_, [&](std::size_t one) { return rank(one, seconds); });
    narrow(interval, reading(disks_[host], seconds), seconds);
    if (!send_.empty()) narrow(interval, send_[host], std::max(send_ratio_ * seconds, send_seconds_));
    return interval;
  }

  /// A guess for the search: the time of an average rank with an average share.
  double guess() const {
    const double share = static_cast<double>(records_) / static_cast<double>(model_.ranks.size());
    double sum = 0;
    for (const RankResources& rank : model_.ranks) sum += rank.sort->value(share);
    return sum / static_cast<double>(model_.ranks.size());
  }

 private:
  /// The part of a host's input that its disk reads. Ranks of a host that share an input find the same part in the page
  /// cache; for others it is a mean.
  double uncached_part(std::span<const std::size_t> ranks) const {
    double sum = 0;
    for (const std::size_t rank : ranks) sum += 1 - model_.ranks[rank].input_cached;
    return sum / static_cast<double>(ranks.size());
  }

  /// The costs of a rank that every step reads. Reading them from the model would miss the cache.
  struct Processor {
    const CostFunction* sort;
    std::int64_t cap;
  };

  /// Disk time over the input of a host, where the input is as large as it can be in `seconds`.
  static Line reading(const FormDisk& disk, double seconds) {
    const auto memory = static_cast<double>(disk.memory_records);
    if (!disk.spills || disk.read_seconds * memory >= seconds) return {0, disk.read_seconds};
    return {-memory * disk.write_seconds, disk.read_seconds + disk.write_seconds};
  }

  const RunModel& model_;
  const HostRanks& hosts_;
  std::int64_t records_;
  std::vector<FormDisk> disks_;
  std::vector<Processor> processors_;
  std::vector<Line> send_;
  double send_ratio_ = kInfinity;
  double send_seconds_ = 0;
};

/// Maximum number of hosts that a search looks at. Of more hosts it looks at every n-th.
constexpr std::size_t kMaxSample = 512;
std::size_t sample_step(std::size_t hosts) { return (hosts + kMaxSample - 1) / kMaxSample; }

/// Some of the hosts, with their fraction of the records and of what all hosts share.
struct Sample {
  RunModel model;
  std::int64_t records = 0;
};

Sample sample_of(const RunModel& model, const HostRanks& hosts, std::int64_t records) {
  Sample sample{model, 0};
  sample.model.ranks.clear();
  for (std::size_t host = 0; host < hosts.hosts(); host += sample_step(hosts.hosts()))
    for (const std::size_t rank : hosts.ranks(host)) sample.model.ranks.push_back(model.ranks[rank]);
  const double part = static_cast<double>(sample.model.ranks.size()) / static_cast<double>(model.ranks.size());
  SharedRates& shared = sample.model.shared;
  for (std::optional<double>* rate : {&shared.link, &shared.disk_read, &shared.disk_write})
    if (*rate) **rate *= part;
  const std::int64_t wanted = whole_part(static_cast<double>(records) * part, records);
  for (const RankResources& rank : sample.model.ranks)
    sample.records += std::min(wanted - sample.records, cap_of(rank, records));
  return sample;
}

class InputSearch {
 public:
  InputSearch(const RunModel& model, std::int64_t records)
      : model_(model), hosts_(model), records_(records), intervals_(model, hosts_, records) {}

  PhaseShares find() {
    const bool depends = exchange_depends_on_input();
    best_ = depends && model_.ranks.front().rates.link_out ? divide_with_bound_on_sending() : divide();
    if ((depends || shared_disk_depends_on_input()) && model_.ranks.size() <= kFewRanks) improve();
    std::vector<std::int64_t> output = best_output(model_, best_.input);
    return {std::move(best_.input), std::move(output)};
  }

 private:
  static constexpr std::size_t kFewRanks = 32;
  static constexpr std::size_t kVeryFewRanks = 8;
  static constexpr std::size_t kTries = 24;  // failed tries before steps get smaller
  static constexpr std::size_t kTriesPerRank = 4;
  /// Relative tolerance of each time while inputs are compared. A smaller one would cost more steps than it improves
  /// the plan.
  static constexpr double kTolerance = 1e-6;

  /// Whether the exchange depends on the input. If not, the shortest form_runs is part of the shortest run.
  bool exchange_depends_on_input() const {
    return model_.shared.link || std::ranges::any_of(model_.ranks, [](const RankResources& rank) {
             return rank.rates.link_out || rank.rates.link_in || rank.message.in > 0 || rank.message.out > 0 ||
                    rank.memory_records;
           });
  }

  /// Whether a disk that all hosts share reads less if other ranks read the input.
  bool shared_disk_depends_on_input() const {
    return model_.shared.disk_read && std::ranges::any_of(model_.ranks, [&](const RankResources& rank) {
             return rank.input_cached != model_.ranks.front().input_cached;
           });
  }

  LevelShares divide_among_hosts() const {
    return share_by_level(hosts_.hosts(), records_, intervals_.guess(), intervals_, kTolerance);
  }

  struct Candidate {
    std::vector<std::int64_t> input;
    RunPrediction run;  ///< prediction with the best output for this input
  };

  Candidate candidate(std::vector<std::int64_t> input) const {
    RunPrediction run = predict_run(model_, input, best_output(model_, input, kTolerance));
    return {std::move(input), std::move(run)};
  }

  /// The input of the shortest form_runs within the bounds.
  Candidate divide() const {
    return candidate(
        divide_among_ranks(hosts_, model_.ranks.size(), divide_among_hosts(),
                           [&](std::size_t rank, double seconds) { return intervals_.rank(rank, seconds); }));
  }

  /// Finds the ratio of the times of sending and forming runs that makes the run short, and bounds sending by it. For
  /// many hosts the ratio is that of a sample. Then sending may take as long as the exchange does in any case.
  Candidate divide_with_bound_on_sending() {
    double ratio = 0;
    if (sample_step(hosts_.hosts()) == 1) {
      intervals_.keep_as(divide_among_hosts().records);
      ratio = best_ratio();
    } else {
      const Sample some = sample_of(model_, hosts_, records_);
      InputSearch sample(some.model, some.records);
      sample.intervals_.keep_as({});
      intervals_.keep_as({});
      ratio = sample.best_ratio();
    }
    intervals_.bound_sending(ratio);
    Candidate by_ratio = divide();
    intervals_.bound_sending(ratio, by_ratio.run.exchange_seconds);
    Candidate by_exchange = divide();
    return by_exchange.run.seconds < by_ratio.run.seconds ? by_exchange : by_ratio;
  }

  /// Golden-section search, from the ratio at which sending is not bound down to a small part of it.
  double best_ratio() {
    constexpr double kGolden = 0.6180339887498949;
    constexpr double kWidest = 64;
    constexpr double kAccuracy = 0.02;
    const auto seconds = [&](double logarithm) {
      intervals_.bound_sending(std::exp(logarithm));
      return divide().run.seconds;
    };
    const RunPrediction unbound = divide().run;
    if (unbound.form_seconds <= 0 || unbound.exchange_seconds <= 0) return kInfinity;
    double high = std::log(unbound.exchange_seconds / unbound.form_seconds);
    double low = high - std::log(kWidest);
    double left = high - kGolden * (high - low);
    double right = low + kGolden * (high - low);
    double at_left = seconds(left);
    double at_right = seconds(right);
    while (high - low > kAccuracy) {
      if (at_left < at_right) {
        high = std::exchange(right, left);
        at_right = std::exchange(at_left, seconds(left = high - kGolden * (high - low)));
      } else {
        low = std::exchange(left, right);
        at_left = std::exchange(at_right, seconds(right = low + kGolden * (high - low)));
      }
    }
    return std::exp(at_left < at_right ? left : right);
  }

  /// Improves the best input. For very few ranks other first inputs are improved as well: all records on one rank,
  /// which is good where links are slow, and equal parts.
  void improve() {
    std::mt19937_64 random;  // the same numbers in every run
    const std::size_t ranks = model_.ranks.size();
    std::vector<Candidate> starts;
    for (std::size_t rank = 0; rank < ranks && ranks <= kVeryFewRanks; ++rank) {
      std::vector<std::int64_t> alone(ranks, 0);
      alone[rank] = records_;
      if (fits(alone)) starts.push_back(candidate(std::move(alone)));
    }
    if (!starts.empty()) starts = {*std::ranges::min_element(starts, {}, seconds_of)};
    std::vector<std::int64_t> equal(ranks, records_ / static_cast<std::int64_t>(ranks));
    equal.back() += records_ % static_cast<std::int64_t>(ranks);
    if (ranks <= kVeryFewRanks && fits(equal)) starts.push_back(candidate(std::move(equal)));
    starts.push_back(std::move(best_));
    for (Candidate& start : starts) start = descend(std::move(start), random);
    best_ = std::move(*std::ranges::min_element(starts, {}, seconds_of));
  }

  bool fits(std::span<const std::int64_t> input) const {
    for (std::size_t rank = 0; rank < input.size(); ++rank)
      if (input[rank] > cap_of(model_.ranks[rank], records_)) return false;
    return true;
  }

  static double seconds_of(const Candidate& candidate) { return candidate.run.seconds; }

  /// Takes steps in random directions as long as they help; then smaller ones.
  Candidate descend(Candidate best, std::mt19937_64& random) const {
    constexpr double kFirst = 0.25;  // first step, as a fraction of all records
    constexpr double kLast = 1e-5;
    constexpr double kShrink = 0.6;
    const std::size_t tries = kTries + kTriesPerRank * model_.ranks.size();
    for (double part = kFirst; part > kLast; part *= kShrink)
      for (std::size_t failures = 0; failures < tries; ++failures) {
        Candidate next = candidate(neighbour(best.input, part * static_cast<double>(records_), random));
        if (next.run.seconds >= best.run.seconds * (1 - kTolerance)) continue;
        best = std::move(next);
        failures = 0;
      }
    return best;
  }

  /// The input after up to `step` records moved between two ranks or, every second time, between all.
  std::vector<std::int64_t> neighbour(std::vector<std::int64_t> input, double step, std::mt19937_64& random) const {
    const std::size_t last = random() % input.size();
    const std::size_t only = random() % (2 * input.size());
    const bool all = only >= input.size();
    const double most = all ? 2 * step / static_cast<double>(input.size()) : step;
    std::int64_t left = 0;  // records that rank `last` gets more than before
    for (std::size_t rank = 0; rank < input.size(); ++rank) {
      const double direction = std::ldexp(static_cast<double>(random() >> 11), -52) - 1;
      if (rank == last || (!all && rank != only)) continue;
      const std::int64_t before = input[rank];
      input[rank] = whole_part(static_cast<double>(before) + direction * most, cap_of(model_.ranks[rank], records_));
      left += before - input[rank];
    }
    const std::int64_t before = input[last];
    input[last] = std::clamp<std::int64_t>(before + left, 0, cap_of(model_.ranks[last], records_));
    left -= input[last] - before;
    for (std::size_t rank = 0; rank < input.size() && left != 0; ++rank) {
      const std::int64_t more = std::clamp(left, -input[rank], cap_of(model_.ranks[rank], records_) - input[rank]);
      input[rank] += more;
      left -= more;
    }
    return input;
  }

  const RunModel& model_;
  HostRanks hosts_;
  std::int64_t records_;
  InputIntervals intervals_;
  Candidate best_;
};

}  // namespace

PhaseShares best_shares(const RunModel& model, std::int64_t records) {
  check_room(model, records);
  if (records == 0) {
    const std::vector<std::int64_t> none(model.ranks.size(), 0);
    return {none, none};
  }
  return InputSearch(model, records).find();
}

}  // namespace hetsort::partition
