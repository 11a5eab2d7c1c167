// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
#include "sort/sort_memory.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <numeric>

#include "io/calls/buffer.h"
#include "io/checked.h"
#include "io/file_system.h"
#include "sort/exchange/exchange.h"
#include "sort/exchange/plan_exchange.h"
#include "sort/failure/report_failure.h"
#include "sort/failure/request_error.h"
#include "sort/merge/merge_runs.h"
#include "sort/plan/merge_needs.h"
#include "sort/publish.h"
#include "sort/runs/form_runs.h"

namespace hetsort::sort {

namespace {

/// The number of records for which starting a thread takes about as long as its work.
constexpr std::uint64_t kMinRecordsOfThread = std::uint64_t{1} << 14;

/// The results of phases that later phases use; see sort.cc.
struct MemorySortState {
  Shares shares;
  std::uint64_t first_record = 0;  ///< number of this rank's first record in the whole input
  io::Buffer arena;
  FormedRuns runs;
};

/// The number of whole records in so many bytes. Throws: RequestError.
std::uint64_t whole_records(std::uint64_t bytes, const RecordLayout& layout) {
  if (bytes % layout.record_bytes != 0)
    throw RequestError(fmt::format("{} bytes are no whole number of {}-byte records", bytes, layout.record_bytes));
  return bytes / layout.record_bytes;
}

void plan_memory_shares(const MemorySort& request, comm::Communicator& ranks, MemorySortState& state) {
  check_layout(request.layout);
  std::uint64_t total = 0;
  std::uint64_t shared = 0;
  struct Counts {
    std::uint64_t records;
    std::uint64_t share;
  };
  const Counts mine{whole_records(request.records.size(), request.layout),
                    whole_records(request.sorted.size(), request.layout)};
  for (const Counts& of_rank : ranks.all_gather(mine)) {
    if (state.shares.records.size() == static_cast<std::size_t>(ranks.rank())) state.first_record = total;
    total = io::checked_add(total, of_rank.records, "the records of all ranks");
    shared = io::checked_add(shared, of_rank.share, "the shares of all ranks");
    state.shares.records.push_back(of_rank.share);
  }
  static_cast<void>(io::checked_multiply(total, request.layout.record_bytes, "the records of all ranks"));
  if (shared != total)
    throw RequestError(
        fmt::format("the shares of all ranks have {} records together, but there are {} records", shared, total));
}

/// Plans the memory for the index and the exchange; and for a copy of the records if `copies`. Collective.
MemoryPlan plan_index_memory(const MemorySort& request, bool copies, comm::Communicator& ranks) {
  const std::uint64_t memory_bytes = request.memory_bytes - std::min(request.memory_bytes, request.result_bytes);
  MemoryRequest asked{.layout = request.layout, .memory_bytes = memory_bytes};
  const std::uint64_t records = request.records.size() / request.layout.record_bytes;
  asked.threads = std::clamp<std::size_t>(records / kMinRecordsOfThread, 1, request.threads);
  asked.input_bytes = request.records.size();
  asked.elsewhere = !copies;
  const std::vector<MergeNeed> needs =
      gather_needs({.memory_bytes = memory_bytes / kExchangeShare, .threads = asked.threads, .runs = 1}, ranks);
  const std::uint64_t block = common_block_bytes(needs, request.layout);
  if (ranks.size() > 1) asked.exchange_bytes = exchange_bytes_of(needs, static_cast<std::size_t>(ranks.rank()), block);
  MemoryPlan plan = plan_memory(asked);
  if (!plan.in_memory)
    throw MemoryTooSmall(
        fmt::format("memory of {} does not suffice to sort {} records of {} bytes in memory{}; sort them "
                    "as files, or allow more",
                    io::human_size(request.memory_bytes), records, request.layout.record_bytes,
                    request.result_bytes > 0 ? ", with a copy for the result" : ""));
  plan.spill_block_bytes = block;
  return plan;
}

/// Copies the records to the front of the arena, where the memory behind the last record may be read.
std::span<const std::byte> copied(std::span<const std::byte> records, const RankContext& context) {
  const std::size_t threads = context.plan.threads;
  run_workers(threads, [&](std::size_t worker, const StopFlag&) {
    const std::size_t first = records.size() * worker / threads;
    const std::size_t end = records.size() * (worker + 1) / threads;
    if (end > first) std::memcpy(context.arena.data() + first, records.data() + first, end - first);
  });
  return context.arena.first(records.size());
}

void run_memory_phases(const MemorySort& request, RankContext& context, MemorySortState& state, RankResult& result) {
  comm::Communicator& ranks = *context.ranks;
  context.begin_phase("plan_shares");
  plan_memory_shares(request, ranks, state);
  const bool copies = !keys_are_read_inside(request.layout);
  context.plan = plan_index_memory(request, copies, ranks);
  state.arena = io::Buffer(context.plan.arena_bytes);
  context.arena = state.arena.span();
  result.threads = context.plan.threads;
  result.planned_input_records = request.records.size() / request.layout.record_bytes;
  result.planned_output_records = state.shares.records[context.rank()];
  const std::uint64_t all_records = std::reduce(state.shares.records.begin(), state.shares.records.end());
  context.monitor->plan_work(2 * all_records * request.layout.record_bytes);
  context.begin_phase("form_runs", context.weights.form);
  form_run_over(copies ? copied(request.records, context) : request.records, state.first_record, context, state.runs);
  result.input = state.runs.input;
  result.runs = result.runs_in_memory = state.runs.count();
  result.in_memory = result.all_in_memory = true;
  Output output(request.sorted);
  const auto exchange = [&] {
    context.begin_phase("select_splitters");
    const ExchangePlan plan = plan_exchange(state.runs, context, state.shares, output);
    context.begin_phase("exchange", context.weights.merge);
    return exchange_and_merge(state.runs, plan, context, output);
  };
  const OrderVerifier written =
      needs_exchange(state.runs, context, state.shares, output) ? exchange() : merge_runs(state.runs, context, output);
  context.begin_phase("publish");
  result.output = written.digest();
  const WrittenByAll all = prove(result.input, written, output.name(), ranks);
  result.all = all.digest;
  result.all_bytes = result.all.records * request.layout.record_bytes;
  context.monitor->end_phases();
}

}  // namespace

void sort_memory(const MemorySort& request, comm::Communicator& ranks, Monitor& monitor, RankResult& result) {
  const SortOptions defaults;
  RankContext context{
      .layout = request.layout, .plan = {}, .arena = {}, .ranks = &ranks, .monitor = &monitor, .options = &defaults};
  MemorySortState state;
  try {
    run_memory_phases(request, context, state, result);
  } catch (const std::exception& error) {
    report_failure(ranks, error);
    throw;
  }
}

}  // namespace hetsort::sort
