// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
//
// Timelines for a terminal of 80 columns.
#pragma once

#include <string>
#include <vector>

#include "cli/report/model.h"

namespace hetsort::cli {

/// Returns a heading for each run and a line for each of its ranks: name, phases over time as letters, finish time. All
/// runs have the same time scale. A legend at the end explains the letters. Characters that are not printable ASCII are
/// shown as '?'.
std::string text_timelines(const std::vector<RunReport>& runs);

}  // namespace hetsort::cli
