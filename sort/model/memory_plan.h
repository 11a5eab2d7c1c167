// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
//
// How a rank's memory is dealt out: whether the input fits, and otherwise how much of it stays in memory and the sizes
// of runs, blocks and staging. All of it is cut from one arena that is reused from phase to phase.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>

#include "sort/machine/pages.h"
#include "sort/model/record_order.h"

namespace hetsort::sort {

/// Bytes of the largest and of the smallest block. Larger blocks only cost memory: blocks of this size reach a device's
/// full rate. With smaller blocks rates fall, and one more pass is cheaper.
inline constexpr std::uint64_t kMaxBlockBytes = std::uint64_t{1} << 20;
inline constexpr std::uint64_t kMinBlockBytes = std::uint64_t{64} << 10;
/// If records are in memory, the exchange gets 1/kExchangeShare of it: a few blocks suffice, and the records need the
/// rest.
inline constexpr std::uint64_t kExchangeShare = 16;

/// The memory that the records of a run may occupy where they are read to: direct reads of inputs of a mebibyte and
/// more fill whole pages at both ends of each input; behind them are some pages of slack.
constexpr std::uint64_t run_room_bytes(std::uint64_t run_bytes) {
  return round_up(run_bytes, kPageBytes) + 2 * kPageBytes * (run_bytes >> 20) + 6 * kPageBytes;
}

struct MemoryRequest {
  RecordLayout layout;
  std::uint64_t mean_record_bytes = 0;  ///< expected bytes of a record; at least layout.record_bytes are assumed
  std::uint64_t memory_bytes = 0;
  std::size_t threads = 1;
  /// The size of the input, 0 for a stream of unknown size; and the memory that its placed segments need, 0 for a
  /// stream.
  std::uint64_t input_bytes = 0;
  std::uint64_t placed_bytes = 0;
  bool stream = false;
  /// The records lie in memory of the caller: this memory is for their index and for blocks.
  bool elsewhere = false;
  std::uint64_t segments = 1;  ///< maximum number of segments of the input; no run spans two
  /// Minimum runs of a thread, unless they would be tiny: other ranks may take runs that it has not begun.
  std::uint64_t runs_a_thread = 1;
  /// Memory for exchanging records. It is left out of the arena if all records stay in memory, and is a part of the
  /// slot if some do.
  std::uint64_t exchange_bytes = 0;
  /// Threads and runs of the other ranks together: their streams need blocks in the slot.
  std::uint64_t other_threads = 0;
  std::uint64_t other_runs = 0;
  std::uint64_t max_merged_runs = std::numeric_limits<std::uint64_t>::max();  ///< maximum runs of one merge
  /// Plan for runs that spill, even if the records would fit: there is no room for the blocks of the exchange beside
  /// them.
  bool must_spill = false;
};

struct MemoryPlan {
  std::size_t threads = 1;  ///< number of threads for which the memory suffices; at most what was asked
  bool in_memory = false;   ///< all records stay in memory; a stream shows this when it ends within stream_bytes
  std::uint64_t arena_bytes = 0;
  std::uint64_t exchange_bytes = 0;  ///< exchange_bytes of the request; used if runs are in memory

  // Each thread has for itself, in all phases:
  std::uint64_t scratch_bytes = 0;  ///< room for sorting one bucket
  std::uint64_t staging_bytes = 0;  ///< room for blocks that are written in the background
  std::size_t staging_blocks = 0;
  std::uint64_t largest_block_bytes = 0;  ///< bytes of spilled blocks that staging has room for

  std::size_t merging_threads = std::numeric_limits<std::size_t>::max();  ///< limit for the exchange; all know it

  // All threads form one run after the other in the slot: the memory behind the records that stay in memory. They do so
  // if runs of their own would be so small that one pass could not merge them, and always if some records stay in
  // memory: the front of an input of known size that does not fit but is not many times as large. The exchange then has
  // its blocks in the slot.
  bool forms_together = false;
  std::uint64_t kept_bytes = 0;       ///< bytes of records that stay in memory; 0 = all spill
  std::uint64_t kept_room_bytes = 0;  ///< front of the arena, for these records and their indexes
  std::uint64_t slot_runs = 0;        ///< spilled runs for whose streams the slot has blocks

