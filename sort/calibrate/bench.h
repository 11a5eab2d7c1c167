// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
//
// The measurements that a calibration consists of.
#pragma once

#include <cstdint>
#include <vector>

#include "sort/exchange/transfer_flows.h"
#include "sort/machine/disk_rates.h"

namespace hetsort::sort {

/// The times of one sort on one rank, in seconds.
struct SortTimes {
  double form = 0;      ///< phase form_runs
  double exchange = 0;  ///< phase exchange; on a single rank, merging
  double publish = 0;   ///< phase publish, waiting for other ranks included
  double whole = 0;     ///< time from the call to the published output
  double stolen = 0;    ///< time during which the host of this virtual machine took processors away
  /// Processor time in the phases, as seconds at the rate of this rank's quota; 0 if no quota can stop it. Seconds on
  /// the clock say less: a rank that waits does not use up its quota, and a short phase ends before its quota does.
  double form_processor = 0;
  double exchange_processor = 0;
};

/// The measurements that calibration needs from a rank. All calls come from one thread. All but the clocks are
/// collective.
class Bench {
 public:
  Bench() = default;
  Bench(const Bench&) = delete;
  Bench& operator=(const Bench&) = delete;
  virtual ~Bench() = default;

  /// Seconds on a clock of this rank.
  virtual double now_seconds() = 0;
  /// The time on this clock at which the job began.
  virtual double job_start_seconds() = 0;
  virtual DiskRates measure_disk(double seconds) = 0;
  /// Sends all flows at once. Returns for each flow the seconds until this rank had received it; 0 for flows to others.
  virtual std::vector<double> transfer(const std::vector<Flow>& flows) = 0;
  /// Each rank sorts so many records of its own for itself, all at the same time. No rank waits for its disk to write.
  virtual SortTimes sort_alone(std::uint64_t records) = 0;
  /// A sort by all ranks. Rank i reads input[i] records and ends with output[i]. `synced`: the output is on the disk.
  virtual SortTimes sort_together(const std::vector<std::uint64_t>& input, const std::vector<std::uint64_t>& output,
                                  bool synced) = 0;
};

}  // namespace hetsort::sort
