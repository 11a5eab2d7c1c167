// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
//
// Timelines for a terminal of 80 columns.
#pragma once

#include <string>
#include <vector>

#include "cli/report/groups.h"

namespace hetsort::cli {

/// Returns a heading for each run and a line for each of its ranks: name, phases over time as letters, with dots where
/// the rank waits for others, finish time. The predictions follow. All runs have the same time scale. A legend at the
/// end explains the letters. Characters that are not printable ASCII are shown as '?'.
std::string text_timelines(const std::vector<job::RunReport>& runs);

/// A table of measured and predicted seconds by rank and phase; empty if no phase was predicted.
std::string text_predictions(const job::RunReport& run);

/// A line for each rank that merged ranges, or formed records into runs again, in place of one that fell behind.
std::string text_moved_work(const job::RunReport& run);

}  // namespace hetsort::cli
