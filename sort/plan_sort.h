// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
//
// Phase plan_shares on one rank: everything that can be known and checked before the first record is read.
//
// In: the request. Out: opened inputs and output, and how memory and disk will be used.
// Cost: a few calls a file.
#pragma once

#include "sort/input.h"
#include "sort/output.h"
#include "sort/sort.h"

namespace hetsort::sort {

struct PreparedSort {
  Input input;
  Output output;
  SortPlan plan;

  /// Opens, checks and plans.
  /// Throws: RequestError, io::Error, also when a file system lacks the space that will be needed.
  PreparedSort(const SortOptions& options, Monitor& monitor);
};

}  // namespace hetsort::sort
