// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
//
// Timelines for a terminal of 80 columns.
#pragma once

#include <string>
#include <vector>

#include "cli/report/model.h"

namespace hetsort::cli {

/// For each run a heading and a line a rank: its name, its phases over time as letters, when it finished. All runs have
/// one scale of time; a legend at the end tells the letters. Whatever is not printable ASCII is shown as '?'.
std::string text_timelines(const std::vector<RunReport>& runs);

}  // namespace hetsort::cli
