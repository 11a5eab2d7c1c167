// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
//
// The context of one rank: what all of its phases work with. Layout, memory and monitor.
#pragma once

#include <cstddef>
#include <span>

#include "sort/monitor.h"
#include "sort/plan/memory_plan.h"
#include "sort/record_layout.h"

namespace hetsort::sort {

/// One thread's memory.
struct ThreadMemory {
  std::span<std::byte> records;  ///< the thread's runs, or what it reads while merging
  std::span<Element> scratch;    ///< sorting one bucket
  std::span<std::byte> staging;  ///< writing behind
};

struct RankContext {
  RecordLayout layout;
  MemoryPlan plan;
  std::span<std::byte> arena;  ///< plan.arena_bytes, page-aligned
  Monitor* monitor = nullptr;
  bool checksum = false;  ///< the output's public checksum is wanted too

  /// While threads share the records: all but their scratch and staging, which lie behind.
  std::span<std::byte> shared_records() const { return arena.first(arena.size() - plan.threads * own_bytes()); }
  ThreadMemory beside_shared(std::size_t thread) const {
    return cut(arena.subspan(shared_records().size() + thread * own_bytes(), own_bytes()));
  }
  /// While each thread has records of its own: an equal part of the arena each.
  ThreadMemory part(std::size_t thread) const {
    const std::size_t bytes = plan.thread_bytes() / kPageBytes * kPageBytes;
    return cut(arena.subspan(thread * bytes, bytes));
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
