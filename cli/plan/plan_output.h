// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
//
// How `hetsort plan` prints: tables of at most 80 columns, JSON, hostfile, pictures.
#pragma once

#include <string>
#include <string_view>

#include "cli/terminal/columns.h"
#include "cli/terminal/messages.h"
#include "job/plan/plan_request.h"
#include "partition/plan.h"

namespace hetsort::cli {

/// The name of a node, safe for a terminal, numbered if others have the same; see node_label().
inline std::string label_of(const partition::NodePlan& node, std::size_t max_characters) {
  return node_label(terminal_safe(node.name), node.number, max_characters);
}

/// One plan as a table with a bar for each node's share. `explain`: also what bounds each node, and the explanations.
std::string plan_table(const partition::Plan& plan, const job::PreparedPlan& prepared, bool explain);

/// The whole run by phases and nodes. `explain`: also a line about what bounds the nodes, and what is not known.
/// Empty if nothing of this is known or asked for.
std::string run_table(const partition::Plan& plan, bool explain);
/// The plans of a comparison in the order of the seconds of the whole run. Empty if they are not known.
std::string run_ranking(const partition::Comparison& comparison);

/// The iteration of the program by nodes, and the program's plans in the order of their seconds. Empty without one.
std::string program_table(const partition::Plan& plan, const partition::Problem& problem);
std::string program_ranking(const partition::Comparison& comparison);

/// All plans of a comparison: a line of figures and a picture of the shares for each.
std::string comparison_table(const partition::Comparison& comparison, const job::PreparedPlan& prepared);

/// A line for each node of each plan: strategy, makespan, lower_bound, node, input_records, records, finish.
std::string plans_csv(const partition::Comparison& comparison);

/// Whether a hostfile can hold the name.
bool can_be_host(std::string_view name);
/// Open MPI hostfile lines of the nodes that get records, in the plan's order; neighbours of one name share a line.
/// Throws: UsageError for a name no hostfile can hold.
std::string plan_hostfile(const partition::Plan& plan);

/// Shares and finish times of one plan, or the makespans of several, as SVG. Throws: UsageError for too many nodes.
std::string plan_picture(const partition::Plan& plan);
std::string comparison_picture(const partition::Comparison& comparison, const partition::Problem& problem);

}  // namespace hetsort::cli
