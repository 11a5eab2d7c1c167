// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
//
// Setting up the problem "scatter" (Genaud, Giersch, Vivien 2003): the root and the sending order.
#pragma once

#include <cstddef>
#include <optional>

#include "problem.h"
#include "strategy.h"

namespace hetsort::partition {

enum class SendingOrder {
  kBandwidth,  ///< decreasing bandwidth from the root: optimal for rational shares and linear costs
  kGiven,      ///< the order in which the nodes stand
};

/// Makes a scatter of `problem` from nodes[root]: nodes in sending order (equal bandwidths keep their order), the root
/// last and receiving for nothing. If the problem has a link matrix, receive costs are those of the root's row.
/// Bandwidth is compared by the time to receive all records. Requires: root < number of nodes. Throws: PlanError naming
/// a node other than the root without a receive cost. Complexity: O(p log p).
Problem arrange_scatter(Problem problem, std::size_t root, SendingOrder order);

/// The arrangement whose plan by `choice` finishes first, trying every node as root. The records lie on `data_node`:
/// any other root first gets them all from it (added to start_delay). Without a data node they are wherever the root
/// is. Without a link matrix, sending to a node is assumed to cost its receive cost from every root; a root for which
/// one is missing is not tried. Throws: PlanError when no node can be root, and what the strategy throws. Complexity: p
/// times the strategy's.
Problem choose_root(const Problem& problem, std::optional<std::size_t> data_node, SendingOrder order,
                    const StrategyChoice& choice);

}  // namespace hetsort::partition
