// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
//
// The runs that `hetsort report` and `hetsort compare` show, in groups that can be compared.
#pragma once

#include <cstddef>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "job/report/model.h"

namespace hetsort::cli {

/// Runs that can be compared: one strategy, one exchange, one number of records, bytes and ranks.
struct RunGroup {
  std::string label;                        ///< the strategy, plus what distinguishes it from other groups
  std::vector<const job::RunReport*> runs;  ///< the successful runs, in order
  std::size_t failed = 0;
  double median_seconds = 0;  ///< this and all below are 0 or empty without runs
  double min_seconds = 0;
  double max_seconds = 0;
  std::optional<double> predicted_seconds;  ///< median over the runs that have one
  std::vector<double> finishes;             ///< median work_end() over the runs, for each rank's position
  std::vector<std::string> rank_names;      ///< name of the rank at each position; only its number if the hosts differ

  /// (max - min) / median of the seconds; 0 if the median is 0.
  double spread() const;
  /// (latest - earliest) / latest of the finishes; 0 without finishes or if all are 0.
  double finish_spread() const;
};

/// The groups in order of first appearance. A failed run is counted in the first group of its strategy and exchange,
/// whatever its numbers. If there is no such group, it gets a group without runs. The groups point into `runs`.
std::vector<RunGroup> group_runs(const std::vector<job::RunReport>& runs);

/// The context entries that all runs have in common.
std::set<job::ContextEntry> common_context(const std::vector<job::RunReport>& runs);

double median(std::vector<double> values);

}  // namespace hetsort::cli
