// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
//
// A calibration as the text of a cluster file (docs/formats/cluster.md).
#pragma once

#include <string>
#include <vector>

#include "sort/calibrate/calibration.h"

namespace hetsort::sort {

/// The circumstances of a calibration, for the file's comments.
struct CalibrationNote {
  std::string date;
  std::string version;
  std::uint64_t record_bytes = 100;
  std::vector<std::string> keys{};  ///< keys of the records, as the user gives them; empty = the usual key
};

/// The text of the cluster file. No node is the root: with one, all plans from the file would be those of a scatter.
std::string cluster_text(const Calibration& calibration, const CalibrationNote& note);

}  // namespace hetsort::sort
