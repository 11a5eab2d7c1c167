// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
//
// How phase exchange uses a rank's memory.
#pragma once

#include <optional>
#include <span>
#include <vector>

#include "io/calls/buffer.h"
#include "sort/exchange/plan_exchange.h"
#include "sort/model/rank_context.h"
#include "sort/runs/form_runs.h"

namespace hetsort::sort {

class ExchangeMemory {
 public:
  struct Thread {
    std::span<std::byte> in;   ///< blocks that arrive
    std::span<std::byte> own;  ///< blocks of own spilled runs that are read
    std::span<std::byte> staging;
    std::span<Element> scratch;
  };

  /// Cuts the memory for blocks from the arena if all runs are on disk, and from the slot if some are. Allocates it if
  /// that is too small for two blocks a stream, or if all runs are in memory.
  ExchangeMemory(const FormedRuns& runs, const ExchangePlan& plan, const RankContext& context);

  /// Whether the arena is used.
  bool is_in_arena() const { return !own_memory_; }
  /// Memory for blocks that leave.
  std::span<std::byte> out() const { return out_; }
  const Thread& of_thread(std::size_t thread) const { return threads_[thread]; }

 private:
  std::size_t out_bytes_;
  std::size_t in_bytes_;  // bytes for each thread
  std::optional<io::Buffer> own_memory_;
  std::span<std::byte> out_;
  std::vector<Thread> threads_;
};

}  // namespace hetsort::sort
