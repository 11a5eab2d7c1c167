// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
//
// The sort itself as a program. Its prediction agrees with run/predict_run.h.
//
//   form_runs   streams its input through a sort; what memory does not hold spills; ends when all have ended
//   exchange    an all-to-all in which nodes merge while they receive, and write
//   publish     ends when all have published
#pragma once

#include "bench/research/mheta/program_model.h"
#include "partition/run/run_model.h"

namespace hetsort::research {

/// The sort of `records` records as a program. Throws: PlanError as the constructor of ProgramModel.
ProgramModel sort_program(const partition::RunModel& model, std::int64_t records);

}  // namespace hetsort::research
