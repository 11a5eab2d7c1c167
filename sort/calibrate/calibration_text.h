// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
//
// A calibration as the text of a cluster file (docs/partitioning.md).
#pragma once

#include <string>
#include <vector>

#include "sort/calibrate/calibrate.h"

namespace hetsort::sort {

/// What is known of a node without measuring.
struct NodeFacts {
  std::string host;
  std::uint64_t memory_bytes = 0;
  std::size_t threads = 1;
};

/// When and with what it was made.
struct CalibrationNote {
  std::string date;
  std::string version;
  std::size_t record_bytes = 100;
};

/// Spreads, repetitions and what never got steady stand in comments. No node is the root: with one, all plans from the
/// file would be those of a scatter.
std::string cluster_text(const Calibration& calibration, const std::vector<NodeFacts>& facts,
                         const CalibrationNote& note);

/// A line about what never got steady, or "".
std::string unsteady_text(const Calibration& calibration);

}  // namespace hetsort::sort
