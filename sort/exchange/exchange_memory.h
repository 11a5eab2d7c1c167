// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
//
// How phase exchange uses a rank's memory.
#pragma once

#include <optional>
#include <span>
#include <vector>

#include "io/buffer.h"
#include "sort/exchange/plan_exchange.h"
#include "sort/rank_context.h"
#include "sort/runs/form_runs.h"

namespace hetsort::sort {

class ExchangeMemory {
 public:
  struct Thread {
    std::span<std::byte> in;   ///< for blocks that arrive
    std::span<std::byte> own;  ///< for reading own spilled runs
    std::span<std::byte> staging;
    std::span<Element> scratch;
  };

  /// If runs are in memory, allocates the memory for blocks; own spilled runs are read to where they were formed.
  /// Otherwise cuts the arena. If the arena is too small for two blocks a stream, allocates memory of its own instead
  /// of failing.
  ExchangeMemory(const FormedRuns& runs, const ExchangePlan& plan, const RankContext& context);

  /// For blocks that leave.
  std::span<std::byte> out() const { return out_; }
  const Thread& of_thread(std::size_t thread) const { return threads_[thread]; }

 private:
  void allocate_beside_records(const FormedRuns& runs, const ExchangePlan& plan, const RankContext& context);
  void cut_arena(const FormedRuns& runs, const ExchangePlan& plan, const RankContext& context);

  std::size_t out_bytes_;
  std::size_t in_bytes_;  // of a thread
  std::optional<io::Buffer> own_memory_;
  std::span<std::byte> out_;
  std::vector<Thread> threads_;
};

}  // namespace hetsort::sort
