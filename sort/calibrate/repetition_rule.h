// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
//
// How often one size is measured, and how well its mean is then known: Student-t statistics of repetitions.
#pragma once

#include <span>

namespace hetsort::sort {

/// Half-width of the Student-t 95 % interval of the mean, as a part of the mean; 1 with fewer than two samples.
/// Requires: a mean above zero. Complexity: O(samples).
double relative_half_width(std::span<const double> samples);

/// The rule: drop the first sample (caches are cold), take at least five more, stop when the half-width of the
/// Student-t 95 % interval is within 2.5 % of the mean. True when `seconds`, in the order they were measured and with
/// the first, are enough. Complexity: O(samples).
bool enough_repetitions(std::span<const double> seconds);

}  // namespace hetsort::sort
