// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
//
// Runs as a table for other programs.
#pragma once

#include <string>
#include <vector>

#include "job/report/model.h"

namespace hetsort::cli {

/// A line for each rank of each run, with the columns of docs/formats/report.md, "As CSV".
std::string runs_csv(const std::vector<job::RunReport>& runs);

}  // namespace hetsort::cli
