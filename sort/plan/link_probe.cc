// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
#include "sort/plan/link_probe.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <span>
#include <stdexcept>
#include <string>
#include <unordered_map>
#include <utility>

#include "sort/exchange/transfer_flows.h"
#include "sort/machine/processor_quota.h"
#include "sort/model/measured_shares.h"

namespace hetsort::sort {

namespace {

constexpr std::uint64_t kProbedPart = 64;
constexpr int kLeastRounds = 2;
constexpr int kMaxProbeRounds = 6;
// The least part of the input for a round: with less, collectives and the first round would cost more than 1 % of a
// run, and what a link lets pass at once would be a good part of it.
constexpr std::uint64_t kMinBytes = std::uint64_t{512} << 10;
// Longer transfers measure nothing better.
constexpr std::uint64_t kMaxFlowBytes = std::uint64_t{1} << 20;
constexpr double kPartOfRun = 0.01;
constexpr double kShortestRound = 1e-6;
constexpr double kMoment = 0.01;  // seconds; nobody takes a processor away for longer
// A transfer of so many seconds may consist of waiting for a processor, so that its parts mean nothing.
constexpr double kWaking = 2.5e-3;

/// The first rank on the host of each rank.
std::vector<std::size_t> speakers_of(const comm::Communicator& ranks) {
  std::unordered_map<std::string, std::size_t> first;
  std::vector<std::size_t> speakers;
  speakers.reserve(static_cast<std::size_t>(ranks.size()));
  for (int rank = 0; rank < ranks.size(); ++rank)
    speakers.push_back(first.emplace(ranks.host(rank), speakers.size()).first->second);
  return speakers;
}

/// The flow to each host, from the host that is so far behind it in a circle.
std::vector<Flow> around_circle(std::span<const int> hosts, std::size_t distance, std::uint64_t bytes) {
  std::vector<Flow> flows;
  for (std::size_t to = 0; to < hosts.size(); ++to)
    flows.push_back({hosts[(to + distance) % hosts.size()], hosts[to], bytes});
  return flows;
}

/// The rounds of one rank.
class Rounds {
 public:
  Rounds(std::vector<std::vector<Flow>> rounds, comm::Communicator& ranks)
      : rounds_(std::move(rounds)), ranks_(ranks), tag_(ranks.take_tags(2)) {}

  /// Sends one byte for each flow of all rounds, which opens the connections.
  void open() {
    std::vector<Flow> flows;
    for (auto round = rounds_.begin(); round != rounds_.end(); ++round) {
      const auto is_alike = [&](const std::vector<Flow>& earlier) { return earlier[0].from == (*round)[0].from; };
      if (std::any_of(rounds_.begin(), round, is_alike)) continue;
      for (const Flow& flow : *round) flows.push_back({flow.from, flow.to, 1});
    }
    transfer_flows(ranks_, tag_, flows);
  }

  /// One round with so many bytes in each flow.
  RoundTime run(std::size_t round, std::uint64_t bytes) {
    for (Flow& flow : rounds_[round]) flow.bytes = bytes;
    const double stopped_before = std::exchange(stopped_seconds_, throttled_seconds());
    const FlowTimes times = transfer_flows(ranks_, tag_, rounds_[round]);
    return {*std::ranges::max_element(times.flows, {}, &FlowTime::all), throttled_seconds() > stopped_before ? 1U : 0U,
            times.processor_seconds};
  }

  /// Adds all rounds but the first once more.
  void add_again() {
    const std::vector<std::vector<Flow>> again(rounds_.begin() + 1, rounds_.begin() + 1 + added_);
    rounds_.insert(rounds_.end(), again.begin(), again.end());
  }

  const std::vector<std::vector<Flow>>& flows() const { return rounds_; }

