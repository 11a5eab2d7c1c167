// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
//
// What a model of iterative programs says of a plan. The planner knows no such model: a library beside it has one, and
// a problem of its programs carries it.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "cost.h"

namespace hetsort::partition {

/// How one node spends the seconds of an iteration. They add up to the time at which it finishes.
struct NodeTimes {
  double computing = 0;
  double reading = 0;  ///< reading from disk that computing does not hide
  double writing = 0;
  double sending = 0;
  double receiving = 0;
  double blocked = 0;  ///< waiting for other nodes

  double seconds() const { return computing + reading + writing + sending + receiving + blocked; }
};

struct ProgramPrediction {
  double seconds = 0;            ///< time of the start and all iterations
  double iteration_seconds = 0;  ///< time until the last node ends an iteration
  std::vector<NodeTimes> nodes;  ///< times of each node in one iteration
};

/// A program on the nodes of a problem. Thread safety: any number of calls may run at once.
class ProgramPredictor {
 public:
  ProgramPredictor() = default;
  ProgramPredictor(const ProgramPredictor&) = delete;
  ProgramPredictor& operator=(const ProgramPredictor&) = delete;
  virtual ~ProgramPredictor() = default;

  virtual const std::string& name() const = 0;
  virtual std::int64_t iterations() const = 0;

  /// The time with waiting. Nodes have `input` rows before an exchange of all rows, and `output` rows after it.
  /// Requires: a number of rows >= 0 for each node in both, and equal sums.
  virtual ProgramPrediction predict(std::span<const std::int64_t> input,
                                    std::span<const std::int64_t> output) const = 0;

  /// The part of a node's cost that no plan avoids. It never falls.
  virtual CostPtr unavoidable_cost(std::size_t node) const = 0;
};

}  // namespace hetsort::partition
