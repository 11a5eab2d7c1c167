// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
//
// hetsort sort -c and -C: checks whether an input is in order, and sorts nothing.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "comm/communicator.h"
#include "job/request/request.h"
#include "sort/model/sort_options.h"

namespace hetsort::cli {

/// Whether the order of the input is checked instead of sorting it: -c and -C.
enum class OrderCheck : std::uint8_t { kNone, kReport, kQuiet };

/// Exit status of an input that is not in order, as in sort(1).
inline constexpr int kExitDisorder = 1;

/// What a check needs besides the options of the sort.
struct OrderCheckRequest {
  OrderCheck check;
  bool quiet;
  const job::SortRequest& request;
};

/// Refuses more than one INPUT. Throws: UsageError.
void require_one_input(const std::vector<std::string>& inputs, OrderCheck check);

/// Reads the one INPUT and reports the first record that is not in order, unless that is to be done quietly. Returns
/// the exit status. Collective. Throws: UsageError on several ranks; io::Error.
int check_order(sort::SortOptions options, const OrderCheckRequest& request, comm::Communicator& ranks);

}  // namespace hetsort::cli
