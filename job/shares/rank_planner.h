// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
//
// How the ranks of a job share records: by the strategy, the speeds and the cluster file that a request names.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "comm/communicator.h"
#include "job/options/option.h"
#include "job/request/request.h"
#include "job/shares/curve_table.h"
#include "partition/problem.h"
#include "sort/model/record_order.h"
#include "sort/model/shares.h"

namespace hetsort::job {

/// Adds speeds, cluster, shares and plan.
void add_share_options(Options& options, ShareRequest& request);
void add_strategy_option(Options& options, ShareRequest& request, const std::string& help);
/// The name of a strategy, auto, given or exec:COMMAND. Throws: RequestError; partition::PlanError.
std::string parse_strategy(const std::string& name, const std::string& what);
/// Whether the request itself gives the ranks' records.
bool gives_shares(const ShareRequest& request);
/// Checks that the strategy has what it needs. Throws: RequestError if something is missing.
void check_shares(const ShareRequest& request);

/// How the ranks of a job share records.
struct RankPlanner {
  sort::PlanShares output;
  sort::PlanShares input{};  ///< plan of an input that rank 0 sends; empty = as the output's plan says
  /// What is known of the ranks, as the problem of so many records.
  std::function<partition::Problem(const sort::RecordsToShare& what)> problem{};
  bool by_rates = false;  ///< nothing is known: the plan is equal, and a sort's output follows rates that it measures
  std::string note{};     ///< remark for the user on the plan; or empty
};

/// The memory that this rank of a sort may use.
struct SortMemory {
  std::uint64_t bytes = 0;
  bool given = false;  ///< the user gave it; it then counts instead of that of the cluster file
};

/// What the command does with the shares.
struct ShareUse {
  std::size_t record_bytes = 0;
  bool measures = false;                       ///< it can measure the ranks' rates: auto is the default
  bool root_sends = false;                     ///< rank 0 alone has the input
  std::optional<CurveTable> curves{};          ///< curves of earlier runs
  bool synced = true;                          ///< the command waits until its output is on the disk
  std::optional<sort::RecordLayout> layout{};  ///< records of a sort; none = another command
  std::optional<SortMemory> memory{};  ///< memory of a sort, whose whole run can be predicted; none = another command
};

/// How the ranks share records. Auto takes the exact strategy for the speeds or the cluster file: `phases`, if the file
/// describes whole runs. If rank 0 sends the input and the file says what that costs, a scatter's strategy divides the
/// input for auto and phases. Curves of all ranks are preferred to speeds and cluster file; learned without curves
/// follows the speeds, else it is auto. With none of them: `by_rates`, or equal where the command cannot measure. Nodes
/// of a cluster file are matched to ranks by host name, each node once; where no name fits any rank, in order. Throws:
/// RequestError when speeds or nodes do not fit the ranks; partition::PlanError for a strategy or file that cannot be
/// used; plans throw PlanError too. Rank 0 reads the cluster file, for all. Collective. Throws: also sort::PeerFailed.
RankPlanner rank_planner(const ShareRequest& request, comm::Communicator& ranks, const ShareUse& use);

}  // namespace hetsort::job
