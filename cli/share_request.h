// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
//
// The options by which sort and gen share records among ranks: --strategy, --speeds, --cluster.
#pragma once

#include <boost/program_options.hpp>
#include <functional>
#include <string>
#include <vector>

#include "partition/plan.h"
#include "sort/comm/communicator.h"
#include "sort/shares.h"

namespace hetsort::cli {

struct ShareRequest {
  std::string strategy;  ///< empty = lambert with speeds, threshold with a cluster file, else equal
  std::vector<double> speeds;
  std::string cluster_path;
};

void add_share_options(boost::program_options::options_description& options);
/// Throws: UsageError.
ShareRequest requested_shares(const boost::program_options::variables_map& values);

/// A plan whose nodes are the ranks, in the order in which a root would serve them.
struct RankPlan {
  partition::Plan plan;
  std::vector<int> rank_of_node;
  bool in_seconds = false;  ///< its times; else in work units
};
using PlanRanks = std::function<RankPlan(std::uint64_t records)>;

/// How the ranks share records. Nodes of a cluster file are matched to ranks by host name, each node once; where no
/// name fits any rank, in order. Throws: UsageError when speeds or nodes do not fit the ranks;
/// partition::PlanError for a strategy or file that cannot be used; the result throws PlanError too.
PlanRanks rank_planner(const ShareRequest& request, const sort::Communicator& ranks, std::size_t record_bytes);
/// The same as the sort wants it.
sort::PlanShares plan_shares_by(const PlanRanks& planner);

}  // namespace hetsort::cli
