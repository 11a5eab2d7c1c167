// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
//
// Sorts a run that is in a thread's memory and writes it to the spill space.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "io/queue.h"
#include "io/temp/spill.h"
#include "sort/input/input.h"
#include "sort/output/order_verifier.h"
#include "sort/output/staging.h"
#include "sort/parallel.h"
#include "sort/rank_context.h"
#include "sort/runs/form_runs.h"
#include "sort/runs/run.h"

namespace hetsort::sort {

/// Records are added to an index in pieces of this size: they are still in the second-level cache when their keys are
/// taken after their fingerprint.
inline constexpr std::uint64_t kIndexPieceBytes = std::uint64_t{256} << 10;

/// The records of one run in a thread's memory.
struct LoadedRun {
  std::byte* base = nullptr;
  std::vector<Segment> segments;
  std::uint64_t first_record = 0;  // in the whole input

  std::uint64_t bytes() const {
    std::uint64_t sum = 0;
    for (const Segment& segment : segments) sum += segment.bytes;
    return sum;
  }
};

/// Makes the space into which `runs` spill. Throws: io::Error.
void make_spill_space(const RankContext& context, const SpillOptions& options, FormedRuns& runs);

/// Writes a run in memory to the space of `runs`, with all threads: each sorts and writes whole blocks of it.
/// Throws: io::Error.
SpilledRun spill_memory_run(const MemoryRun& run, const RankContext& context, FormedRuns& runs);

/// Sorts loaded runs and spills them. Thread safety: one thread.
class RunSpiller {
 public:
  /// `memory`: of the thread; its staging and scratch are used. `backend`: how `space` is written.
  RunSpiller(const RankContext& context, const ThreadMemory& memory, io::SpillSpace& space, io::Backend backend);

  /// Sorts `run` with an index in `pool` and writes it. Adds its records to `digest`.
  /// Throws: Stopped when `stop` is set; io::Error.
  SpilledRun spill(const LoadedRun& run, std::span<std::byte> pool, MultisetDigest& digest, const StopFlag& stop);

 private:
  const RankContext& context_;
  ThreadMemory memory_;
  io::SpillSpace& space_;
  std::unique_ptr<io::Queue> queue_;
  StagingRing ring_;
};

}  // namespace hetsort::sort
