// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
#include "sort/plan/host_links.h"

#include <algorithm>
#include <bit>
#include <numeric>
#include <stdexcept>
#include <string>
#include <unordered_map>

namespace hetsort::sort {

namespace {

/// A rate farther from all others is more likely a disturbance than a link.
constexpr double kMaxLinkRatio = 16;
/// Rates within this factor are those of links of one kind. Real kinds differ by 2.5 times or more, measurements of
/// one kind by less.
constexpr double kAlike = 1.25;

/// No network is slower or faster. Rates within these limits cannot overflow a time.
constexpr double kMinRate = 1;
constexpr double kMaxRate = 1e15;

bool is_plausible(double rate) { return rate == 0 || (rate >= kMinRate && rate <= kMaxRate); }

double median_of_measured(const std::vector<double>& rates) {
  std::vector<double> measured;
  std::copy_if(rates.begin(), rates.end(), std::back_inserter(measured), [](double rate) { return rate > 0; });
  std::sort(measured.begin(), measured.end());
  return measured.empty() ? 0 : measured[measured.size() / 2];
}

/// Gives links of one kind their mean rate. Requires: no rate is 0.
void level_kinds(std::vector<double>& rates) {
  std::vector<std::size_t> order(rates.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) { return rates[a] < rates[b]; });
  for (std::size_t begin = 0, end = 0; begin < order.size(); begin = end) {
    double sum = 0;
    for (const double lowest = rates[order[begin]]; end < order.size() && rates[order[end]] <= kAlike * lowest; ++end)
      sum += rates[order[end]];
    for (std::size_t i = begin; i < end; ++i) rates[order[i]] = sum / static_cast<double>(end - begin);
  }
}

/// One direction of all hosts. Returns whether any was measured.
bool complete_rates(std::vector<double>& rates) {
  const double median = median_of_measured(rates);
  if (median == 0) return false;
  for (double& rate : rates)
    rate = rate > 0 ? std::clamp(rate, median / kMaxLinkRatio, median * kMaxLinkRatio) : median;
  level_kinds(rates);
  return true;
}

/// Ranks with the same host name get the same number.
std::vector<std::size_t> number_hosts(const comm::Communicator& ranks) {
  std::unordered_map<std::string, std::size_t> numbers;
  std::vector<std::size_t> host;
  host.reserve(static_cast<std::size_t>(ranks.size()));
  for (int rank = 0; rank < ranks.size(); ++rank)
    host.push_back(numbers.emplace(ranks.host(rank), numbers.size()).first->second);
  return host;
}

}  // namespace

std::vector<HostLink> host_links(std::span<const int> distances, std::span<const std::size_t> host,
                                 std::span<const RoundRates> measured) {
  const std::size_t ranks = host.size();
  const std::size_t hosts = ranks == 0 ? 0 : *std::max_element(host.begin(), host.end()) + 1;
  std::vector<double> in(hosts);
  std::vector<double> out(hosts);
  for (std::size_t round = 0; round < distances.size(); ++round) {
    std::vector<double> round_in(hosts);
    std::vector<double> round_out(hosts);
    for (std::size_t rank = 0; rank < ranks; ++rank) {
      const std::size_t from = (rank + ranks - static_cast<std::size_t>(distances[round])) % ranks;
      if (host[from] == host[rank]) continue;
      round_in[host[rank]] += measured[rank][round];
      round_out[host[from]] += measured[rank][round];
    }
    for (std::size_t one = 0; one < hosts; ++one) {
      in[one] = std::max(in[one], round_in[one]);
      out[one] = std::max(out[one], round_out[one]);
    }
  }
  std::vector<HostLink> links;
  if (!complete_rates(in) || !complete_rates(out)) return links;
  for (const std::size_t one : host) links.push_back({in[one], out[one]});
  return links;
}

std::optional<MeasuredLinks> gather_links(const ProbePlan& plan, const RoundRates& mine, std::uint64_t input_records,
                                          comm::Communicator& ranks) {
  std::vector<std::uint64_t> numbers{input_records};
  for (const double rate : mine) numbers.push_back(std::bit_cast<std::uint64_t>(rate));
  MeasuredLinks links{.host = number_hosts(ranks), .rates = {}, .input = {}};
  std::vector<RoundRates> measured;
  for (const std::vector<std::uint64_t>& of_rank : ranks.all_gather(numbers)) {
    if (of_rank.size() != 1 + plan.distances.size())
      throw std::runtime_error("a rank reports rates of another number of rounds: network or memory changed them");
    links.input.push_back(of_rank[0]);
    RoundRates& rates = measured.emplace_back();
    for (std::size_t round = 1; round < of_rank.size(); ++round) {
      rates.push_back(std::bit_cast<double>(of_rank[round]));
      if (!is_plausible(rates.back()))
        throw std::runtime_error("a rank reports an impossible rate of its link: network or memory changed it");
    }
  }
  links.rates = host_links(plan.distances, links.host, measured);
  if (links.rates.empty()) return std::nullopt;
  return links;
}

}  // namespace hetsort::sort
