// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
//
// The formulas of the model of a run, in the form that both the prediction and the planner use: for a given input every
// time of the exchange is a straight line over the records that a rank or its host ends with. Internal to the library.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "partition/run/run_model.h"

namespace hetsort::partition {

/// The ranks of each host. Hosts are in the order of their numbers, but are counted from 0 here.
class HostRanks {
 public:
  explicit HostRanks(const RunModel& model);

  std::size_t hosts() const { return begin_.size() - 1; }
  std::span<const std::size_t> ranks(std::size_t host) const {
    return std::span(ranks_).subspan(begin_[host], begin_[host + 1] - begin_[host]);
  }
  /// Sums over each host.
  std::vector<std::int64_t> sums(std::span<const std::int64_t> of_ranks) const;

 private:
  std::vector<std::size_t> ranks_;  // all ranks, host by host
  std::vector<std::size_t> begin_;
};

/// Seconds for n records: offset + slope n.
struct Line {
  double offset = 0;
  double slope = 0;

  double at(double records) const { return offset + slope * records; }
};

/// Seconds for each record that passes, 0 if the rate is unlimited.
inline double seconds_per_record(const RunModel& model, const std::optional<double>& rate) {
  return rate ? static_cast<double>(model.record_bytes) / *rate : 0.0;
}

/// Disk time of a host while it forms runs.
struct FormDisk {
  double read_seconds = 0;   ///< time to read a record of the input that is not in the page cache
  double write_seconds = 0;  ///< time to write a record that spills
  std::int64_t memory_records = 0;
  bool spills = false;  ///< whether memory is limited

  /// `uncached`: records of the input that are not in the page cache.
  double at(double uncached, double spilled) const { return read_seconds * uncached + write_seconds * spilled; }
};
FormDisk form_disk(const RunModel& model, std::span<const std::size_t> ranks);

/// Records of a rank's input that are not in the page cache, so that the disk reads them.
inline double uncached_records(const RankResources& rank, std::int64_t input) {
  return (1 - rank.input_cached) * static_cast<double>(input);
}

/// Records of a rank's input that do not fit its memory.
std::int64_t spilled_records(const RankResources& rank, std::int64_t input);

/// Disk time of the output, for each record, at this rate of writing.
inline double output_seconds(const RunModel& model, const std::optional<double>& rate) {
  return model.synced ? seconds_per_record(model, rate) : 0.0;
}

struct HostExchange {
  std::int64_t input = 0;
  Line link_out;
  Line link_in;
  Line disk;
  double spill_seconds = 0;  ///< the part of the disk's time that reads what spilled
};

struct ExchangeCosts {
  std::vector<Line> processor;      ///< processor time of each rank over its output
  std::vector<HostExchange> hosts;  ///< times of each host over its output
};
ExchangeCosts exchange_costs(const RunModel& model, const HostRanks& hosts, std::span<const std::int64_t> input);

/// Seconds of the link that all hosts share, 0 if there is none.
double shared_link_seconds(const RunModel& model, const ExchangeCosts& costs, std::span<const std::int64_t> host_output,
                           std::int64_t records);

}  // namespace hetsort::partition
