// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
#include "partition/run/best_output.h"

#include <fmt/format.h>

#include <algorithm>
#include <cassert>
#include <numeric>

#include "partition/cost/error.h"
#include "partition/run/phase_costs.h"
#include "partition/run/rank_intervals.h"

namespace hetsort::partition {
namespace {

/// The numbers of output records with which ranks and hosts end the exchange by a given time.
class ExchangeIntervals {
 public:
  ExchangeIntervals(const RunModel& model, const HostRanks& hosts, std::span<const std::int64_t> input,
                    std::int64_t records)
      : hosts_(hosts), costs_(exchange_costs(model, hosts, input)), records_(records) {
    caps_.reserve(input.size());
    for (const RankResources& rank : model.ranks) caps_.push_back(cap_of(rank, records));
  }

  const ExchangeCosts& costs() const { return costs_; }

  Interval rank(std::size_t rank, double seconds) const {
    Interval interval{0, caps_[rank]};
    narrow(interval, costs_.processor[rank], seconds);
    return interval;
  }

  Interval operator()(std::size_t host, double seconds) const {
    Interval interval = sum_of_ranks(hosts_.ranks(host), records_, [&](std::size_t one) { return rank(one, seconds); });
    const HostExchange& of_host = costs_.hosts[host];
    narrow(interval, of_host.link_out, seconds);
    narrow(interval, of_host.link_in, seconds);
    narrow(interval, of_host.disk, seconds);
    return interval;
  }

  /// A guess for the search: the time of an average host with an average share.
  double guess() const {
    const double share = static_cast<double>(records_) / static_cast<double>(costs_.hosts.size());
    double sum = 0;
    for (std::size_t host = 0; host < costs_.hosts.size(); ++host) {
      const HostExchange& of_host = costs_.hosts[host];
      sum += std::max({costs_.processor[hosts_.ranks(host).front()].at(share), of_host.link_out.at(share),
                       of_host.link_in.at(share), of_host.disk.at(share)});
    }
    return sum / static_cast<double>(costs_.hosts.size());
  }

 private:
  const HostRanks& hosts_;
  ExchangeCosts costs_;
  std::int64_t records_;
  std::vector<std::int64_t> caps_;  // caps of the ranks: reading them from the model would miss the cache
};

/// The outputs of hosts that leave the fewest records for a link that all share: hosts with much input keep much.
class SharedLink {
 public:
  SharedLink(const RunModel& model, const ExchangeIntervals& intervals, std::int64_t records)
      : model_(model), intervals_(intervals), records_(records), order_(intervals.costs().hosts.size()) {
    std::iota(order_.begin(), order_.end(), std::size_t{0});
    const std::vector<HostExchange>& hosts = intervals.costs().hosts;
    std::stable_sort(order_.begin(), order_.end(),
                     [&](std::size_t a, std::size_t b) { return hosts[a].input > hosts[b].input; });
  }

  double seconds(std::span<const std::int64_t> host_output) const {
    return shared_link_seconds(model_, intervals_.costs(), host_output, records_);
  }

  /// Requires: the intervals at this time hold the records.
  std::vector<std::int64_t> shares_at(double seconds) const {
    std::vector<std::int64_t> shares(order_.size());
    std::int64_t left = records_;
    for (std::size_t host = 0; host < shares.size(); ++host) {
      shares[host] = intervals_(host, seconds).low;
      left -= shares[host];
    }
    for (const std::size_t host : order_) {
      const std::int64_t more = std::min(left, intervals_(host, seconds).high - shares[host]);
      shares[host] += more;
      left -= more;
    }
    return shares;
  }

  /// The shares of the earliest time that suffices for the shared link, too. `shares`: the best ones without this link.
  LevelShares improve(LevelShares shares) const {
    double low = shares.seconds;
    double high = seconds(shares.records);
    if (high <= low) return shares;
    for (double middle = middle_of(low, high); middle > low; middle = middle_of(low, high))
      (seconds(shares_at(middle)) <= middle ? high : low) = middle;
    return {high, shares_at(high)};
  }

 private:
  const RunModel& model_;
  const ExchangeIntervals& intervals_;
  std::int64_t records_;
  std::vector<std::size_t> order_;
};

}  // namespace

void check_room(const RunModel& model, std::int64_t records) {
  std::int64_t left = records;
  for (const RankResources& rank : model.ranks) left -= std::min(left, cap_of(rank, records));
  if (left > 0)
    throw PlanError(fmt::format("the nodes can hold {} records together, {} fewer than the {} to be shared",
                                records - left, left, records));
}

std::vector<std::int64_t> best_output(const RunModel& model, std::span<const std::int64_t> input, double tolerance) {
  assert(std::ranges::none_of(input, [](std::int64_t records) { return records < 0; }));
  const std::int64_t records = std::accumulate(input.begin(), input.end(), std::int64_t{0});
  check_room(model, records);
  if (records == 0) return std::vector<std::int64_t>(input.size(), 0);
  const HostRanks hosts(model);
  const ExchangeIntervals intervals(model, hosts, input, records);
  LevelShares shares = share_by_level(hosts.hosts(), records, intervals.guess(), intervals, tolerance);
  if (model.shared.link) shares = SharedLink(model, intervals, records).improve(std::move(shares));
  return divide_among_ranks(hosts, input.size(), shares,
                            [&](std::size_t rank, double seconds) { return intervals.rank(rank, seconds); });
}

}  // namespace hetsort::partition
