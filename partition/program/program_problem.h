// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
//
// A program as a problem of shares: its rows are the records, and the cost of a node is the time of all iterations
// without waiting for others. Every strategy applies; MHETA then predicts the time with waiting.
#pragma once

#include <memory>

#include "../cost.h"
#include "../problem.h"
#include "program_model.h"

namespace hetsort::partition {

/// The cost of a node. Costs rise with the rows except for small falls where a variable leaves memory or a prefetch
/// gets more blocks to hide behind. Plans treat them as rising.
CostPtr program_cost(std::shared_ptr<const ProgramModel> model, std::size_t node);
/// The part of program_cost() that no plan avoids: computing. It never falls.
CostPtr program_computing_cost(std::shared_ptr<const ProgramModel> model, std::size_t node);

/// The problem of sharing `rows` of the program among its nodes.
Problem problem_of_program(std::shared_ptr<const ProgramModel> model, std::int64_t rows);

}  // namespace hetsort::partition
