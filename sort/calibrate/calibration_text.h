// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
//
// A calibration as the text of a cluster file (docs/partitioning.md).
#pragma once

#include <string>
#include <vector>

#include "sort/calibrate/calibrate.h"

namespace hetsort::sort {

/// Facts about a node that need no measurement.
struct NodeFacts {
  std::string host;
  std::uint64_t memory_bytes = 0;
  std::size_t threads = 1;
};

/// The circumstances of a calibration.
struct CalibrationNote {
  std::string date;
  std::string version;
  std::size_t record_bytes = 100;
};

/// The text of the cluster file. Comments give spreads, repetitions and points that have not converged. No node is the
/// root: with one, all plans from the file would be those of a scatter.
std::string cluster_text(const Calibration& calibration, const std::vector<NodeFacts>& facts,
                         const CalibrationNote& note);

/// A line about points that have not converged; empty if all have.
std::string unsteady_text(const Calibration& calibration);

}  // namespace hetsort::sort
