// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
//
// The context of one rank: what all of its phases work with.
#pragma once

#include <cstddef>
#include <span>
#include <string>

#include "comm/communicator.h"
#include "sort/machine/pages.h"
#include "sort/model/memory_plan.h"
#include "sort/model/monitor.h"
#include "sort/model/record_order.h"
#include "sort/model/sort_options.h"

namespace hetsort::sort {

/// The memory of one thread.
struct ThreadMemory {
  std::span<std::byte> records;  ///< room for the thread's runs, or for what it reads while it merges
  std::span<Element> scratch;    ///< room for sorting one bucket
  std::span<std::byte> staging;  ///< room for blocks that are being written
};

/// How much a byte counts in the work of a job, see Monitor::plan_work().
struct WorkWeights {
  double form = 1;   ///< a byte that is read and indexed, or read and spilled by one thread
  double spill = 0;  ///< a byte that is written as part of a run that all threads form together
  double merge = 1;  ///< a byte that is written to the output
};

class Checkpoint;  // sort/checkpoint/checkpoint.h

struct RankContext {
  RecordLayout layout;
  MemoryPlan plan;
  std::span<std::byte> arena;  ///< plan.arena_bytes bytes, page-aligned
  comm::Communicator* ranks = nullptr;
  Monitor* monitor = nullptr;
  const SortOptions* options = nullptr;  ///< what the user asked; a sort of records in memory has the defaults
  WorkWeights weights{};
  Checkpoint* checkpoint = nullptr;  ///< keeps all runs; null = none are kept

  std::size_t rank() const { return static_cast<std::size_t>(ranks->rank()); }
  /// Reports to the monitor and the other ranks that a phase begins. `weight`: how much its bytes count, see
  /// WorkWeights.
  void begin_phase(const std::string& phase, double weight = 0) const {
    monitor->begin_phase(phase, weight);
    if (options->hooks.on_phase) options->hooks.on_phase(phase);
    ranks->set_phase(phase);
  }

  /// Whether parts of the input that are sorted are runs where they lie.
  bool finds_runs_in_place() const { return options->hooks.uses_order_of_input && checkpoint == nullptr; }

  /// This context with all memory for a single thread.
  RankContext alone() const {
    RankContext one = *this;
    one.plan = plan_alone(plan);
    return one;
  }

  // The arena while all threads share the records: records in front, scratch and staging of each thread behind.

  std::span<std::byte> shared_records() const { return arena.first(arena.size() - plan.threads * own_bytes()); }
  /// The two parts of the shared records: the records that stay in memory, and behind them the slot, the room of one
  /// run that spills.
  std::span<std::byte> kept_room() const { return arena.first(plan.kept_room_bytes); }
  std::span<std::byte> slot() const { return shared_records().subspan(plan.kept_room_bytes); }
  ThreadMemory beside_shared(std::size_t thread) const {
    return cut(arena.subspan(shared_records().size() + thread * own_bytes(), own_bytes()));
  }

  /// A thread's memory while each thread has records of its own: an equal area behind the records that stay in memory.
  ThreadMemory memory_of(std::size_t thread) const {
    const std::size_t bytes = plan.thread_bytes() / kPageBytes * kPageBytes;
    return cut(arena.subspan(plan.kept_room_bytes + thread * bytes, bytes));
  }

 private:
  std::size_t own_bytes() const { return plan.scratch_bytes + plan.staging_bytes; }
  ThreadMemory cut(std::span<std::byte> memory) const {
    const std::span<std::byte> scratch = memory.subspan(memory.size() - own_bytes(), plan.scratch_bytes);
    return {memory.first(memory.size() - own_bytes()),
            {reinterpret_cast<Element*>(scratch.data()), scratch.size() / sizeof(Element)},
            memory.last(plan.staging_bytes)};
  }
};

}  // namespace hetsort::sort
