// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
//
// hetsort sort -c and -C: checks whether an input is in order, and sorts nothing.
#pragma once

#include "cli/commands/sort_request.h"
#include "comm/agreement.h"

namespace hetsort::cli {

/// Exit status of an input that is not in order, as in sort(1).
inline constexpr int kExitDisorder = 1;

/// Reads the one INPUT and reports the first record that is not in order, unless the request is quiet. Returns the exit
/// status. Collective. Throws: UsageError on several ranks; io::Error.
int check_order(const SortRequest& request, const comm::Communicator& ranks);

}  // namespace hetsort::cli
