// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
#include "partition/cost/parameter.h"

#include <fmt/format.h>

#include <cmath>

#include "partition/cost/error.h"

namespace hetsort::partition {

double require_parameter(double value, const char* what) {
  if (!std::isfinite(value) || value < 0)
    throw PlanError(fmt::format("{} must be a finite number that is not negative, not {}", what, value));
  return value;
}

void require_positive(double value, const char* what) {
  if (!std::isfinite(value) || value <= 0)
    throw PlanError(fmt::format("{} must be a finite number above zero, not {}", what, value));
}

}  // namespace hetsort::partition
