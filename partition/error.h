// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
//
// The errors of the planner.
#pragma once

#include "cost/error.h"
