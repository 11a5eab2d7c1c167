// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
//
// Sorts a run that is in a thread's memory and writes it to the spill space.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <vector>

#include "io/temp/spill.h"
#include "io/temp/spill_packer.h"
#include "io/transfer/queue.h"
#include "sort/input/input.h"
#include "sort/machine/parallel.h"
#include "sort/model/rank_context.h"
#include "sort/model/record_order.h"
#include "sort/model/run.h"
#include "sort/output/staging.h"
#include "sort/runs/form_runs.h"

namespace hetsort::sort {

/// Records are added to an index in pieces of this size: they are still in the second-level cache when their keys are
/// taken after their fingerprint.
inline constexpr std::uint64_t kIndexPieceBytes = std::uint64_t{256} << 10;

/// The runs that one thread has spilled.
struct SpilledByThread {
  MultisetDigest digest;
  std::vector<SpilledRun> runs;
  std::uint64_t longest_line = 0;  ///< bytes of the longest line; 0 without lines

  /// Moves all runs and counts to `formed`; afterwards the object is empty again.
  void move_to(FormedRuns& formed);
};

/// Whether a loaded run of `lines` lines can be written from where it lies: its long lines are copied meanwhile. With
/// several ranks true: see spill_kept_lines().
/// Throws: LongLine.
bool keeps_lines(const RankContext& context, const LoadedRun& loaded, const BucketIndex& index, std::uint64_t lines);

/// Makes a run in memory of `records` loaded records or lines, with an index in `pool`. Adds them to the digest of
/// `runs`.
MemoryRun index_loaded(const RankContext& context, const LoadedRun& loaded, std::uint64_t records,
                       std::span<std::byte> pool, FormedRuns& runs);

/// The number of records, or lines, of a loaded run.
std::uint64_t count_lines(const RankContext& context, const LoadedRun& loaded);

/// Spills what is left of a stream: threads take turns to read a run with `read_next`, and sort and spill it while
/// another thread reads. `read_next` gets memory for plan.run_bytes and returns what it has read there, nothing at the
/// end.
void spill_in_turns(const RankContext& context, FormedRuns& runs,
                    const std::function<LoadedRun(std::span<std::byte> memory)>& read_next);

/// Sorts lines that fill the front of the shared memory, one part a thread, and spills the parts as runs. The indexes
/// take what is left of that memory.
void spill_loaded_lines(const RankContext& context, const LoadedRun& loaded, FormedRuns& runs);

/// Spills the lines that `runs` keep in memory. One of several ranks does this if the longest line of all ranks, which
/// it learns only after the phase, leaves no room for them. Requires: `runs.kept_lines`.
void spill_kept_lines(const RankContext& context, FormedRuns& runs);

/// Makes the space into which `runs` spill, unless there is one. Throws: io::Error.
void make_spill_space(const RankContext& context, const SpillOptions& options, FormedRuns& runs);

/// Reserves the disk space of all blocks into which `runs` spill an input of known size. Throws: io::Error.
void reserve_spill_space(const Input& input, const RankContext& context, const FormedRuns& runs);

/// Writes a run in memory to the space of `runs`, with all threads: each sorts and writes whole blocks of it. `before`:
/// the digest of `runs` without this run, if it goes to a checkpoint. Throws: io::Error.
SpilledRun spill_memory_run(const MemoryRun& run, const RankContext& context, FormedRuns& runs,
                            const MultisetDigest& before = {});

/// Sorts loaded runs and spills them. Thread safety: one thread.
class RunSpiller {
 public:
  /// `memory`: the thread's; its staging and scratch are used. `backend`: how `space` is written.
  RunSpiller(const RankContext& context, const ThreadMemory& memory, io::SpillSpace& space, io::Backend backend);

  /// Sorts `run` with an index in `pool` and writes it, unless it is sorted where it lies. If the pool has no room for
  /// all of a run's lines, they become several runs. Adds what it has read and written to `to`. Throws: Stopped when
  /// `stop` is set; LongLine; io::Error.
  void spill(const LoadedRun& run, std::span<std::byte> pool, SpilledByThread& to, const StopFlag& stop);

 private:
  SpilledRun spill_pieces(const LoadedRun& run, std::span<const Segment>& left, std::span<std::byte> pool,
                          SpilledByThread& to, const StopFlag& stop);
  void check_longest(const LoadedRun& run, std::uint64_t longest, SpilledByThread& to) const;
  SpilledRun write_run(const BucketIndex& index, const RecordMemory& memory, const StopFlag& stop);

  const RankContext& context_;
  ThreadMemory memory_;
  io::SpillSpace& space_;
  std::unique_ptr<io::Queue> queue_;
  StagingRing ring_;
  io::SpillPacker packer_;
};

}  // namespace hetsort::sort
