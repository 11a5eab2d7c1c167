// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
//
// A comparison for people and for machines.
#pragma once

#include <string>
#include <utility>
#include <vector>

namespace hetsort::cli {

/// The rounds of a comparison. Each has pairs of a strategy and the report (hetsort.run/1) of its run, in one order.
using ComparedRounds = std::vector<std::vector<std::pair<std::string, std::string>>>;

/// The comparison as JSON, hetsort.compare/1, on one line.
std::string compare_json(const ComparedRounds& rounds);

/// The comparison as CSV, see runs_csv().
std::string compare_csv(const ComparedRounds& rounds);

/// Strategies, the one with the least median first, in lines of at most 80 columns. Requires: a round and a run in it.
std::string compare_table(const ComparedRounds& rounds);

}  // namespace hetsort::cli
