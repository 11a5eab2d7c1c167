// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
//
// The options by which sort and gen share records among ranks: --strategy, --speeds, --cluster.
#pragma once

#include <boost/program_options.hpp>
#include <optional>
#include <string>
#include <vector>

#include "cli/options/typed_options.h"
#include "cli/shared/curve_table.h"
#include "comm/communicator.h"
#include "sort/model/shares.h"

namespace hetsort::cli {

struct ShareRequest {
  std::string strategy;  ///< empty = auto for a sort of several ranks, see rank_planner(); else as for `plan`
  std::vector<double> speeds;
  std::string cluster_path;
  std::string learn_path;  ///< empty = nothing is learned
};

/// Adds --speeds and --cluster.
void add_share_options(boost::program_options::options_description& options);
/// The request of these options and, where the command has it, of --learn. Throws: UsageError.
ShareRequest requested_shares(const boost::program_options::variables_map& values);
/// Checks that there is such a strategy. Throws: partition::PlanError if there is none.
void check_strategy(const std::string& name);
/// The type of the value of --strategy.
OptionValue<std::string>* strategy_name(const char* name);
/// Checks that the strategy has the options that it needs. Throws: UsageError if one is missing.
void check_shares(const ShareRequest& request);

/// How the ranks of a job share records.
struct RankPlanner {
  sort::PlanShares output;
  sort::PlanShares input{};  ///< plan of an input that rank 0 sends; empty = as the output's plan says
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
  bool measures = false;               ///< it can measure the ranks' rates: auto is the default
  bool root_sends = false;             ///< rank 0 alone has the input
  std::optional<CurveTable> curves{};  ///< curves of earlier runs
  bool synced = true;                  ///< the command waits until its output is on the disk
  std::optional<SortMemory> memory{};  ///< memory of a sort, whose whole run can be predicted; none = another command
};

/// How the ranks share records. Auto takes the exact strategy for the speeds or the cluster file: `phases`, if the file
/// describes whole runs. If rank 0 sends the input and the file says what that costs, a scatter's strategy divides the
/// input for auto and phases. Curves of all ranks are preferred to speeds and cluster file; learned without curves
/// follows the speeds, else it is auto. With none of them: `by_rates`, or equal where the command cannot measure. Nodes
/// of a cluster file are matched to ranks by host name, each node once; where no name fits any rank, in order. Throws:
/// UsageError when speeds or nodes do not fit the ranks; partition::PlanError for a strategy or file that cannot be
/// used; plans throw PlanError too. Rank 0 reads the cluster file, for all. Collective. Throws: also sort::PeerFailed.
RankPlanner rank_planner(const ShareRequest& request, comm::Communicator& ranks, const ShareUse& use);

}  // namespace hetsort::cli