  // Runs that spill. A thread that forms its own runs holds two of them (one being read) or, of a stream, one.
  std::uint64_t run_bytes = 0;  ///< bytes of records in the largest run
  std::uint64_t run_count = 0;  ///< maximum number of runs; unknown (0) for a stream
  std::uint64_t spill_block_bytes = 0;
  std::uint64_t prefix_bytes = std::numeric_limits<std::uint64_t>::max();     ///< bytes of a run for each key in memory
  std::uint64_t max_merged_runs = std::numeric_limits<std::uint64_t>::max();  ///< limit of the request
  std::uint64_t stream_bytes = 0;    ///< bytes of a stream that are read before it spills; 0 = it spills in any case
  std::uint64_t max_line_bytes = 0;  ///< longest line that spills, with its terminator

  /// The memory of a thread that forms its own runs: an equal part of the arena without the room of records that stay.
  std::uint64_t thread_bytes() const { return (arena_bytes - kept_room_bytes) / threads; }
  std::uint64_t slot_bytes() const { return arena_bytes - threads * (scratch_bytes + staging_bytes) - kept_room_bytes; }
  /// The maximum number of blocks that all runs that spill fill.
  std::uint64_t spilled_blocks(std::uint64_t input_bytes, std::uint64_t record_bytes) const;
};

/// The greatest length of a line, with its terminator, in a sort, merge or check with such memory: an eighth of it, or
/// a mebibyte if that is more.
std::uint64_t max_line_bytes(std::uint64_t memory_bytes);

/// Plans a rank's memory. Never refuses: memory below a floor (a few records and blocks a thread) is taken as that
/// floor.
MemoryPlan plan_memory(const MemoryRequest& request);

/// The number of records that fit memory beside their index, a thread's blocks and the blocks of an exchange;
/// 0 if the memory is below the floor.
std::uint64_t records_in_memory(const RecordLayout& layout, std::uint64_t memory_bytes);

/// The plan for a single thread, whose runs have room for two lines of any length that is allowed.
MemoryPlan plan_alone(MemoryPlan plan);

/// The maximum number of spilled runs that one pass can merge, at least two: each thread's memory holds two blocks of
/// each and, of lines, the longest; and the request allows it.
std::uint64_t max_runs(const MemoryPlan& plan, std::uint64_t block_bytes, std::uint64_t longest_line = 0);

/// This plan with as many threads as can merge `runs` spilled runs in one pass. If these are fewer than two thirds of
/// all, the plan as it is: then a further pass takes less time.
MemoryPlan plan_merge(MemoryPlan plan, std::uint64_t runs, std::uint64_t block_bytes, std::uint64_t longest_line = 0);

/// The number of threads of `plan` that may merge lines of up to `longest_line` bytes at the same time.
std::size_t threads_that_merge(const MemoryPlan& plan, std::uint64_t longest_line);

/// The threads of `plan` that may write a run of lines in memory at the same time. `used_bytes`: what the run and its
/// index take of the arena. 0 if there is no room for a single one: then the run spills.
std::size_t threads_that_write(const MemoryPlan& plan, std::uint64_t used_bytes, std::uint64_t longest_line);

/// The threads of `plan` of one of several ranks that may merge lines at the same time while the rank keeps a run of
/// lines in memory. `used_bytes`: what the run and its index take. `room_bytes`: the memory of the rank, with
/// beside_memory_bytes(). 0 if there is no room for a single one: then the run spills.
std::size_t threads_that_exchange(const MemoryPlan& plan, std::uint64_t room_bytes, std::uint64_t used_bytes,
                                  std::uint64_t longest_line);

/// Bytes that a rank may use beside its memory. The rest of the 96 MiB that the process has beside it is for the
/// program and MPI, whose shared memory grows with the ranks on the host.
std::uint64_t beside_memory_bytes(std::uint64_t ranks_on_host);

/// The block of whole pages nearest below `target` that holds whole records, at least one: without padding where
/// lcm(record, page) is small enough, else padded.
std::uint64_t block_near(std::uint64_t target, const RecordLayout& layout);
/// block_near(), but within the limits of spilled blocks.
std::uint64_t spill_block_bytes(std::uint64_t target, const RecordLayout& layout);

/// Memory of a thread that remains for reading runs while merging.
std::uint64_t merge_memory_bytes(const MemoryPlan& plan);

}  // namespace hetsort::sort
