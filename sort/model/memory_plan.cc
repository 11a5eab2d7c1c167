// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
#include "sort/model/memory_plan.h"

#include <algorithm>
#include <numeric>

#include "sort/model/index_size.h"

namespace hetsort::sort {

namespace {

// One block fills, one is full and the rest are on their way to the device.
constexpr std::size_t kStagingBlocks = 4;
// The number of runs that is planned for a stream, whose number of runs is not known when the block size is chosen.
constexpr std::uint64_t kStreamRuns = 64;
// The size of a stream that spills, as a multiple of the memory, if it is not known.
constexpr std::uint64_t kStreamMemories = 16;
// Memory behind the records of a run: page rounding and the readable slack.
constexpr std::uint64_t kRunSlackBytes = 4 * kPageBytes;
// The smallest run that is made because `runs_a_thread` asks for more runs than memory does.
constexpr std::uint64_t kMinRunBytes = std::uint64_t{1} << 20;
// The address space of a process. An Element has 48 bits for a place in memory, and the index that sizes up to here
// need can be computed in 64 bits.
constexpr std::uint64_t kMaxMemoryBytes = std::uint64_t{1} << 47;
// A line may take this part of the memory.
constexpr std::uint64_t kMaxLinePart = 8;
// A thread that merges has room for so many lines of the greatest length: those of its streams, their keys, and those
// that it verifies.
constexpr std::uint64_t kLinesOfMerge = 8;
// A thread that writes lines of a run in memory verifies them: it holds the first one, the last one and the current
// one.
constexpr std::uint64_t kLinesOfWriter = 3;
// Memory that a process may use beside its arena for them.
constexpr std::uint64_t kBesideArenaBytes = std::uint64_t{32} << 20;

std::uint64_t index_bytes(std::uint64_t bytes, const MemoryRequest& request, std::size_t threads,
                          std::uint64_t indexes = 1) {
  const std::uint64_t each = std::max<std::uint64_t>(request.mean_record_bytes, request.layout.record_bytes);
  return IndexSize::pool_bytes(bytes / each, threads, indexes);
}

/// Largest multiple of the record size for which `needed` stays within `available`. `needed` grows with its argument.
template <typename Needed>
std::uint64_t largest_fitting(std::uint64_t available, std::uint64_t record_bytes, const Needed& needed) {
  std::uint64_t low = 1;
  std::uint64_t high = std::max<std::uint64_t>(2, available / record_bytes + 1);
  while (low + 1 < high) {
    const std::uint64_t middle = low + (high - low) / 2;
    (needed(middle * record_bytes) <= available ? low : high) = middle;
  }
  return low * record_bytes;
}

/// Memory in which all threads together form one run of `bytes`.
std::uint64_t slot_bytes(std::uint64_t bytes, const MemoryRequest& request, std::size_t threads) {
  return run_room_bytes(bytes) + index_bytes(bytes, request, threads) + 2 * kPageBytes;
}

/// A run is 1/kSpilledRuns of what does not fit: more runs cost comparisons, larger ones spill more than necessary.
constexpr std::uint64_t kSpilledRuns = 4;
/// Percentages of the memory for the slot: the first limit holds if the slot grows only to have large runs. Up to the
/// second one the slot grows if merging needs it. Where it needs more, everything spills.
constexpr std::uint64_t kSlotPercent = 50;
constexpr std::uint64_t kMaxSlotPercent = 75;

/// The part of an input that does not fit, and what is needed to decide how much of it stays in memory.
struct Overflow {
  std::uint64_t capacity_bytes = 0;   ///< room for records, indexes and blocks of the exchange
  std::uint64_t exchange_bytes = 0;   ///< part of it that the exchange gets if nothing spilled
  std::uint64_t placement_bytes = 0;  ///< bytes that placing the records costs besides their own bytes
  std::uint64_t fitting_bytes = 0;    ///< records that fit if nothing spilled
  std::uint64_t largest_block_bytes = 0;
};

std::uint64_t kept_room(std::uint64_t bytes, const Overflow& overflow, const MemoryRequest& request,
                        std::size_t threads) {
  return round_up(
      bytes + overflow.placement_bytes + kRunSlackBytes + index_bytes(bytes, request, threads, request.segments),
      kPageBytes);
}

/// The number of spilled runs to have blocks for. A rank that claims its input may take more than was planned.
std::uint64_t runs_to_merge(std::uint64_t runs, const MemoryRequest& request) {
  return request.runs_a_thread > 1 ? 2 * runs : runs;
}

/// The number of streams that need blocks in the slot while `spilled` runs and one in memory are merged.
std::uint64_t slot_streams(std::uint64_t spilled, const MemoryRequest& request, std::size_t threads) {
  return (spilled + 1) * request.other_threads + threads * (request.other_runs + spilled);
}

/// Enters in `plan` how much stays in memory if the runs that spill have `run_bytes`. Returns false if merging these
/// runs would need more memory than the slot.
bool keep_beside_runs_of(std::uint64_t run_bytes, const Overflow& overflow, const MemoryRequest& request,
                         MemoryPlan& plan) {
  const RecordLayout& layout = request.layout;
  const std::uint64_t slot =
      round_up(slot_bytes(run_bytes, request, plan.threads) + overflow.exchange_bytes, kPageBytes);
  const auto room = [&](std::uint64_t bytes) { return kept_room(bytes, overflow, request, plan.threads); };
  const std::uint64_t kept = largest_fitting(overflow.capacity_bytes - slot, layout.record_bytes, room);
  if (room(kept) + slot > overflow.capacity_bytes || kept >= request.input_bytes) return false;
  const std::uint64_t runs = (request.input_bytes - kept + run_bytes - 1) / run_bytes + request.segments - 1;
  const std::uint64_t streams = slot_streams(runs_to_merge(runs, request), request, plan.threads);
  const std::uint64_t block = spill_block_bytes(std::min(overflow.largest_block_bytes, slot / (3 * streams)), layout);
  if (2 * streams * (block + kPageBytes) > slot) return false;
  plan.forms_together = true;
  plan.kept_bytes = kept;
  plan.slot_runs = runs_to_merge(runs, request);
  plan.kept_room_bytes = room(kept);
  plan.run_bytes = run_bytes;
  plan.run_count = runs;
  plan.spill_block_bytes = block;
  return true;
}

/// Plans to keep a part of the input in memory. The runs that spill are as small as merging them allows, because up to
/// one run spills that would have fitted. Leaves `plan` as it is if the slot would be too large.
void keep_what_fits(const MemoryRequest& request, const Overflow& overflow, MemoryPlan& plan) {
  const std::uint64_t record = request.layout.record_bytes;
  const auto slot = [&](std::uint64_t bytes) {
    return slot_bytes(bytes, request, plan.threads) + overflow.exchange_bytes + kPageBytes;
  };
  const std::uint64_t percent = overflow.capacity_bytes / 100;
  const std::uint64_t usual = largest_fitting(percent * kSlotPercent, record, slot);
  const std::uint64_t most = largest_fitting(percent * kMaxSlotPercent, record, slot);
  if (slot(most) > percent * kMaxSlotPercent) return;
  const std::uint64_t beyond = request.input_bytes - std::min(request.input_bytes, overflow.fitting_bytes);
  std::uint64_t run = std::clamp(round_up(std::max(beyond / kSpilledRuns, kMinBlockBytes), record), record, usual);
  // Smaller runs let other ranks take more of those that this rank has not begun.
  if (request.runs_a_thread > 1)
    run = std::min(run, round_up(request.input_bytes / (request.runs_a_thread * plan.threads) + 1, record));
  while (!keep_beside_runs_of(run, overflow, request, plan)) {
    if (run == most) return;
    run = std::min(most, round_up(run + run / 4 + 1, record));
  }
}

/// Whether so little fits that it may spill too: at most 1.15 times what does not fit, and one run.
bool may_all_spill(const MemoryRequest& request, const Overflow& overflow, const MemoryPlan& plan) {
  const std::uint64_t beyond = request.input_bytes - std::min(request.input_bytes, overflow.fitting_bytes);
  // A quarter of the memory at most: a run of a stream that one thread forms would be nearly all of it.
  const std::uint64_t run = std::min(plan.run_bytes, overflow.capacity_bytes / 4);
  return request.input_bytes <= beyond + beyond / 100 * 15 + run;
}

/// Three blocks a stream where there is room: one being merged, two on their way.
std::uint64_t block_for(std::uint64_t runs, std::uint64_t largest_block, const RecordLayout& layout,
                        const MemoryPlan& plan) {
  return spill_block_bytes(std::min(largest_block, merge_memory_bytes(plan) / (3 * runs)), layout);
}

/// Bytes of spilled records for each of their keys that stays in memory. With more keys the selection of splitters
/// reads fewer pages of runs. They lie beside the arena, like what is known of each block.
std::uint64_t prefix_bytes(const MemoryRequest& request) {
  constexpr std::uint64_t kMinBytes = std::uint64_t{16} << 10;
  constexpr std::uint64_t kMostPrefixBytes = std::uint64_t{4} << 20;
  constexpr std::uint64_t kMemoryShare = 64;
  const std::uint64_t prefixes = std::min(kMostPrefixBytes, request.memory_bytes / kMemoryShare) / sizeof(Element);
  const std::uint64_t bytes =
      request.stream ? std::max(request.input_bytes, kStreamMemories * request.memory_bytes) : request.input_bytes;
  return std::max(kMinBytes, bytes / std::max<std::uint64_t>(1, prefixes));
}

/// Plans runs that spill. Returns the bytes of the largest one if all are equal.
std::uint64_t size_runs(const MemoryRequest& request, std::uint64_t for_runs, std::uint64_t largest_block,
                        MemoryPlan& plan) {
  const RecordLayout& layout = request.layout;
  const std::uint64_t buffers = request.stream ? 1 : 2;
  plan.run_bytes = largest_fitting(for_runs, layout.record_bytes, [&](std::uint64_t bytes) {
    return buffers * run_room_bytes(bytes) + index_bytes(bytes, request, 1) + kPageBytes;
  });
  std::uint64_t equal_bytes = plan.run_bytes;
  std::uint64_t expected_runs = kStreamRuns;
  if (!request.stream) {
    // Equal runs, the same number for every thread, so that all end together.
    const std::uint64_t asked = std::min(request.runs_a_thread * plan.threads, request.input_bytes / kMinRunBytes);
    const std::uint64_t fewest = std::max(asked, (request.input_bytes + plan.run_bytes - 1) / plan.run_bytes);
    plan.run_count = std::max<std::uint64_t>(1, round_up(fewest, plan.threads));
    const std::uint64_t records = request.input_bytes / layout.record_bytes;
    plan.run_count = std::min(plan.run_count, std::max<std::uint64_t>(1, records));
    equal_bytes = (records + plan.run_count - 1) / plan.run_count * layout.record_bytes;
    // Each segment but one may end in a run that is not full.
    plan.run_count = std::min(plan.run_count + request.segments - 1, std::max<std::uint64_t>(1, records));
    expected_runs = plan.run_count;
  }
  plan.spill_block_bytes = block_for(expected_runs, largest_block, layout, plan);
  return equal_bytes;
}

/// The arena of lines that fit in memory. They may be shorter than expected, down to one byte: it has room for their
/// index then, as far as there is memory. What the index does not need is never touched.
std::uint64_t arena_of_lines(const MemoryRequest& request, std::uint64_t placed_bytes, std::uint64_t memory,
                             const MemoryPlan& plan) {
  const std::uint64_t most = placed_bytes + kRunSlackBytes + plan.threads * (plan.scratch_bytes + plan.staging_bytes) +
                             IndexSize::pool_bytes(request.input_bytes, plan.threads, request.segments);
  return std::clamp(round_up(most, kPageBytes), plan.arena_bytes,
                    std::max(plan.arena_bytes, (memory - request.exchange_bytes) / kPageBytes * kPageBytes));
}

/// Whether one pass can merge the runs that threads form alone.
bool merges_in_one_pass(const MemoryRequest& request, const MemoryPlan& plan) {
  std::uint64_t runs = plan.run_count;
  if (request.stream) {
    const std::uint64_t bytes = std::max(request.input_bytes, kStreamMemories * plan.arena_bytes);
    runs = bytes / plan.run_bytes + 1;
  }
  return runs <= max_runs(plan, plan.spill_block_bytes);
}

/// Plans runs that all threads form together: one run has nearly the whole memory.
void form_together(const MemoryRequest& request, const Overflow& overflow, MemoryPlan& plan) {
  const std::uint64_t record = request.layout.record_bytes;
  const std::uint64_t most =
      largest_fitting(overflow.capacity_bytes - overflow.placement_bytes, record,
                      [&](std::uint64_t bytes) { return slot_bytes(bytes, request, plan.threads) + kPageBytes; });
  if (most <= plan.run_bytes) return;
  plan.forms_together = true;
  plan.run_bytes = most;
  if (request.stream) return;
  // Equal runs; more of them than memory requires let other ranks take those that this rank has not begun.
  const std::uint64_t records = std::max<std::uint64_t>(1, request.input_bytes / record);
  const std::uint64_t asked = request.runs_a_thread > 1 ? std::min(request.runs_a_thread, plan.run_count) : 1;
  const std::uint64_t runs = std::min(records, std::max(asked, (request.input_bytes + most - 1) / most));
  plan.run_bytes = (records + runs - 1) / runs * record;
  plan.run_count = std::min(runs + request.segments - 1, records);
  plan.spill_block_bytes = block_for(plan.run_count, overflow.largest_block_bytes, request.layout, plan);
}

}  // namespace

std::uint64_t block_near(std::uint64_t target, const RecordLayout& layout) {
  const std::uint64_t unit = std::lcm(std::uint64_t{layout.record_bytes}, std::uint64_t{kPageBytes});
  if (unit <= target) return target / unit * unit;
  return round_up(std::max<std::uint64_t>(target / kPageBytes * kPageBytes, layout.record_bytes), kPageBytes);
}

std::uint64_t spill_block_bytes(std::uint64_t target, const RecordLayout& layout) {
  return block_near(std::clamp(target, kMinBlockBytes, kMaxBlockBytes), layout);
}

std::uint64_t MemoryPlan::spilled_blocks(std::uint64_t input_bytes, std::uint64_t record_bytes) const {
  const std::uint64_t block_records = spill_block_bytes / record_bytes;
  const std::uint64_t run_records = run_bytes / record_bytes;
  return std::min(run_count * ((run_records + block_records - 1) / block_records),
                  (input_bytes - std::min(input_bytes, kept_bytes)) / record_bytes / block_records + run_count);
}

std::uint64_t merge_memory_bytes(const MemoryPlan& plan) { return plan.thread_bytes() - plan.staging_bytes; }

std::uint64_t records_in_memory(const RecordLayout& layout, std::uint64_t memory_bytes) {
  // The size is not known, as with a stream.
  const MemoryPlan plan = plan_memory({.layout = layout,
                                       .memory_bytes = memory_bytes,
                                       .stream = true,
                                       .exchange_bytes = std::min(memory_bytes, kMaxMemoryBytes) / kExchangeShare});
  return plan.arena_bytes > memory_bytes ? 0 : plan.stream_bytes / layout.record_bytes;
}

std::uint64_t max_line_bytes(std::uint64_t memory_bytes) {
  constexpr std::uint64_t kAnyLineBytes = std::uint64_t{1} << 20;
  return std::max(kAnyLineBytes, std::min(memory_bytes, kMaxMemoryBytes) / kMaxLinePart) + 1;
}

MemoryPlan plan_alone(MemoryPlan plan) {
  plan.threads = 1;
  plan.run_bytes = 2 * plan.max_line_bytes;
  return plan;
}

std::uint64_t max_runs(const MemoryPlan& plan, std::uint64_t block_bytes, std::uint64_t longest_line) {
  const std::uint64_t memory = merge_memory_bytes(plan) / kPageBytes * kPageBytes;
  const std::uint64_t fitting = memory / (2 * (block_bytes + kPageBytes) + longest_line);
  return std::max<std::uint64_t>(2, std::min(fitting, plan.max_merged_runs));
}

MemoryPlan plan_merge(MemoryPlan plan, std::uint64_t runs, std::uint64_t block_bytes, std::uint64_t longest_line) {
  const std::size_t least = (2 * plan.threads + 2) / 3;
  MemoryPlan fewer = plan;
  while (fewer.threads > least && max_runs(fewer, block_bytes, longest_line) < runs) --fewer.threads;
  return max_runs(fewer, block_bytes, longest_line) < runs ? plan : fewer;
}

std::size_t threads_that_merge(const MemoryPlan& plan, std::uint64_t longest_line) {
  const std::uint64_t each = kLinesOfMerge * std::max<std::uint64_t>(1, longest_line);
  return std::clamp<std::size_t>(plan.arena_bytes / each, 1, plan.threads);
}

std::size_t threads_that_write(const MemoryPlan& plan, std::uint64_t used_bytes, std::uint64_t longest_line) {
  const std::uint64_t room = plan.arena_bytes + kBesideArenaBytes;
  const std::uint64_t left = room - std::min(room, used_bytes);
  return std::min<std::uint64_t>(plan.threads, left / (kLinesOfWriter * std::max<std::uint64_t>(1, longest_line)));
}

std::size_t threads_that_exchange(const MemoryPlan& plan, std::uint64_t room_bytes, std::uint64_t used_bytes,
                                  std::uint64_t longest_line) {
  const std::uint64_t left = room_bytes - std::min(room_bytes, used_bytes);
  return std::min<std::uint64_t>(plan.threads, left / (kLinesOfMerge * std::max<std::uint64_t>(1, longest_line)));
}

std::uint64_t beside_memory_bytes(std::uint64_t ranks_on_host) {
  constexpr std::uint64_t kMebibyte = std::uint64_t{1} << 20;
  constexpr std::uint64_t kOfFewRanks = 48 * kMebibyte;
  constexpr std::uint64_t kOfManyRanks = 20 * kMebibyte;
  constexpr std::uint64_t kFewRanks = 8;
  const std::uint64_t more = kMebibyte * (ranks_on_host - std::min(ranks_on_host, kFewRanks));
  return std::max(kOfManyRanks, kOfFewRanks - std::min(kOfFewRanks, more));
}

MemoryPlan plan_memory(const MemoryRequest& asked) {
  MemoryRequest request = asked;
  request.memory_bytes = std::min(request.memory_bytes, kMaxMemoryBytes);
  const RecordLayout& layout = request.layout;
  MemoryPlan plan;
  plan.exchange_bytes = request.exchange_bytes;
  plan.max_merged_runs = request.max_merged_runs;
  plan.prefix_bytes = prefix_bytes(request);
  plan.scratch_bytes = IndexSize::kScratchElements * sizeof(Element);
  const std::uint64_t record_slack = round_up(layout.record_bytes + kReadableSlackBytes, kPageBytes);
  const std::uint64_t fair = request.memory_bytes / (16 * kStagingBlocks * std::max<std::size_t>(1, request.threads));
  const std::uint64_t block = std::clamp(fair / kPageBytes * kPageBytes, kMinBlockBytes, kMaxBlockBytes);
  plan.staging_blocks = kStagingBlocks;
  plan.largest_block_bytes = std::max(block, round_up(layout.record_bytes, kPageBytes));
  plan.staging_bytes = kStagingBlocks * (std::max(block, round_up(layout.record_bytes, kPageBytes)) + record_slack);

  // There are fewer threads if runs would get absurdly small otherwise: half the memory is for records.
  const std::uint64_t overhead = plan.scratch_bytes + plan.staging_bytes;
  const std::uint64_t floor = 2 * overhead + 16 * record_slack;
  // Memory in whole pages: the areas that are cut off the arena's end must be aligned.
  const std::uint64_t memory = std::max(request.memory_bytes / kPageBytes * kPageBytes, floor);
  plan.threads = std::clamp<std::size_t>(memory / floor, 1, std::max<std::size_t>(1, request.threads));
  plan.max_line_bytes = std::max(request.memory_bytes, memory) / kMaxLinePart + 1;
  const std::uint64_t for_records = memory - plan.threads * overhead;

  const auto in_memory_bytes = [&](std::uint64_t bytes) {
    return bytes + kRunSlackBytes + index_bytes(bytes, request, plan.threads, request.segments);
  };
  plan.stream_bytes = largest_fitting(for_records - std::min(for_records, request.exchange_bytes), layout.record_bytes,
                                      in_memory_bytes);
  // Each segment begins and ends at a page.
  const std::uint64_t borders = 2 * kPageBytes * (request.segments - 1);
  const std::uint64_t placed =
      request.elsewhere ? borders : std::max(request.placed_bytes, request.input_bytes) + borders;
  // Input beyond the memory needs no index: the index's size might not even fit 64 bits.
  const bool may_fit = !request.stream && !request.must_spill && placed <= request.memory_bytes &&
                       request.exchange_bytes <= request.memory_bytes;
  const std::uint64_t needed = may_fit ? placed + in_memory_bytes(request.input_bytes) - request.input_bytes : 0;
  plan.in_memory = may_fit && needed + request.exchange_bytes <= request.memory_bytes &&
                   needed + request.exchange_bytes <= for_records;
  plan.arena_bytes = plan.in_memory ? round_up(needed, kPageBytes) + plan.threads * overhead : memory;
  if (layout.is_lines()) {
    if (plan.in_memory) plan.arena_bytes = arena_of_lines(request, placed, memory, plan);
    // Even then they spill if memory has no room for their index, or for copies of the longest ones. A run of lines
    // ends a little behind its equal part of the bytes.
    size_runs(request, for_records / plan.threads, block, plan);
    return plan;
  }
  if (plan.in_memory) return plan;
  plan.run_bytes = size_runs(request, for_records / plan.threads, block, plan);
  const Overflow overflow{for_records, std::min(request.exchange_bytes, for_records), placed - request.input_bytes,
                          plan.stream_bytes, block};
  const bool may_end_in_memory = request.stream && request.input_bytes < plan.stream_bytes;
  if (!may_end_in_memory && !request.must_spill && !may_all_spill(request, overflow, plan))
    keep_what_fits(request, overflow, plan);
  if (!plan.forms_together && !merges_in_one_pass(request, plan)) form_together(request, overflow, plan);
  return plan;
}

}  // namespace hetsort::sort
