// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
//
// Checks of parameters. Internal to the library.
#pragma once

namespace hetsort::partition {

/// `value` itself. Throws: PlanError naming `what` unless it is finite and >= 0.
double require_parameter(double value, const char* what);

/// Checks a parameter. Throws: PlanError naming `what` unless `value` is finite and above zero.
void require_positive(double value, const char* what);

}  // namespace hetsort::partition
