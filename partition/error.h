// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <stdexcept>

namespace hetsort::partition {

/// A request the planner cannot answer: costs or speeds that make no sense, caps that cannot hold the records, an
/// unknown strategy, a cluster file with a mistake. what() is one sentence for the user, without a trailing newline.
class PlanError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

}  // namespace hetsort::partition
