// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
//
// What is to be shared and among whom. Two problems, after the papers they come from:
//   shares   (Cerin, Dubacq, Roch 2006): minimise max_i f_i(n_i) with sum n_i = N.
//   scatter  (Genaud, Giersch, Vivien 2003): a root sends to one node after another, so node i finishes at
//            sum_{j<=i} receive_j(n_j) + compute_i(n_i). Nodes stand in sending order, the root last.
#pragma once

#include <cstdint>
#include <limits>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "cost.h"
#include "program_predictor.h"
#include "run/run_model.h"

namespace hetsort::partition {

/// A number for each pair of nodes: by the node that sends, then by the one that receives. The diagonal is not used.
using LinkMatrix = std::vector<std::vector<double>>;
/// The rows and columns at these places, in that order. An empty matrix stays empty.
LinkMatrix select_links(const LinkMatrix& links, std::span<const std::size_t> places);

constexpr std::int64_t kNoCap = std::numeric_limits<std::int64_t>::max();

/// A node among which records are shared. The fields that every pass over the nodes reads stand first, in one cache
/// line.
struct ProblemNode {
  std::optional<double> speed;  ///< relative speed, which the strategies of a speed model read
  CostPtr compute;              ///< true cost of n records here; every plan is judged by it
  std::int64_t min_records = 0;
  std::int64_t max_records = kNoCap;  ///< cap: what memory or disk can take
  std::string name;
  CostPtr receive;                                   ///< cost of getting n records from the root; null = unknown
  CostPtr measured;                                  ///< learned curve, for the strategy "learned"; null = none yet
  std::shared_ptr<const RankResources> resources{};  ///< resources in the model of a run; null without Problem::run
  std::optional<std::int64_t> input_records{};       ///< records of its own; all nodes have some, or none has
  std::size_t number = 0;                            ///< see numbers_of_names()
};

struct Problem {
  std::int64_t records = 0;
  std::vector<ProblemNode> nodes;
  CostPtr speed_shape;            ///< set when every compute cost is this shape / speed, else null
  bool scatter = false;           ///< judge by the scatter's finish times; see arrange_scatter
  double start_delay = 0;         ///< time before any node begins, as costs: a job's start, a scatter's data on its way
  std::optional<RunModel> run{};  ///< model of the whole run; its ranks are the nodes' resources. None = not known
  std::string run_missing{};      ///< why the cluster file does not suffice to predict whole runs; or empty
  /// Seconds for each record that one node sends to another; replaces their receive costs. Null = not known.
  std::shared_ptr<const LinkMatrix> link_seconds{};
  /// The program whose rows are shared, or the sort as a program: predicts a plan with waiting. Null = none.
  std::shared_ptr<const ProgramPredictor> program{};
  bool program_costs = false;  ///< the compute costs are those of the program, and can fall somewhere
};

/// "s", or "work units" if only speeds are known: the unit of the costs and finish times.
std::string_view unit_of_costs(const Problem& problem);

/// The place of each name among the names that are equal to it, from 1; 0 for a name that no other is equal to.
std::vector<std::size_t> numbers_of_names(std::span<const std::string> names);

/// Keeps the nodes at these places, in that order.
void keep_nodes(Problem& problem, std::span<const std::size_t> places);

/// A problem for relative speeds alone: compute = shape / speed. Names are "0", "1", ...
/// Throws: PlanError for a speed that is not finite and above zero, naming its place.
Problem problem_from_speeds(std::int64_t records, std::span<const double> speeds, const CostPtr& shape = nlogn_cost());

/// Checks a problem. Throws: PlanError when there is no node, a number of records is negative, a node lacks its compute
/// cost, a cap is below a minimum, or the caps (or minima) cannot hold the records; the message says by how much.
void validate(const Problem& problem);

/// Finish time of each node for these shares, in node order; a node without records finishes at 0.
/// Requires: one share a node; for a scatter, nodes as arrange_scatter leaves them. Complexity: O(p).
std::vector<double> finish_times(const Problem& problem, std::span<const std::int64_t> shares);

/// The whole model, with the caps of the problem. Requires: problem.run. Complexity: O(nodes).
RunModel run_model_of(const Problem& problem);

/// The records that each node has of its own; empty if the input is shared.
std::vector<std::int64_t> given_input(const Problem& problem);

}  // namespace hetsort::partition