 private:
  std::vector<std::vector<Flow>> rounds_;
  std::ptrdiff_t added_ = static_cast<std::ptrdiff_t>(rounds_.size()) - 1;
  comm::Communicator& ranks_;
  int tag_;
  double stopped_seconds_ = throttled_seconds();  // at the start of the last round
};

/// The times of all ranks. Collective. Throws: std::runtime_error if one is impossible.
std::vector<std::vector<RoundTime>> gather_possible(const std::vector<RoundTime>& mine, comm::Communicator& ranks) {
  constexpr double kMaxSeconds = 1e15;
  const auto is_possible = [](const RoundTime& round) {
    return round.time.half >= 0 && round.time.half <= round.time.all && round.time.all <= kMaxSeconds &&
           round.processor_seconds >= 0 && round.processor_seconds <= kMaxSeconds;
  };
  std::vector<std::vector<RoundTime>> all = ranks.all_gather_lists(mine);
  for (const std::vector<RoundTime>& one : all)
    if (one.size() != mine.size() || !std::ranges::all_of(one, is_possible))
      throw std::runtime_error("a rank reports an impossible rate of its link: network or memory changed it");
  return all;
}

/// The longest time of a round.
double slowest_of(const std::vector<std::vector<RoundTime>>& all) {
  double slowest = 0;
  for (const std::vector<RoundTime>& rank : all)
    for (const RoundTime& round : rank) slowest = std::max(slowest, round.time.all);
  return slowest;
}

/// Bytes per second of a flow.
double rate_of(std::uint64_t bytes, const FlowTime& time) {
  const auto rate = [](std::uint64_t some, double seconds) {
    return static_cast<double>(some) / std::max(seconds, kShortestRound);
  };
  const double all = rate(bytes, time.all);
  return time.half_bytes < bytes && time.all > kWaking
             ? std::min(all, rate(bytes - time.half_bytes, time.all - time.half))
             : all;
}

/// The bytes of each round after the first one, which took the slowest rank `seconds`: as many as leave the measuring
/// within its part of the run.
std::uint64_t bytes_of_rounds(const ProbeSize& size, double seconds, double processor_seconds) {
  const double rate = static_cast<double>(size.least()) / std::max(seconds, kShortestRound);
  // Over slow links equal shares would take so long, but then a few hosts do the work, in at least twice the time that
  // all processors together need.
  const double equal = static_cast<double>(size.input_bytes) / size.hosts / rate;
  const double budget = kPartOfRun * std::clamp(equal, processor_seconds, 2 * processor_seconds) - seconds;
  const double fits = std::max(0.0, budget) * rate / std::max(1, size.rounds - 1);
  return std::max(std::min(size.bytes, kMinBytes),
                  static_cast<std::uint64_t>(std::min(fits, static_cast<double>(size.bytes))));
}

}  // namespace

ProbeSize probe_size(std::uint64_t input_bytes, int hosts) {
  if (hosts < 2) return {};
  const std::uint64_t bytes = input_bytes / static_cast<std::uint64_t>(hosts) / kProbedPart;
  const int most = std::clamp(hosts - 1, kLeastRounds, kMaxProbeRounds);
  const int rounds = static_cast<int>(std::min<std::uint64_t>(static_cast<std::uint64_t>(most), bytes / kMinBytes));
  if (rounds < kLeastRounds) return {};
  return {rounds, std::min(bytes / static_cast<std::uint64_t>(rounds), kMaxFlowBytes), input_bytes, hosts};
}

std::vector<int> first_ranks_of_hosts(const comm::Communicator& ranks) {
  std::vector<int> first;
  const std::vector<std::size_t> speakers = speakers_of(ranks);
  for (int rank = 0; rank < ranks.size(); ++rank)
    if (speakers[static_cast<std::size_t>(rank)] == static_cast<std::size_t>(rank)) first.push_back(rank);
  return first;
}

std::vector<double> rates_of_flows(std::span<const std::vector<Flow>> rounds,
                                   const std::vector<std::vector<RoundTime>>& times) {
  std::vector<double> rates(times.size(), 0.0);
  for (std::size_t round = 1; round < rounds.size(); ++round)
    for (const Flow& flow : rounds[round]) {
      const auto from = static_cast<std::size_t>(flow.from);
      const auto to = static_cast<std::size_t>(flow.to);
      if (times[from][round].was_stopped != 0 || times[to][round].was_stopped != 0) continue;
      const double rate = rate_of(flow.bytes, times[to][round].time);
      for (const std::size_t end : {from, to}) rates[end] = std::max(rates[end], rate);
    }
  const double fastest = std::ranges::max(rates);
  for (const Flow& flow : rounds.front())
    if (double& rate = rates[static_cast<std::size_t>(flow.to)]; rate <= 0) rate = fastest;
  return rates;
}

std::vector<double> message_seconds_of(std::span<const std::vector<Flow>> rounds,
                                       const std::vector<std::vector<RoundTime>>& times) {
  std::vector<double> least(times.size(), 0.0);
  for (std::size_t round = 1; round < rounds.size(); ++round) {
    std::vector<double> bytes(times.size(), 0.0);
    for (const Flow& flow : rounds[round])
      for (const int end : {flow.from, flow.to})
        bytes[static_cast<std::size_t>(end)] += static_cast<double>(flow.bytes);
    for (std::size_t rank = 0; rank < times.size(); ++rank) {
      if (bytes[rank] <= 0) continue;
      const double seconds = times[rank][round].processor_seconds / bytes[rank];
      least[rank] = least[rank] > 0 ? std::min(least[rank], seconds) : seconds;
    }
  }
  return least;
}

bool links_differ(std::span<const double> rates, std::span<const int> hosts) {
  const auto rate = [rates](int host) { return rates[static_cast<std::size_t>(host)]; };
  const auto [slowest, fastest] = std::ranges::minmax(hosts, {}, rate);
  return rate(slowest) < kAlikeRates * rate(fastest);
}

std::vector<ProbedLink> probe_links(const ProbeSize& size, double processor_seconds, comm::Communicator& ranks) {
  const std::vector<int> hosts = first_ranks_of_hosts(ranks);
  const std::size_t others = hosts.size() - 1;
  if (others == 0 || size.rounds == 0) return std::vector<ProbedLink>(static_cast<std::size_t>(ranks.size()));
  // Neighbours may share a switch, so the distances are spread over all hosts.
  const std::size_t step = std::max<std::size_t>(1, others / static_cast<std::size_t>(size.rounds));
  std::vector<std::vector<Flow>> circles;
  for (std::size_t round = 0; round < static_cast<std::size_t>(size.rounds); ++round)
    circles.push_back(around_circle(hosts, 1 + round * step % others, 0));
  Rounds rounds(std::move(circles), ranks);
  rounds.open();
  std::vector<RoundTime> mine{rounds.run(0, size.least())};
  std::vector<std::vector<RoundTime>> all = gather_possible(mine, ranks);
  const std::uint64_t bytes = bytes_of_rounds(size, slowest_of(all), processor_seconds);
  std::vector<double> rates;
  for (int doubts = 0;; ++doubts) {
    while (mine.size() < rounds.flows().size()) mine.push_back(rounds.run(mine.size(), bytes));
    all = gather_possible(mine, ranks);
    rates = rates_of_flows(rounds.flows(), all);
    if (doubts == size.doubts || !links_differ(rates, hosts) || slowest_of(all) > kMoment) break;
    rounds.add_again();
  }
  const std::vector<double> message_seconds = message_seconds_of(rounds.flows(), all);
  std::vector<ProbedLink> links;
  for (const std::size_t speaker : speakers_of(ranks)) links.push_back({rates[speaker], message_seconds[speaker]});
  return links;
}

}  // namespace hetsort::sort
