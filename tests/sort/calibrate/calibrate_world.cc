// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
#include "tests/sort/calibrate/calibrate_world.h"

#include <algorithm>
#include <map>
#include <mutex>
#include <optional>
#include <random>
#include <utility>

#include "partition/cost/formula_costs.h"
#include "tests/machinery/in_process.h"

namespace hetsort::sort::test {
namespace {

constexpr double kClockStart = 1000;

/// A rank of it. Time passes only by what is measured.
class FakeBench final : public sort::Bench {
 public:
  FakeBench(const World& world, int rank)
      : world_(world), rank_(static_cast<std::size_t>(rank)), random_(world.seed + rank_), of_all_(world.seed) {}

  double now_seconds() override { return clock_; }
  double job_start_seconds() override { return kClockStart - world_.model.start_seconds; }
  DiskRates measure_disk(double seconds) override {
    clock_ += seconds;
    const auto& rates = world_.model.ranks[rank_].rates;
    return {.read_bytes_per_second = rates.disk_read.value_or(1e12) / world_.ranks_per_host,
            .write_bytes_per_second = rates.disk_write.value_or(1e12) / world_.ranks_per_host};
  }
  std::vector<double> transfer(const std::vector<Flow>& flows) override {
    std::map<std::size_t, double> out;
    std::map<std::size_t, double> in;
    double all = 0;
    for (const Flow& flow : flows) {
      if (host(flow.from) == host(flow.to)) continue;
      out[host(flow.from)] += static_cast<double>(flow.bytes);
      in[host(flow.to)] += static_cast<double>(flow.bytes);
      all += static_cast<double>(flow.bytes);
    }
    std::vector<double> seconds(flows.size());
    double latest = 0;
    if (world_.half_duplex)
      for (const auto& [host, bytes] : std::map(out)) out[host] += in[host], in[host] += bytes;
    std::map<std::size_t, std::size_t> last;  // flow to each host
    for (std::size_t i = 0; i < flows.size(); ++i) last[host(flows[i].to)] = i;
    for (std::size_t i = 0; i < flows.size(); ++i) {
      const auto& from = world_.model.ranks[static_cast<std::size_t>(flows[i].from)].rates;
      const auto& to = world_.model.ranks[static_cast<std::size_t>(flows[i].to)].rates;
      const double whole = std::max({out[host(flows[i].from)] / from.link_out.value_or(1e12),
                                     in[host(flows[i].to)] / to.link_in.value_or(1e12),
                                     all / world_.model.shared.link.value_or(1e15), 1e-6});
      const double took = last[host(flows[i].to)] == i ? whole : whole * (1 - world_.head_start);
      latest = std::max(latest, took);
      if (static_cast<std::size_t>(flows[i].to) == rank_) seconds[i] = took;
    }
    clock_ += latest;
    return seconds;
  }
  SortTimes sort_alone(std::uint64_t records) override {
    note(records);
    const partition::RankResources& mine = world_.model.ranks[rank_];
    SortTimes times;
    times.form = mine.sort->value(static_cast<double>(records)) * off(random_);
    if (rank_ == 0) times.form *= world_.alone_error;
    times.exchange = mine.merge_seconds * static_cast<double>(records) * off(random_);
    if (has_quota()) {
      times.form_processor = times.form;
      times.exchange_processor = times.exchange;
      times.form *= world_.quota_error;
      times.exchange *= world_.quota_error;
    }
    times.whole = times.form + times.exchange;
    disturb(times, false);
    clock_ += slowest_alone(records);
    return times;
  }
  SortTimes sort_together(const std::vector<std::uint64_t>& input, const std::vector<std::uint64_t>& output,
                          bool synced) override {
    note(std::max(input[rank_], output[rank_]));
    partition::RunModel model = world_.model;
    model.synced = synced;
    if (!synced) model.publish_seconds = 0;
    model = with_slower_links(std::move(model), world_.link_waste);
    const partition::RunPrediction run =
        partition::predict_run(model, std::vector<std::int64_t>(input.begin(), input.end()),
                               std::vector<std::int64_t>(output.begin(), output.end()));
    const double factor = off(of_all_);
    SortTimes times{.form = run.form[rank_].seconds * factor, .exchange = run.exchange[rank_].seconds * factor};
    times.publish = model.publish_seconds + run.exchange_seconds * factor - times.exchange;
    times.whole = (run.form_seconds + run.exchange_seconds) * factor + world_.model.select_seconds +
                  model.publish_seconds + std::exchange(first_extra_, 0);
    if (has_quota()) {
      times.form_processor = times.form;
      times.exchange_processor = processor_seconds(input, output) * factor;
    }
    disturb(times, true);
    clock_ += times.whole;
    return times;
  }

