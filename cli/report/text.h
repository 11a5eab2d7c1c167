// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
//
// Timelines for a terminal of 80 columns.
#pragma once

#include <string>
#include <vector>

#include "cli/report/groups.h"

namespace hetsort::cli {

/// Returns a heading for each run and a line for each of its ranks: name, phases over time as letters, finish time. If
/// the report has predictions of the phases, a table compares them with what was measured. All runs have the same time
/// scale. A legend at the end explains the letters. Characters that are not printable ASCII are
/// shown as '?'.
std::string text_timelines(const std::vector<job::RunReport>& runs);

}  // namespace hetsort::cli
