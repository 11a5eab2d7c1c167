// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
#include "partition/run/predict_run.h"

#include <algorithm>
#include <array>
#include <cassert>
#include <numeric>

#include "partition/run/phase_costs.h"

namespace hetsort::partition {
namespace {

/// The slowest of some resources of a rank.
class Slowest {
 public:
  void use(Resource resource, double seconds) {
    if (seconds > time_.seconds) time_ = {seconds, resource};
  }
  /// `without_spill`: seconds if all records fitted memory.
  void use_disk(double seconds, double without_spill) {
    use(without_spill <= time_.seconds && without_spill < seconds ? Resource::kMemory : Resource::kDisk, seconds);
  }
  const PhaseTime& time() const { return time_; }

 private:
  PhaseTime time_;
};

double latest(std::span<const PhaseTime> times) {
  double seconds = 0;
  for (const PhaseTime& time : times) seconds = std::max(seconds, time.seconds);
  return seconds;
}

struct DiskSeconds {
  double all = 0;
  double without_spill = 0;
};

std::vector<PhaseTime> predict_form(const RunModel& model, const HostRanks& hosts,
                                    std::span<const std::int64_t> input) {
  std::vector<PhaseTime> times(input.size());
  DiskSeconds shared;
  for (std::size_t host = 0; host < hosts.hosts(); ++host) {
    double uncached = 0;
    double spilled = 0;
    for (const std::size_t rank : hosts.ranks(host)) {
      uncached += uncached_records(model.ranks[rank], input[rank]);
      spilled += static_cast<double>(spilled_records(model.ranks[rank], input[rank]));
    }
    const FormDisk disk = form_disk(model, hosts.ranks(host));
    shared.without_spill += uncached * seconds_per_record(model, model.shared.disk_read);
    shared.all += spilled * seconds_per_record(model, model.shared.disk_write);
    for (const std::size_t rank : hosts.ranks(host)) {
      if (input[rank] == 0) continue;
      Slowest slowest;
      slowest.use(Resource::kProcessor, model.ranks[rank].sort->value(static_cast<double>(input[rank])));
      slowest.use_disk(disk.at(uncached, spilled), disk.at(uncached, 0));
      times[rank] = slowest.time();
    }
  }
  shared.all += shared.without_spill;
  for (std::size_t rank = 0; rank < times.size(); ++rank)
    if (input[rank] > 0 && shared.all > times[rank].seconds) times[rank] = {shared.all, Resource::kSharedDisk};
  return times;
}

double shared_disk_seconds(const RunModel& model, std::span<const std::int64_t> input, std::int64_t records) {
  double spilled = 0;
  for (std::size_t rank = 0; rank < input.size(); ++rank)
    spilled += static_cast<double>(spilled_records(model.ranks[rank], input[rank]));
  return spilled * seconds_per_record(model, model.shared.disk_read) +
         static_cast<double>(records) * output_seconds(model, model.shared.disk_write);
}

std::vector<PhaseTime> predict_exchange(const RunModel& model, const HostRanks& hosts,
                                        std::span<const std::int64_t> input, std::span<const std::int64_t> output) {
  const std::int64_t records = std::accumulate(input.begin(), input.end(), std::int64_t{0});
  const ExchangeCosts costs = exchange_costs(model, hosts, input);
  const std::vector<std::int64_t> host_output = hosts.sums(output);
  const double shared_link = shared_link_seconds(model, costs, host_output, records);
  const double shared_disk = shared_disk_seconds(model, input, records);
  std::vector<PhaseTime> times(input.size());
  for (std::size_t host = 0; host < hosts.hosts(); ++host) {
    const HostExchange& of_host = costs.hosts[host];
    const auto own = static_cast<double>(host_output[host]);
    for (const std::size_t rank : hosts.ranks(host)) {
      if (input[rank] == 0 && output[rank] == 0) continue;
      Slowest slowest;
      slowest.use(Resource::kProcessor, costs.processor[rank].at(static_cast<double>(output[rank])));
      slowest.use(Resource::kLinkOut, of_host.link_out.at(own));
      slowest.use(Resource::kLinkIn, of_host.link_in.at(own));
      slowest.use_disk(of_host.disk.at(own), of_host.disk.at(own) - of_host.spill_seconds);
      slowest.use(Resource::kSharedLink, shared_link);
      slowest.use(Resource::kSharedDisk, shared_disk);
      times[rank] = slowest.time();
    }
  }
  return times;
}

/// A valid model has a rate of all ranks or of none.
std::vector<std::string_view> unlimited_resources(const RankResources& rank) {
  std::vector<std::string_view> names;
  if (!rank.rates.link_in || !rank.rates.link_out) names.emplace_back("links");
  if (!rank.rates.disk_read || !rank.rates.disk_write) names.emplace_back("disks");
  if (!rank.memory_records) names.emplace_back("memory");
  if (rank.message.in == 0 && rank.message.out == 0) names.emplace_back("processors while they send and receive");
  return names;
}

}  // namespace

namespace {

constexpr std::array<std::string_view, 8> kResourceNames{"nothing", "processor", "link out",    "link in",
                                                         "disk",    "memory",    "shared link", "shared disk"};

}  // namespace

std::string_view resource_name(Resource resource) { return kResourceNames[static_cast<std::size_t>(resource)]; }

Resource resource_named(std::string_view name) {
  const auto found = std::ranges::find(kResourceNames, name);
  return found == kResourceNames.end() ? Resource::kNone : static_cast<Resource>(found - kResourceNames.begin());
}

RunPrediction predict_run(const RunModel& model, std::span<const std::int64_t> input,
                          std::span<const std::int64_t> output) {
  assert(input.size() == output.size());
  const HostRanks hosts(model);
  RunPrediction run;
  run.unlimited = unlimited_resources(model.ranks.front());
  run.form = predict_form(model, hosts, input);
  run.exchange.resize(input.size());
  if (std::any_of(input.begin(), input.end(), [](std::int64_t records) { return records > 0; }))
    run.exchange = predict_exchange(model, hosts, input, output);
  run.start_seconds = model.start_seconds;
  run.form_seconds = latest(run.form);
  run.exchange_seconds = latest(run.exchange);
  run.seconds =
      model.start_seconds + run.form_seconds + model.select_seconds + run.exchange_seconds + model.publish_seconds;
  return run;
}

}  // namespace hetsort::partition
