// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
#include "partition/run/phase_costs.h"

#include <algorithm>
#include <limits>
#include <numeric>

namespace hetsort::partition {

HostRanks::HostRanks(const RunModel& model) : ranks_(model.ranks.size()) {
  std::iota(ranks_.begin(), ranks_.end(), std::size_t{0});
  const auto host = [&](std::size_t rank) { return model.ranks[rank].host; };
  if (!std::ranges::is_sorted(ranks_, {}, host)) std::ranges::stable_sort(ranks_, {}, host);
  for (std::size_t i = 0; i < ranks_.size(); ++i)
    if (i == 0 || host(ranks_[i]) != host(ranks_[i - 1])) begin_.push_back(i);
  begin_.push_back(ranks_.size());
}

std::vector<std::int64_t> HostRanks::sums(std::span<const std::int64_t> of_ranks) const {
  std::vector<std::int64_t> sums(hosts(), 0);
  for (std::size_t host = 0; host < hosts(); ++host)
    for (const std::size_t rank : ranks(host)) sums[host] += of_ranks[rank];
  return sums;
}

FormDisk form_disk(const RunModel& model, std::span<const std::size_t> ranks) {
  const RankResources& first = model.ranks[ranks.front()];
  FormDisk disk{.read_seconds = seconds_per_record(model, first.rates.disk_read),
                .write_seconds = seconds_per_record(model, first.rates.disk_write),
                .memory_records = 0,
                .spills = first.memory_records.has_value()};
  for (const std::size_t rank : ranks) {
    const std::int64_t more = model.ranks[rank].memory_records.value_or(0);
    disk.memory_records += std::min(more, std::numeric_limits<std::int64_t>::max() - disk.memory_records);
  }
  return disk;
}

std::int64_t spilled_records(const RankResources& rank, std::int64_t input) {
  return rank.memory_records ? std::max<std::int64_t>(0, input - *rank.memory_records) : 0;
}

namespace {

HostExchange host_exchange(const RunModel& model, std::span<const std::size_t> ranks,
                           std::span<const std::int64_t> input, double records) {
  const DiskAndLinkRates& rates = model.ranks[ranks.front()].rates;
  HostExchange host;
  std::int64_t spilled = 0;
  bool waits = model.synced;
  for (const std::size_t rank : ranks) {
    waits |= model.ranks[rank].writes_directly;
    host.input += input[rank];
    spilled += spilled_records(model.ranks[rank], input[rank]);
  }
  const auto own = static_cast<double>(host.input);
  const double out = seconds_per_record(model, rates.link_out);
  host.link_out = {own * out, -own / records * out};
  host.link_in = {0, (records - own) / records * seconds_per_record(model, rates.link_in)};
  host.spill_seconds = static_cast<double>(spilled) * seconds_per_record(model, rates.disk_read);
  host.disk = {host.spill_seconds, waits ? seconds_per_record(model, rates.disk_write) : 0};
  return host;
}

}  // namespace

ExchangeCosts exchange_costs(const RunModel& model, const HostRanks& hosts, std::span<const std::int64_t> input) {
  const auto records = static_cast<double>(std::accumulate(input.begin(), input.end(), std::int64_t{0}));
  ExchangeCosts costs;
  costs.processor.reserve(model.ranks.size());
  for (std::size_t i = 0; i < model.ranks.size(); ++i) {
    const RankResources& rank = model.ranks[i];
    const auto own = static_cast<double>(input[i]);
    const auto bytes = static_cast<double>(model.record_bytes);
    const double out = rank.message.out * bytes;
    const double in = rank.message.in * bytes;
    costs.processor.push_back({out * own, rank.merge_seconds + in - (out + in) * (own / records)});
  }
  costs.hosts.reserve(hosts.hosts());
  for (std::size_t host = 0; host < hosts.hosts(); ++host)
    costs.hosts.push_back(host_exchange(model, hosts.ranks(host), input, records));
  return costs;
}

double shared_link_seconds(const RunModel& model, const ExchangeCosts& costs, std::span<const std::int64_t> host_output,
                           std::int64_t records) {
  const auto all = static_cast<double>(records);
  double crossing = 0;
  for (std::size_t host = 0; host < host_output.size(); ++host)
    crossing += static_cast<double>(costs.hosts[host].input) * (all - static_cast<double>(host_output[host])) / all;
  return crossing * seconds_per_record(model, model.shared.link);
}

}  // namespace hetsort::partition
