// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
//
// What a number of records costs on a node: seconds, or work units when only relative speeds are known. In: formulas,
// measured points or a caller's function. Out: cost functions with their inverses (the folder cost/).
#pragma once

#include "cost/cost_function.h"
#include "cost/formula_costs.h"
#include "cost/measured_costs.h"
