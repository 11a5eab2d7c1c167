// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
//
// The measured points of a node.
#pragma once

#include <string>
#include <vector>

namespace hetsort::partition {

struct CurvePoint {
  double records = 0;
  double seconds = 0;   ///< mean of the measurements
  double count = 0;     ///< number of measurements, at least 1
  double variance = 0;  ///< variance of a single measurement, in seconds squared
};

struct NodeCurve {
  std::string name;
  std::vector<CurvePoint> points;  ///< ascending records
};

}  // namespace hetsort::partition
