// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
#include "partition/error.h"
#include "partition/strategies/scatter_program.h"

namespace hetsort::partition {

bool has_scatter_program() { return false; }

std::vector<double> solve_scatter_program(const Problem&) {
  throw PlanError("this build has no linear programming solver (GLPK)");
}

}  // namespace hetsort::partition
