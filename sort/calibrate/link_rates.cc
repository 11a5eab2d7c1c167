// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
#include "sort/calibrate/link_rates.h"

#include <algorithm>
#include <array>
#include <map>
#include <numeric>
#include <stdexcept>
#include <string>

#include "sort/model/measured_shares.h"

namespace hetsort::sort {

namespace {

/// Measures several transfers, one after the other.
class LinkMeter {
 public:
  LinkMeter(Bench& bench, double seconds, comm::Communicator& ranks)
      : bench_(bench), ranks_(ranks), seconds_(seconds) {}

  /// The rates of flows that run at once. Each flow grows until it takes long enough. A flow that never takes long
  /// enough counts as taking a quarter of that time, and is added to `too_fast`.
  std::vector<double> rates(std::vector<Flow> flows, std::vector<Flow>* too_fast = nullptr) {
    constexpr std::uint64_t kFirstBytes = std::uint64_t{1} << 18;
    constexpr std::uint64_t kMaxBytes = std::uint64_t{1} << 32;
    constexpr int kMaxSteps = 8;
    for (Flow& flow : flows) flow.bytes = kFirstBytes;
    std::vector<double> rates(flows.size());
    bool enough = flows.empty();
    for (int step = 0; step < kMaxSteps && !enough; ++step) {
      const std::vector<double> seconds = transfer(flows);
      enough = true;
      for (std::size_t i = 0; i < flows.size(); ++i) {
        // A shorter time is the time of waking threads, not of the link.
        const double least_seconds = seconds_ / 4;
        rates[i] = static_cast<double>(flows[i].bytes) / std::max(seconds[i], least_seconds);
        if (seconds[i] >= seconds_) continue;
        enough = false;
        if (step + 1 == kMaxSteps && seconds[i] < least_seconds && too_fast != nullptr) too_fast->push_back(flows[i]);
        const double times = std::clamp(1.5 * seconds_ / seconds[i], 2.0, 16.0);
        flows[i].bytes = std::min(kMaxBytes, static_cast<std::uint64_t>(times * static_cast<double>(flows[i].bytes)));
      }
    }
    return rates;
  }

  /// The rates at which the flows of each group that run all at once bring their bytes. As in an exchange, the last
  /// flow decides. Flows get so many bytes that they end at about the same time: the sum of their own rates would count
  /// what the last ones gain when the others have ended.
  template <std::size_t kGroups>
  std::array<double, kGroups> together(const std::array<std::vector<Flow>, kGroups>& groups) {
    std::vector<Flow> flows;
    for (const std::vector<Flow>& group : groups) flows.insert(flows.end(), group.begin(), group.end());
    const std::vector<double> alone = rates(flows);
    for (std::size_t i = 0; i < flows.size(); ++i)
      flows[i].bytes = std::max<std::uint64_t>(1, static_cast<std::uint64_t>(alone[i] * seconds_));
    const std::vector<double> seconds = transfer(flows);
    std::array<double, kGroups> result{};
    std::size_t at = 0;
    for (std::size_t group = 0; group < kGroups; ++group) {
      double bytes = 0;
      double latest = 0;
      for (const std::size_t end = at + groups[group].size(); at < end; ++at) {
        bytes += static_cast<double>(flows[at].bytes);
        latest = std::max(latest, seconds[at]);
      }
      if (latest > 0) result[group] = bytes / latest;
    }
    return result;
  }

  /// The flows from each of some ranks to each of others, without those within a host.
  std::vector<Flow> flows_between(const std::vector<int>& senders, const std::vector<int>& receivers) const {
    std::vector<Flow> flows;
    for (const int from : senders)
      for (const int to : receivers)
        if (ranks_.host(from) != ranks_.host(to)) flows.push_back({from, to, 0});
    return flows;
  }

