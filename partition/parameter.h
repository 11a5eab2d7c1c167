// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace hetsort::partition {

/// `value` itself. Throws: PlanError naming `what` unless it is finite and >= 0.
double require_parameter(double value, const char* what);

}  // namespace hetsort::partition
