// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
#include "tests/sort/calibrate/calibrate_world.h"

#include <algorithm>
#include <mutex>
#include <random>
#include <utility>

#include "comm/in_process.h"

namespace hetsort::sort::test {
namespace {

/// A rank of it. Time passes only by what is measured.
class FakeBench final : public Bench {
 public:
  FakeBench(const World& world, int rank)
      : world_(world), rank_(rank), random_(world.seed + static_cast<unsigned>(rank)), of_all_(world.seed) {}

  double now_seconds() override { return clock_; }
  double job_start_seconds() override { return kClockStart - kJobAge / (rank_ + 1); }  // rank 0 began first
  DiskRates measure_disk(double seconds) override {
    clock_ += seconds;
    return {.read_bytes_per_second = 1e8 * (rank_ + 1), .write_bytes_per_second = 5e7 * (rank_ + 1)};
  }
  LinkRates measure_link(int peer, double seconds) override {
    clock_ += 2 * seconds;
    peers_.push_back(peer);
    return {.latency_seconds = 1e-4, .bytes_per_second = 1e7 * (peer + 1)};
  }
  TimedSort sort_alone(const std::vector<std::uint64_t>& shares) override {
    alone_.push_back(shares);
    const Repetition whole = pass(shares, {.times = 1});
    const double times = world_.forming_alone.empty() ? 1 : world_.forming_alone[static_cast<std::size_t>(rank_)];
    return {whole, times * forming_seconds(shares)};
  }
  /// Runs are formed as fast as alone.
  TimedSort sort_together(const std::vector<std::uint64_t>& shares) override {
    shares_.push_back(shares);
    const double first = shares_.size() == 1 ? world_.first_sort_extra : 0;
    const Repetition whole = pass(shares, {world_.together, first, !world_.exchanged.empty()});
    return {whole, forming_seconds(shares)};
  }

  const std::vector<int>& peers() const { return peers_; }
  const std::vector<std::vector<std::uint64_t>>& alone() const { return alone_; }
  const std::vector<std::vector<std::uint64_t>>& together() const { return shares_; }

 private:
  struct Sort {
    double times = 1;    // as long as alone
    double first = 0;    // seconds added
    bool links = false;  // decide
  };
  double seconds_for(std::uint64_t records, int rank, bool links) const {
    const std::vector<double>& rates = links ? world_.exchanged : world_.records_per_second;
    return kStart + static_cast<double>(records) / rates[static_cast<std::size_t>(rank)];
  }
  /// Without the start: there is nothing to begin.
  double forming_seconds(const std::vector<std::uint64_t>& shares) {
    const auto rank = static_cast<std::size_t>(rank_);
    const double part = world_.forming.empty() ? 0.25 : world_.forming[rank];
    const double rate = world_.records_per_second[shares[rank] > world_.formed_alike ? rank : 0];
    return part * static_cast<double>(shares[rank]) / rate * off(random_);
  }
  double off(std::mt19937_64& random) const {
    return 1 + std::uniform_real_distribution<double>(-world_.noise, world_.noise)(random);
  }
  /// What this rank took; the clock waits for the last one.
  Repetition pass(const std::vector<std::uint64_t>& shares, const Sort& sort) {
    const auto [times, first, links] = sort;
    double latest = 0;
    for (std::size_t rank = 0; rank < shares.size(); ++rank)
      latest = std::max(latest, seconds_for(shares[rank], static_cast<int>(rank), links));
    const double all = latest * times * off(of_all_) + first;
    // Stolen is what a sort takes longer, or all who wait for it: the host has two processors, and keeps both.
    const double stolen = stolen_from(clock_, all);
    clock_ += all + stolen;
    const double mine =
        seconds_for(shares[static_cast<std::size_t>(rank_)], rank_, links) * times * off(random_) + first + stolen;
    return {mine, rank_ == static_cast<int>(shares.size()) - 1 ? stolen : 0};
  }
  /// Seconds that work from `begin` on, of so many seconds, stands still.
  double stolen_from(double begin, double seconds) const {
    return begin < world_.burst_end && begin + seconds > world_.burst_begin ? world_.burst_times * seconds : 0;
  }

  const World& world_;
  int rank_;
  std::mt19937_64 random_;
  std::mt19937_64 of_all_;  // the same on all ranks
  double clock_ = kClockStart;
  std::vector<int> peers_;
  std::vector<std::vector<std::uint64_t>> alone_;
  std::vector<std::vector<std::uint64_t>> shares_;
};

}  // namespace

Outcome calibrate_world(const World& world, const CalibrationLimits& limits) {
  Outcome outcome;
  const int count = static_cast<int>(world.records_per_second.size());
  outcome.peers.resize(world.records_per_second.size());
  std::mutex mutex;
  comm::run_ranks(count, world.seed, {}, [&](comm::Communicator& ranks) {
    FakeBench bench(world, ranks.rank());
    const double begin = bench.now_seconds();
    Calibration calibration = calibrate(bench, limits, ranks);
    const std::lock_guard lock(mutex);
    outcome.seconds = std::max(outcome.seconds, bench.now_seconds() - begin);
    outcome.peers[static_cast<std::size_t>(ranks.rank())] = bench.peers();
    if (ranks.rank() == 0) outcome.calibration = std::move(calibration);
    if (ranks.rank() == 0) outcome.alone = bench.alone();
    if (ranks.rank() == 0) outcome.together = bench.together();
  });
  return outcome;
}

}  // namespace hetsort::sort::test
