// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
//
// How phase exchange uses a rank's memory.
#pragma once

#include <optional>
#include <span>
#include <vector>

#include "io/calls/buffer.h"
#include "io/shared_buffer.h"
#include "sort/exchange/plan_exchange.h"
#include "sort/exchange/run_portions.h"
#include "sort/model/rank_context.h"
#include "sort/runs/form_runs.h"

namespace hetsort::sort {

/// If all runs of this rank are in memory and streams are large, the blocks that arrive have memory that other ranks of
/// its host can map. These make their blocks there, and send only the trailers. Ranks that spilled send and receive
/// whole blocks.
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

  /// The name of the memory for blocks that arrive; names nothing if it is not shared.
  io::SharedBuffer::Name shared_name() const { return shared_in_ ? shared_in_->name() : io::SharedBuffer::Name{}; }
  /// Maps the memory that other ranks of this host share, as far as this is possible. `names`: of all ranks.
  void map_neighbours(const std::vector<io::SharedBuffer::Name>& names);
  /// The buffers in which thread `thread` of another rank receives this rank's run number `run`; none if that rank's
  /// memory is not mapped.
  std::optional<BlockRing> ring_at(std::size_t rank, std::size_t thread, std::size_t run) const;

 private:
  const ExchangePlan& plan_;
  const comm::Communicator& ranks_;
  std::size_t out_bytes_;
  std::size_t in_bytes_;  // bytes for each thread
  std::optional<io::Buffer> own_memory_;
  std::optional<io::SharedBuffer> shared_in_;
  std::vector<std::optional<io::SharedBuffer>> neighbours_;  // by rank, if any is mapped
  std::span<std::byte> out_;
  std::vector<Thread> threads_;
};

}  // namespace hetsort::sort