 private:
  /// The seconds of each flow, on all ranks. Only the receiver of a flow knows its time, so each rank gives the times
  /// of the flows that it received. All ranks together give one number for each flow.
  std::vector<double> transfer(const std::vector<Flow>& flows) {
    const std::vector<double> seen = bench_.transfer(flows);
    std::vector<double> received;
    for (std::size_t i = 0; i < flows.size(); ++i)
      if (flows[i].to == ranks_.rank()) received.push_back(seen[i]);
    return seconds_of_flows(flows, ranks_.all_gather_lists(received));
  }

  Bench& bench_;
  comm::Communicator& ranks_;
  double seconds_;  // minimum time of each flow
};

/// The flows of a round in which each rank sends one flow and receives one.
std::vector<Flow> around_circle(int distance, int ranks) {
  std::vector<Flow> flows(static_cast<std::size_t>(ranks));
  for (int rank = 0; rank < ranks; ++rank) flows[static_cast<std::size_t>(rank)] = {rank, (rank + distance) % ranks, 0};
  return flows;
}

}  // namespace

std::vector<double> seconds_of_flows(std::span<const Flow> flows, const std::vector<std::vector<double>>& received) {
  constexpr double kShortest = 1e-9;
  std::vector<std::size_t> counts(received.size());
  for (const Flow& flow : flows) ++counts[static_cast<std::size_t>(flow.to)];
  if (!std::ranges::equal(received, counts, {}, &std::vector<double>::size))
    throw std::runtime_error("a rank reports times of other transfers: network or memory changed them");
  std::vector<double> seconds(flows.size());
  // Each rank's times are taken from the last one back, so that the counts lead to them.
  for (std::size_t i = flows.size(); i-- > 0;) {
    const auto to = static_cast<std::size_t>(flows[i].to);
    seconds[i] = std::max(kShortest, received[to][--counts[to]]);
  }
  return seconds;
}

LinkRates measure_links(Bench& bench, double seconds, comm::Communicator& ranks) {
  // If all hosts at once reach less than this fraction of what their links carry, they share a link.
  constexpr double kSharedPart = 0.6;
  // Rates of links of one kind differ by this factor although each of them was measured for some time.
  constexpr double kAlike = 0.85;
  // A measurement makes a few shorter transfers before the one that counts.
  constexpr double kSteps = 4;
  const auto count = static_cast<std::size_t>(ranks.size());
  std::vector<int> everyone(count);
  std::iota(everyone.begin(), everyone.end(), 0);
  std::map<std::string, std::vector<int>> hosts;
  for (const int rank : everyone) hosts[ranks.host(rank)].push_back(rank);
  const std::size_t tests = count + hosts.size();
  LinkMeter meter(bench, seconds / kSteps / static_cast<double>(tests), ranks);
  LinkRates rates{std::vector(count, std::vector<double>(count)), std::vector<double>(count),
                  std::vector<double>(count)};
  for (int distance = 1; distance < ranks.size(); ++distance) {
    const std::vector<Flow> flows = around_circle(distance, ranks.size());
    const std::vector<double> found = meter.rates(flows, &rates.too_fast);
    for (std::size_t i = 0; i < flows.size(); ++i)
      rates.between[static_cast<std::size_t>(flows[i].from)][static_cast<std::size_t>(flows[i].to)] = found[i];
  }
  if (hosts.size() < 2) return rates;
  double sum_out = 0;
  double sum_in = 0;
  for (const auto& [name, members] : hosts) {
    const auto [out, in] =
        meter.together<2>({meter.flows_between(members, everyone), meter.flows_between(everyone, members)});
    for (const int rank : members) {
      rates.out[static_cast<std::size_t>(rank)] = out;
      rates.in[static_cast<std::size_t>(rank)] = in;
    }
    sum_out += out;
    sum_in += in;
  }
  level(rates.in, kAlike);
  level(rates.out, kAlike);
  const auto [all] = meter.together<1>({meter.flows_between(everyone, everyone)});
  if (all < kSharedPart * std::min(sum_out, sum_in)) rates.all = all;
  return rates;
}

}  // namespace hetsort::sort
