// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
//
// Shares that the caller gives, for instance by a plan that was made before.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace hetsort::job {

struct GivenShares {
  std::vector<std::int64_t> records{};
  std::vector<std::int64_t> input{};  ///< records that each node reads of a shared input; empty = as `records`
  std::vector<std::string> names{};   ///< names of the nodes; empty = the nodes are the ranks
};

/// Reads a plan in JSON (hetsort.plan/1). `path` names it in messages. Throws: RequestError.
GivenShares parse_plan(const std::string& text, const std::string& path);

}  // namespace hetsort::job
