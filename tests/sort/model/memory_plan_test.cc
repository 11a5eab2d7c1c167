// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
#include "sort/model/memory_plan.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "io/calls/buffer.h"
#include "sort/model/rank_context.h"
#include "sort/runs/bucket_index.h"
#include "sort/runs/run_reader.h"

namespace hetsort::sort::test {
namespace {

/// Sizes of all magnitudes.
rc::Gen<std::uint64_t> any_size(int most_bits) {
  return rc::gen::map(rc::gen::pair(rc::gen::inRange(0, most_bits + 1), rc::gen::arbitrary<std::uint64_t>()),
                      [](const std::pair<int, std::uint64_t>& drawn) {
                        return drawn.first == 0 ? 0 : drawn.second >> (64 - drawn.first);
                      });
}

MemoryRequest any_request(bool stream) {
  MemoryRequest request;
  request.layout.record_bytes =
      1 + *rc::gen::map(any_size(20), [](std::uint64_t bytes) { return bytes % kMaxRecordBytes; });
  request.layout.key_bytes = 1;
  request.memory_bytes = *any_size(37);
  request.threads = *rc::gen::inRange<std::size_t>(1, 65);
  request.stream = stream;
  if (stream) return request;
  request.segments = 1 + *any_size(10);
  request.runs_a_thread = 1 + *any_size(6);
  request.input_bytes = *any_size(40) / request.layout.record_bytes * request.layout.record_bytes;
  request.placed_bytes = round_up(request.input_bytes, kPageBytes) + kPageBytes * *any_size(5);
  return request;
}

std::uint64_t own_bytes(const MemoryPlan& plan) { return plan.scratch_bytes + plan.staging_bytes; }

/// What the parts of a plan need must be within what RankContext cuts from the arena.
std::uint64_t part_records_bytes(const MemoryPlan& plan) {
  return plan.thread_bytes() / kPageBytes * kPageBytes - own_bytes(plan);
}

void check_common(const MemoryRequest& request, const MemoryPlan& plan) {
  RC_ASSERT(plan.threads >= 1U);
  RC_ASSERT(plan.threads <= request.threads);
  RC_ASSERT(plan.arena_bytes % kPageBytes == 0U);
  RC_ASSERT(plan.scratch_bytes % kPageBytes == 0U);
  RC_ASSERT(plan.staging_bytes % kPageBytes == 0U);
  RC_ASSERT(plan.scratch_bytes >= BucketIndex::kScratchElements * sizeof(Element));
  RC_ASSERT(plan.threads * own_bytes(plan) < plan.arena_bytes);
  // Below the floor, one thread's memory for a few records, a plan takes the floor.
  const MemoryPlan least = plan_memory({.layout = request.layout, .memory_bytes = 0, .threads = 1, .stream = true});
  RC_ASSERT(plan.arena_bytes <= std::max(request.memory_bytes, least.arena_bytes));
}

void check_spilling(const MemoryRequest& request, const MemoryPlan& plan, std::uint64_t run_buffers) {
  const std::uint64_t record = request.layout.record_bytes;
  RC_ASSERT(plan.run_bytes % record == 0U);
  RC_ASSERT(plan.run_bytes >= record || request.input_bytes == 0);
  if (plan.forms_together) {
    // All threads have an index of one run behind it.
    const std::uint64_t placing = request.stream ? 0 : request.placed_bytes - request.input_bytes;
    const std::uint64_t pool = BucketIndex::pool_bytes(plan.run_bytes / record, plan.threads);
    RC_ASSERT(plan.kept_room_bytes == 0U);
    RC_ASSERT(run_room_bytes(plan.run_bytes) + std::min(placing, kPageBytes) + pool + kPageBytes <= plan.slot_bytes());
  } else {
    const std::uint64_t pool = BucketIndex::pool_bytes(plan.run_bytes / record, 1);
    RC_ASSERT(run_buffers * run_room_bytes(plan.run_bytes) + pool <= part_records_bytes(plan));
  }
  // Blocks hold a record, are whole pages and fit a staging block with room to spare.
  RC_ASSERT(plan.spill_block_bytes >= record);
  RC_ASSERT(plan.spill_block_bytes % kPageBytes == 0U);
  RC_ASSERT(plan.spill_block_bytes + kReadableSlackBytes <= plan.staging_bytes / plan.staging_blocks);
  // A merge of two is always possible.
  RC_ASSERT(RunReader::memory_needed(2, plan.spill_block_bytes) <= merge_memory_bytes(plan) / kPageBytes * kPageBytes);
}

void check_partly_spilling(const MemoryRequest& request, const MemoryPlan& plan) {
  const std::uint64_t record = request.layout.record_bytes;
  RC_ASSERT(plan.kept_bytes % record == 0U);
  RC_ASSERT(plan.kept_bytes < request.input_bytes);
  RC_ASSERT(plan.run_bytes % record == 0U && plan.run_bytes > 0U);
  // The records that stay, wherever they are placed, and an index of each segment of them.
  const std::uint64_t borders = 2 * kPageBytes * (request.segments - 1);
  const std::uint64_t placing = request.placed_bytes - request.input_bytes + borders + kPageBytes;
  RC_ASSERT(plan.kept_bytes + placing +
                BucketIndex::pool_bytes(plan.kept_bytes / record, plan.threads, request.segments) <=
            plan.kept_room_bytes);
  // One run behind them, and while merging two blocks of each.
  const std::uint64_t slot = plan.arena_bytes - plan.threads * own_bytes(plan) - plan.kept_room_bytes;
  RC_ASSERT(run_room_bytes(plan.run_bytes) + kPageBytes +
                BucketIndex::pool_bytes(plan.run_bytes / record, plan.threads) <=
            slot);
  RC_ASSERT(RunReader::memory_needed(plan.run_count, plan.spill_block_bytes) <=
            slot / plan.threads / kPageBytes * kPageBytes);
  RC_ASSERT(plan.spill_block_bytes + kReadableSlackBytes <= plan.staging_bytes / plan.staging_blocks);
  // What spills.
  const std::uint64_t spilled = request.input_bytes - plan.kept_bytes;
  RC_ASSERT(plan.run_count * plan.run_bytes >= spilled);
  RC_ASSERT(plan.spilled_blocks(request.input_bytes, record) * (plan.spill_block_bytes / record) * record >= spilled);
}

RC_GTEST_PROP(MemoryPlan, of_files_keeps_to_the_arena_and_covers_the_input, ()) {
  const MemoryRequest request = any_request(false);
  const MemoryPlan plan = plan_memory(request);
  check_common(request, plan);
  const std::uint64_t record = request.layout.record_bytes;
  const std::uint64_t records = request.input_bytes / record;
  if (plan.in_memory) {
    const std::uint64_t shared = plan.arena_bytes - plan.threads * own_bytes(plan);
    // However the records fall to segments: here as evenly as can be, or nearly all to one.
    const std::uint64_t borders = 2 * kPageBytes * (request.segments - 1);
    const std::uint64_t even = records / request.segments;
    for (const std::uint64_t each : {even, std::min<std::uint64_t>(even, 1)}) {
      const std::uint64_t pools = (request.segments - 1) * BucketIndex::pool_bytes(each, plan.threads) +
                                  BucketIndex::pool_bytes(records - (request.segments - 1) * each, plan.threads);
      RC_ASSERT(request.placed_bytes + borders + kPageBytes + pools <= shared);
    }
    return;
  }
  if (plan.kept_bytes > 0) {
    check_partly_spilling(request, plan);
    return;
  }
  check_spilling(request, plan, 2);
  RC_ASSERT(plan.run_count >= 1U);
  RC_ASSERT(plan.run_count <= std::max<std::uint64_t>(1, records));
  RC_ASSERT(plan.run_count * (plan.run_bytes / record) >= records);
  // Whatever the segments: each one may end in a run that is not full, and each run in a block that is not.
  const std::uint64_t run_records = std::max<std::uint64_t>(1, plan.run_bytes / record);
  const std::uint64_t rest = records - std::min(records, request.segments - 1);  // one record in each of the others
  const std::uint64_t runs = records - rest + (rest + run_records - 1) / run_records;
  RC_ASSERT(plan.run_count >= runs);
  RC_ASSERT(plan.spilled_blocks(request.input_bytes, record) >= runs);
}

RC_GTEST_PROP(MemoryPlan, of_files_beyond_memory_has_room_for_what_stays_and_for_a_run, ()) {
  MemoryRequest request = any_request(false);
  request.layout.record_bytes = 1 + request.layout.record_bytes % 10'000;
  request.threads = 1 + request.threads % 8;
  request.memory_bytes = *rc::gen::inRange<std::uint64_t>(std::uint64_t{32} << 20, std::uint64_t{32} << 30);
  request.exchange_bytes = request.memory_bytes / 100 * *rc::gen::inRange<std::uint64_t>(0, 10);
  const std::uint64_t percent = *rc::gen::inRange<std::uint64_t>(50, 600);
  request.input_bytes =
      request.memory_bytes / 100 * percent / request.layout.record_bytes * request.layout.record_bytes;
  request.placed_bytes = round_up(request.input_bytes, kPageBytes) + kPageBytes * *any_size(5);
  const MemoryPlan plan = plan_memory(request);
  check_common(request, plan);
  RC_CLASSIFY(plan.kept_bytes > 0);
  RC_ASSERT(!plan.in_memory || plan.kept_bytes == 0U);
  if (plan.kept_bytes > 0) check_partly_spilling(request, plan);
}

RC_GTEST_PROP(MemoryPlan, of_a_stream_keeps_to_the_arena, ()) {
  const MemoryRequest request = any_request(true);
  const MemoryPlan plan = plan_memory(request);
  check_common(request, plan);
  check_spilling(request, plan, 1);
  const std::uint64_t record = request.layout.record_bytes;
  RC_ASSERT(plan.stream_bytes % record == 0U);
  RC_ASSERT(plan.stream_bytes >= record);
  const std::uint64_t shared = plan.arena_bytes - plan.threads * own_bytes(plan);
  const std::uint64_t pool = BucketIndex::pool_bytes(plan.stream_bytes / record, plan.threads);
  RC_ASSERT(round_up(plan.stream_bytes, kPageBytes) + kPageBytes + pool <= shared);
  // When the stream goes on, each thread sorts an equal part with a pool of its own.
  const std::uint64_t part = (plan.stream_bytes / record + plan.threads - 1) / plan.threads;
  const std::uint64_t pools = shared - round_up(plan.stream_bytes, kPageBytes) - kPageBytes;
  const std::uint64_t own_pool = pools / plan.threads / kPageBytes * kPageBytes;
  const std::uint64_t chunk_bytes = BucketIndex::kChunkElements * sizeof(Element);
  RC_ASSERT((part / BucketIndex::kChunkElements + BucketIndex::bucket_count(part)) * chunk_bytes <= own_pool);
}

RC_GTEST_PROP(RankContext, cuts_parts_that_are_aligned_and_do_not_overlap, ()) {
  MemoryRequest request = any_request(true);
  request.memory_bytes %= std::uint64_t{1} << 32;
  const MemoryPlan plan = plan_memory(request);
  // Only addresses are looked at.
  const std::span<std::byte> arena(reinterpret_cast<std::byte*>(std::uintptr_t{1} << 40), plan.arena_bytes);
  const RankContext context{request.layout, plan, arena, nullptr};
  for (const bool shared : {false, true}) {
    const std::byte* end = shared ? context.shared_records().data() + context.shared_records().size() : arena.data();
    for (std::size_t thread = 0; thread < plan.threads; ++thread) {
      const ThreadMemory memory = shared ? context.beside_shared(thread) : context.memory_of(thread);
      RC_ASSERT(memory.records.data() >= end);
      const auto* const scratch = reinterpret_cast<const std::byte*>(memory.scratch.data());
      RC_ASSERT(scratch == memory.records.data() + memory.records.size());
      RC_ASSERT(memory.scratch.size() >= BucketIndex::kScratchElements);
      RC_ASSERT(memory.staging.data() == scratch + memory.scratch.size_bytes());
      for (const std::byte* const at : {static_cast<const std::byte*>(memory.records.data()), scratch,
                                        static_cast<const std::byte*>(memory.staging.data())})
        RC_ASSERT(reinterpret_cast<std::uintptr_t>(at) % kPageBytes == 0U);
      end = memory.staging.data() + memory.staging.size();
      RC_ASSERT(end <= arena.data() + arena.size());
    }
  }
}

TEST(MemoryPlanOf, the_arena_is_whole_pages_whatever_memory_is_given) {
  for (const std::uint64_t memory : {10'000'001U, 12'345'678U, 20'004'095U}) {
    const MemoryPlan plan = plan_memory({.layout = {}, .memory_bytes = memory, .threads = 2, .stream = true});
    EXPECT_EQ(plan.arena_bytes % kPageBytes, 0U);
    EXPECT_LE(plan.arena_bytes, memory);
  }
}

TEST(MemoryPlanOf, an_input_that_fits_is_sorted_in_memory_and_a_larger_one_is_not) {
  MemoryRequest request{.layout = {}, .memory_bytes = std::uint64_t{1} << 30, .threads = 2};
  request.input_bytes = request.placed_bytes = 800'000'000;
  EXPECT_TRUE(plan_memory(request).in_memory);
  request.input_bytes = request.placed_bytes = 1'000'000'000;
  EXPECT_FALSE(plan_memory(request).in_memory);
}

TEST(MemoryPlanOf, threads_have_as_many_runs_as_are_asked_for_unless_they_get_tiny) {
  MemoryRequest request;
  request.memory_bytes = std::uint64_t{256} << 20;
  request.threads = 2;
  request.must_spill = true;
  request.input_bytes = request.placed_bytes = 300'000'000;
  const std::uint64_t usual = plan_memory(request).run_count;
  EXPECT_LT(usual, 16U);
  request.runs_a_thread = 8;
  EXPECT_EQ(plan_memory(request).run_count, 16U);
  request.input_bytes = request.placed_bytes = 6'500'000;
  EXPECT_EQ(plan_memory(request).run_count, 6U);
}

/// The most bytes that `request` keeps in memory.
std::uint64_t most_in_memory(MemoryRequest request) {
  std::uint64_t low = 0;
  std::uint64_t high = request.memory_bytes / request.layout.record_bytes;
  while (low < high) {
    const std::uint64_t middle = (low + high + 1) / 2;
    request.input_bytes = request.placed_bytes = middle * request.layout.record_bytes;
    if (plan_memory(request).in_memory)
      low = middle;
    else
      high = middle - 1;
  }
  return low * request.layout.record_bytes;
}

TEST(MemoryPlanOf, an_input_that_does_not_fit_spills_what_is_beyond_memory_and_one_run) {
  for (const std::uint64_t memory : {std::uint64_t{64} << 20, std::uint64_t{1} << 30, std::uint64_t{64} << 30})
    for (const std::size_t threads : {1U, 2U, 8U})
      for (const std::uint64_t percent : {0U, 1U, 5U, 25U, 100U, 300U, 600U, 1000U}) {
        MemoryRequest request{.layout = {}, .memory_bytes = memory, .threads = threads};
        const std::uint64_t fits = most_in_memory(request);
        request.input_bytes = request.placed_bytes = fits + (fits / 10'000 * percent + 1) * 100;
        const MemoryPlan plan = plan_memory(request);
        const std::uint64_t beyond = request.input_bytes - fits;
        // The place of a run is some pages larger than the run.
        const std::uint64_t run = plan.run_bytes + plan.run_bytes / 8 + 16 * kPageBytes;
        EXPECT_LE(request.input_bytes - plan.kept_bytes, beyond + beyond / 100 * 15 + run)
            << memory << " bytes, " << threads << " threads, " << percent << " % beyond";
      }
}

TEST(MemoryPlanOf, more_than_memory_is_merged_in_one_pass_wherever_the_smallest_blocks_allow_it) {
  for (std::size_t threads = 1; threads <= 256; ++threads)
    for (const std::uint64_t memory : {std::uint64_t{64} << 20, std::uint64_t{256} << 20, std::uint64_t{4} << 30})
      for (const std::uint64_t times : {2U, 8U, 32U, 100U}) {
        MemoryRequest request{.layout = {}, .memory_bytes = memory, .threads = threads};
        request.input_bytes = request.placed_bytes = times * memory / 100 * 100;
        const MemoryPlan plan = plan_memory(request);
        if (plan.kept_bytes > 0) continue;  // then the exchange merges
        MemoryPlan fewer = plan;
        fewer.threads = (2 * plan.threads + 2) / 3;
        const std::uint64_t fan_in = max_runs(fewer, spill_block_bytes(kMinBlockBytes, request.layout));
        // A run and its index fill the slot.
        if (request.input_bytes > fan_in * (plan.slot_bytes() / 2)) continue;
        const std::uint64_t block = plan.spill_block_bytes;
        EXPECT_LE(plan.run_count, max_runs(plan_merge(plan, plan.run_count, block), block))
            << threads << " threads, " << memory << " bytes, " << times << " times as much input";
      }
}

TEST(MemoryPlanOf, an_input_of_2_gigabytes_is_merged_in_one_pass_by_2_to_64_threads) {
  for (const std::size_t threads : {2U, 16U, 64U}) {
    MemoryRequest request{.layout = {}, .memory_bytes = std::uint64_t{256} << 20, .threads = threads};
    request.input_bytes = request.placed_bytes = 2'000'000'000;
    const MemoryPlan plan = plan_memory(request);
    EXPECT_EQ(plan.threads, threads);
    EXPECT_EQ(plan.forms_together, threads > 2);
    EXPECT_LE(plan.run_count, max_runs(plan, plan.spill_block_bytes)) << threads;
  }
}

TEST(MemoryPlanOf, threads_form_runs_together_if_a_merge_may_have_only_few_of_them) {
  MemoryRequest request{.layout = {}, .memory_bytes = std::uint64_t{256} << 20, .threads = 2};
  request.input_bytes = request.placed_bytes = 2'000'000'000;
  const std::uint64_t alone = plan_memory(request).run_count;
  request.max_merged_runs = alone;
  EXPECT_FALSE(plan_memory(request).forms_together);
  request.max_merged_runs = alone - 1;
  EXPECT_TRUE(plan_memory(request).forms_together);
  EXPECT_LT(plan_memory(request).run_count, alone / 2);
}

TEST(PlanMerge, gives_up_to_a_third_of_the_threads_for_a_merge_in_one_pass) {
  const MemoryPlan plan =
      plan_memory({.layout = {}, .memory_bytes = std::uint64_t{256} << 20, .threads = 12, .stream = true});
  ASSERT_EQ(plan.threads, 12U);
  const std::uint64_t most = max_runs(plan, kMinBlockBytes);
  EXPECT_EQ(plan_merge(plan, most, kMinBlockBytes).threads, 12U);
  EXPECT_EQ(plan_merge(plan, most + 1, kMinBlockBytes).threads, 11U);
  EXPECT_EQ(plan_merge(plan, most + most / 2, kMinBlockBytes).threads, 8U);
  EXPECT_EQ(plan_merge(plan, 2 * most, kMinBlockBytes).threads, 12U);
}

TEST(MemoryPlanOf, no_records_need_no_memory_to_speak_of) {
  const MemoryPlan plan = plan_memory({.layout = {}, .memory_bytes = std::uint64_t{1} << 30, .threads = 2});
  EXPECT_TRUE(plan.in_memory);
  EXPECT_LT(plan.arena_bytes, std::uint64_t{16} << 20);
}

TEST(RecordsInMemory, are_about_the_most_that_a_sort_with_others_keeps) {
  for (const std::size_t record_bytes : {std::size_t{8}, std::size_t{100}, std::size_t{5000}}) {
    for (const std::uint64_t memory_bytes : {std::uint64_t{16} << 20, std::uint64_t{1} << 30, std::uint64_t{1} << 46}) {
      const RecordLayout layout{record_bytes, 0, 4};
      const std::uint64_t records = records_in_memory(layout, memory_bytes);
      const auto fits = [&](std::uint64_t input_records) {
        MemoryRequest request{.layout = layout, .memory_bytes = memory_bytes};
        request.input_bytes = request.placed_bytes = input_records * record_bytes;
        request.exchange_bytes = memory_bytes / kExchangeShare;
        return plan_memory(request).in_memory;
      };
      EXPECT_TRUE(fits(records - records / 100)) << record_bytes << " " << memory_bytes;
      EXPECT_FALSE(fits(records + records / 100)) << record_bytes << " " << memory_bytes;
    }
  }
}

TEST(RecordsInMemory, are_none_below_the_floor_and_limited_by_the_address_space) {
  for (const std::uint64_t memory_bytes : {0, 1, 1000, 100'000}) EXPECT_EQ(records_in_memory({}, memory_bytes), 0U);
  EXPECT_EQ(records_in_memory({}, UINT64_MAX), records_in_memory({}, std::uint64_t{1} << 47));
  EXPECT_GT(records_in_memory({}, UINT64_MAX), std::uint64_t{1} << 39);
}

TEST(MemoryPlan, sizes_whose_index_would_not_fit_64_bits_never_fit_the_memory) {
  for (int bits = 40; bits <= 62; ++bits) {
    for (const std::uint64_t memory : {std::uint64_t{1} << 30, UINT64_MAX}) {
      MemoryRequest request{.layout = {1, 0, 1}, .memory_bytes = memory};
      request.input_bytes = request.placed_bytes = std::uint64_t{1} << bits;
      const MemoryPlan plan = plan_memory(request);
      EXPECT_EQ(plan.in_memory, memory == UINT64_MAX && bits <= 42) << bits;
      EXPECT_LE(plan.arena_bytes, std::uint64_t{1} << 47);
      EXPECT_GE(plan.in_memory ? plan.arena_bytes : UINT64_MAX, request.input_bytes);
    }
  }
}

TEST(MemoryPlan, keys_of_spilled_runs_take_a_small_part_of_the_memory) {
  for (const std::uint64_t memory : {std::uint64_t{16} << 20, std::uint64_t{256} << 20, std::uint64_t{8} << 30})
    for (const std::uint64_t input : {std::uint64_t{1} << 28, std::uint64_t{1} << 34, std::uint64_t{1} << 44}) {
      const MemoryPlan plan =
          plan_memory({.layout = {.record_bytes = 100, .key_bytes = 10}, .memory_bytes = memory, .input_bytes = input});
      EXPECT_LE(input / plan.prefix_bytes * sizeof(Element), std::min(memory / 64, std::uint64_t{4} << 20));
    }
}

}  // namespace
}  // namespace hetsort::sort::test