  bool too_many() const { return too_many_; }
  std::uint64_t most_records() const { return most_records_; }

 private:
  std::size_t host(int rank) const { return world_.model.ranks[static_cast<std::size_t>(rank)].host; }
  void note(std::uint64_t records) {
    most_records_ = std::max(most_records_, records);
    too_many_ = too_many_ || (!world_.max_records.empty() && records > world_.max_records[rank_]);
  }
  bool has_quota() const { return world_.quota_error != 1; }
  /// Processor time of this rank in the exchange.
  double processor_seconds(const std::vector<std::uint64_t>& input, const std::vector<std::uint64_t>& output) const {
    partition::RunModel model = world_.model;
    model.shared = {};
    for (partition::RankResources& rank : model.ranks) rank.rates = {};
    return partition::predict_run(model, std::vector<std::int64_t>(input.begin(), input.end()),
                                  std::vector<std::int64_t>(output.begin(), output.end()))
        .exchange[rank_]
        .seconds;
  }
  double off(std::mt19937_64& random) const {
    return 1 + std::uniform_real_distribution<double>(0, world_.noise)(random);
  }
  /// Lengthens a sort of the last rank, or of all ranks, because they wait for it.
  void disturb(SortTimes& times, bool of_all) {
    constexpr int kEvery = 3;
    const bool is_last = rank_ + 1 == world_.model.ranks.size();
    if (world_.stolen_times <= 1 || sorts_++ % kEvery == 0 || !(is_last || of_all)) return;
    if (is_last) times.stolen = (world_.stolen_times - 1) * times.whole;
    for (double* const value : {&times.form, &times.exchange, &times.whole}) *value *= world_.stolen_times;
  }
  /// Seconds of the slowest rank, for which all wait.
  double slowest_alone(std::uint64_t records) const {
    double seconds = 0;
    for (std::size_t rank = 0; rank < world_.model.ranks.size(); ++rank) {
      const auto own =
          static_cast<double>(world_.max_records.empty() ? records : std::min(records, world_.max_records[rank]));
      seconds =
          std::max(seconds, world_.model.ranks[rank].sort->value(own) + world_.model.ranks[rank].merge_seconds * own);
    }
    return seconds;
  }

  const World& world_;
  std::size_t rank_;
  std::mt19937_64 random_;
  std::mt19937_64 of_all_;  // the same on all ranks
  double clock_ = kClockStart;
  double first_extra_ = world_.first_sort_extra;
  int sorts_ = 0;
  std::uint64_t most_records_ = 0;
  bool too_many_ = false;
};

}  // namespace

partition::RunModel with_slower_links(partition::RunModel model, double times) {
  for (partition::RankResources& rank : model.ranks)
    for (std::optional<double>* const rate : {&rank.rates.link_in, &rank.rates.link_out})
      if (*rate) **rate /= times;
  return model;
}

World world_of(const std::vector<double>& speeds) {
  constexpr double kMergePart = 0.6;  // of the time to form runs of about a million records
  constexpr double kLog = 14;
  World world;
  world.model.start_seconds = 0.125;
  world.model.select_seconds = 0.02;
  world.model.publish_seconds = 0.03;
  for (std::size_t rank = 0; rank < speeds.size(); ++rank) {
    partition::RankResources& node = world.model.ranks.emplace_back();
    node.name = "node" + std::to_string(rank);
    node.host = rank;
    node.sort = partition::nlogn_cost({.coefficient = 1 / (speeds[rank] * kLog)});
    node.merge_seconds = kMergePart / speeds[rank];
  }
  return world;
}

Outcome calibrate_world(const World& world, double seconds) {
  Outcome outcome;
  std::mutex mutex;
  machinery::InProcessOptions options;
  options.ranks_per_host = world.ranks_per_host;
  machinery::run_ranks(static_cast<int>(world.model.ranks.size()), world.seed, options, [&](comm::Communicator& ranks) {
    FakeBench bench(world, ranks.rank());
    const auto rank = static_cast<std::size_t>(ranks.rank());
    const double begin = bench.now_seconds();
    CalibrationRequest request;
    request.seconds = seconds;
    request.facts.memory_bytes = (rank + 1) << 30;
    request.facts.threads = rank + 1;
    request.facts.max_records = world.max_records.empty() ? kMuchMemory : world.max_records[rank];
    Calibration calibration = calibrate(bench, request, ranks);
    const std::lock_guard lock(mutex);
    outcome.seconds = std::max(outcome.seconds, bench.now_seconds() - begin);
    outcome.most_records = std::max(outcome.most_records, bench.most_records());
    outcome.too_many = outcome.too_many || bench.too_many();
    if (ranks.rank() == 0) outcome.calibration = std::move(calibration);
  });
  return outcome;
}

}  // namespace hetsort::sort::test
