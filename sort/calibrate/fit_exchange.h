// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
//
// The costs of messages and links with which the model of a run reproduces measured exchanges.
//
// In: the measured exchanges of sorts that differ in what binds them. Out: four numbers: what a byte that is received
// and one that is sent cost the processor, in parts of the cost of merging a record; how much longer links take than
// they did when they were measured; and the seconds of an exchange that no resource explains. Links take longer because
// in an exchange all of them are busy in both directions, and lost packets of one stream hold up the merge of all.
// Idea: least squares of the logarithms of predicted / measured, where large differences count linearly (Huber), so
// that one disturbed sort does not decide. If the processor time of a rank is known, the prediction for its processor
// is compared, too. Otherwise an exchange that waits for links says only that processors do not take longer. Cost: some
// hundreds of predictions of each exchange.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "partition/run/run_model.h"

namespace hetsort::sort {

/// The exchange of a sort by all ranks.
struct MeasuredExchange {
  std::vector<std::int64_t> input;  ///< records of each rank
  std::vector<std::int64_t> output;
  double seconds = 0;             ///< time of the latest rank
  std::vector<double> processor;  ///< processor seconds of each rank; 0 = unknown
};

struct FittedCosts {
  double in = 0;   ///< cost of a byte that is received, in parts of merging a record
  double out = 0;  ///< cost of a byte that is sent
  double unexplained_seconds = 0;
  double links = 1;  ///< time that links take, in parts of the time that follows from their measured rates
};

/// Sets the message costs of all ranks, and lowers the rates of their links.
void use_fit(partition::RunModel& model, const FittedCosts& fit);

/// The best fit. All numbers are 0, and that of links is 1, if they explain nothing. Requires: a valid model; for each
/// exchange one number for each rank, and seconds above 0.
FittedCosts fit_exchange(partition::RunModel model, std::span<const MeasuredExchange> exchanges);

}  // namespace hetsort::sort
