// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
//
// `hetsort plan --program`: problems of programs, as MHETA sees them.
#pragma once

#include "cli/plan/plan_request.h"

namespace hetsort::cli {

ProgramModels program_models();

}  // namespace hetsort::cli
