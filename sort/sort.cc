// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
#include "sort/sort.h"

#include <fmt/format.h>

#include <algorithm>
#include <exception>
#include <memory>
#include <new>
#include <optional>

#include "io/calls/buffer.h"
#include "io/field.h"
#include "io/file_system.h"
#include "sort/exchange/exchange.h"
#include "sort/exchange/plan_exchange.h"
#include "sort/exchange/scatter_input.h"
#include "sort/failure/report_failure.h"
#include "sort/failure/request_error.h"
#include "sort/input/probe_order.h"
#include "sort/input/sorted_inputs.h"
#include "sort/merge/merge_runs.h"
#include "sort/model/rank_context.h"
#include "sort/plan/plan_sort.h"
#include "sort/publish.h"
#include "sort/runs/bucket_index.h"
#include "sort/runs/form_runs.h"

namespace hetsort::sort {

namespace {

/// The results of phases that later phases use. After a failure they must live until the other ranks know of it: until
/// then messages may use their memory.
struct PhaseResults {
  std::optional<PreparedSort> prepared;
  io::Buffer arena;
  std::unique_ptr<ScatteredInput> scattered;
  FormedRuns runs;
};

/// Plans the work of the job: each byte counts once in the input and once in the output, and once more if the output is
/// verified. How the time divides among the phases depends on how runs are formed: the weights are typical ones.
void plan_work(const SortOptions& options, RankContext& context, const PreparedSort& prepared) {
  context.weights = {};
  if (prepared.plan.stream && context.ranks->size() == 1) return context.monitor->plan_work(0);
  const std::uint64_t record_bytes = context.layout.record_bytes;
  const std::uint64_t input_bytes = prepared.input_shares.total_records() * record_bytes;
  const std::uint64_t output_bytes = prepared.shares.total_records() * record_bytes;
  const auto own_bytes = static_cast<double>(prepared.input_shares.records[context.rank()] * record_bytes);
  const auto kept_bytes = static_cast<double>(context.plan.kept_bytes);
  double spilled_part = 0;  // fraction of the work of a run that all threads form together
  WorkWeights weights{.form = 3, .spill = 4, .merge = 2};
  if (!context.plan.in_memory && !context.plan.forms_together) weights = {.form = 4, .spill = 0, .merge = 6};
  if (!context.plan.in_memory && context.plan.forms_together) {
    spilled_part = 1 - std::min(1.0, kept_bytes / std::max(1.0, own_bytes));
    weights.merge = 5;
  }
  const double scale = 2 / (weights.form + spilled_part * weights.spill + weights.merge);
  context.weights = {.form = scale * weights.form, .spill = scale * weights.spill, .merge = scale * weights.merge};
  context.monitor->plan_work(input_bytes + output_bytes + (options.output.verify ? output_bytes : 0));
}

void plan_shares(const SortOptions& options, RankContext& context, PhaseResults& state, RankResult& result) {
  context.begin_phase("plan_shares");
  PreparedSort& prepared = state.prepared.emplace(options, *context.ranks, *context.monitor);
  context.plan = prepared.plan.memory;
  try {
    state.arena = io::Buffer(context.plan.arena_bytes);
  } catch (const std::bad_alloc&) {
    throw RequestError(fmt::format("reserve {} of memory: the system refuses it; give less with {}",
                                   io::human_size(context.plan.arena_bytes), io::field("memory")));
  }
  context.arena = state.arena.span();
  prepared.describe(result);
  prepared.reserve_output();
  plan_work(options, context, prepared);
}

// Lines of this size need memory besides blocks while they are selected and merged. Shorter lines need little.
constexpr std::uint64_t kLongLineBytes = std::uint64_t{64} << 10;

/// Adds the longest line of all ranks to the runs, and leaves as many threads as can merge or write such lines in this
/// rank's memory. Collective.
void plan_merge_of_lines(RankContext& context, PhaseResults& state) {
  FormedRuns& runs = state.runs;
  runs.longest_line = context.ranks->all_reduce_max(runs.longest_line);
  const std::uint64_t used_bytes = runs.input_bytes + BucketIndex::pool_bytes(runs.input.records, context.plan.threads);
  const bool merges = !runs.in_memory() || context.ranks->size() > 1;
  context.plan.threads =
      std::max<std::size_t>(1, merges ? threads_that_merge(context.plan, runs.longest_line)
                                      : threads_that_write(context.plan, used_bytes, runs.longest_line));
  if (!runs.in_memory() && runs.longest_line >= kLongLineBytes) state.arena.discard();
}

void form(const SortOptions& options, RankContext& context, PhaseResults& state, RankResult& result) {
  PreparedSort& prepared = *state.prepared;
  if (prepared.is_worth_measuring()) {
    context.begin_phase("measure");
    prepared.measure();
  }
  context.begin_phase("form_runs", context.weights.form);
  prepared.begin_to_form();
  state.runs = form_runs(prepared.input, context, options.spill, *prepared.segments);
  if (state.scattered) state.scattered->finish();
  state.scattered.reset();
  if (!prepared.cuts_anywhere()) plan_merge_of_lines(context, state);
  const FormedRuns& runs = state.runs;
  if (prepared.plan.stream && context.ranks->size() == 1) context.monitor->know_total(2 * runs.input_bytes);
  if (prepared.claims != nullptr || result.planned_input_records == 0)
    result.planned_input_records = runs.input.records;
  result.work = options.hooks.judge_work ? options.hooks.judge_work(runs.work) : runs.work;
  result.input = runs.input;
  result.in_memory = runs.in_memory();
  result.all_in_memory = runs.in_memory() && (context.ranks->size() == 1 || !prepared.plan.any_rank_spills);
  result.runs = runs.count();
  result.runs_in_memory = runs.kept.size();
  prepared.input_was_read(runs.input.records, runs.input_bytes);
  prepared.begin_output();
}

OrderVerifier exchange(FormedRuns& runs, PreparedSort& prepared, const RankContext& context, RankResult& result) {
  context.begin_phase("select_splitters");
  prepared.decide_output_shares(result.work, result);
  result.planned_output_records = context.layout.records_in(prepared.shares.records[context.rank()]);
  const ExchangePlan plan = plan_exchange(runs, context, prepared.shares, prepared.output);
  prepared.lines_were_cut(plan.shares);
  if (!plan.volume_first.empty()) prepared.output.cut_at(plan.volume_first);
  result.runs = runs.count();
  context.begin_phase("exchange", context.weights.merge);
  return exchange_and_merge(runs, plan, context, prepared.output);
}

/// Merges the sorted stretches of which the inputs consist, in place of all phases after plan_shares.
void merge_sorted(const SortOptions& options, const RankContext& context, PhaseResults& state, RankResult& result,
                  const SeemingOrder& order) {
  PreparedSort& prepared = *state.prepared;
  context.monitor->plan_work(2 * prepared.input.total_bytes());
  context.begin_phase("merge_runs", 2);
  const std::uint64_t own_bytes = context.plan.staging_bytes;
  const SortedInputs::Memory memory{options.memory_bytes - std::min(options.memory_bytes, own_bytes),
                                    max_line_bytes(options.memory_bytes)};
  SortedInputs inputs(prepared.input, context.layout, memory, order.stretches, order.reversed);
  prepared.begin_output();
  const OrderVerifier written = merge_inputs(inputs, context, prepared.output);
  prepared.input.check_unchanged();
  state.runs.input = result.input = inputs.digest();
  state.runs.input_bytes = inputs.bytes_of_records();
  result.runs = result.runs_in_memory = inputs.streams();
  result.in_memory = result.all_in_memory = true;
  prepared.input_was_read(result.input.records, state.runs.input_bytes);
  context.begin_phase("publish", 1);
  publish(state.runs, written, prepared.output, context, result);
}

/// An input that seems to consist of sorted stretches, and does not fit in memory, is merged instead: it is read once
/// and written once.
/// Returns false if it is not sorted after all; then nothing of it has been published.
bool merged_as_it_is(const SortOptions& options, const RankContext& context, PhaseResults& state, RankResult& result) {
  const PreparedSort& prepared = *state.prepared;
  if (!options.hooks.uses_order_of_input || context.ranks->size() > 1 || context.plan.in_memory ||
      prepared.input.is_stream() || !prepared.output.is_staged() || prepared.output.is_stream())
    return false;
  const SeemingOrder order = seeming_order(prepared.input, context.layout);
  if (order.stretches.empty()) return false;
  try {
    merge_sorted(options, context, state, result, order);
    return true;
  } catch (const NotSorted&) {
  } catch (const RequestError&) {  // memory has no room for blocks of all stretches
  }
  result.input = {};
  context.monitor->plan_work(2 * prepared.input.total_bytes());
  return false;
}

void run_phases(const SortOptions& options, RankContext& context, PhaseResults& state, RankResult& result) {
  plan_shares(options, context, state, result);
  if (options.input.sorted) return merge_sorted(options, context, state, result, {whole_inputs(state.prepared->input)});
  if (merged_as_it_is(options, context, state, result)) return;
  PreparedSort& prepared = *state.prepared;
  if (prepared.input_kind == InputKind::kRoot)
    state.scattered = scatter_input(prepared.input, prepared.input_shares, context);
  form(options, context, state, result);
  const OrderVerifier written = needs_exchange(state.runs, context, prepared.shares, prepared.output)
                                    ? exchange(state.runs, prepared, context, result)
                                    : merge_runs(state.runs, context, prepared.output);
  context.begin_phase("publish", 1);
  publish(state.runs, written, prepared.output, context, result);
}

}  // namespace

void sort_records(const SortOptions& options, comm::Communicator& ranks, Monitor& monitor, RankResult& result) {
  RankContext context{
      .layout = options.layout, .plan = {}, .arena = {}, .ranks = &ranks, .monitor = &monitor, .options = &options};
  PhaseResults state;
  try {
    run_phases(options, context, state, result);
  } catch (const std::exception& error) {
    report_failure(ranks, error);
    throw;
  }
}

}  // namespace hetsort::sort
