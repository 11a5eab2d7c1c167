// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
//
// What tests change about a sort, beyond what a user can ask for.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>

#include "sort/model/input_segments.h"
#include "sort/model/shares.h"

namespace hetsort::sort {

struct Claim;  // claim_table.h

/// How ranges of the output move between ranks while they are merged (sort/deal/deal_table.h).
struct Redeal {
  std::uint64_t parts = 0;               ///< ranges of each thread; 0 = as many as pay off, none for a small output
  std::optional<std::uint64_t> seed{};   ///< move ranges at random
  std::function<void()> before_range{};  ///< called by each thread before it merges a range
};

/// Empty in the program. All members are optional.
struct TestHooks {
  /// Whether sorted stretches of the input may be merged as they are.
  bool uses_order_of_input = true;
  /// Maximum bytes of a spilled or exchanged block; any size works. 0 = what memory and devices ask for.
  std::uint64_t block_bytes = 0;
  /// Replaces the least bytes of the mean stream if several threads of a rank merge, or if ranks of one host share
  /// memory; 0 = both always. Has the same value on all ranks.
  std::optional<std::uint64_t> min_stream_bytes{};
  /// Replaces the memory for lines of streams that a thread merges in the exchange.
  std::optional<std::uint64_t> held_line_bytes{};
  /// Replaces the work that was measured on this rank, so that output shares by measured rates repeat.
  std::function<Work(const Work& measured)> judge_work{};
  /// Replaces the number of rounds in which links are measured, with few bytes each. The same on all ranks.
  std::optional<int> probe_rounds{};
  /// Called with the name of each phase that begins, on the thread that begins it.
  std::function<void(const std::string&)> on_phase{};
  /// Called with each claim of this rank, the last and empty one included.
  std::function<void(const Claim&)> on_claim{};
  /// Cuts this rank's input into segments in place of the planner. Not called for a stream of unknown size.
  TakeSegments take_segments{};
  /// Replaces how ranges of the output move, where they may. The same on all ranks.
  Redeal redeal{};
};

}  // namespace hetsort::sort
