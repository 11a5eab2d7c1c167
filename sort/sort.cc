// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
#include "sort/sort.h"

#include <fmt/format.h>

#include <algorithm>
#include <exception>
#include <functional>
#include <memory>
#include <new>
#include <optional>
#include <utility>

#include "io/calls/buffer.h"
#include "io/field.h"
#include "io/file_system.h"
#include "sort/checkpoint/checkpoint.h"
#include "sort/checkpoint/open_checkpoint.h"
#include "sort/exchange/exchange.h"
#include "sort/exchange/plan_exchange.h"
#include "sort/exchange/scatter_input.h"
#include "sort/failure/report_failure.h"
#include "sort/failure/request_error.h"
#include "sort/input/probe_order.h"
#include "sort/input/sorted_inputs.h"
#include "sort/merge/merge_runs.h"
#include "sort/merge/restore_runs.h"
#include "sort/model/rank_context.h"
#include "sort/plan/measure_rates.h"
#include "sort/plan/plan_sort.h"
#include "sort/plan/share_output.h"
#include "sort/publish.h"
#include "sort/runs/bucket_index.h"
#include "sort/runs/form_runs.h"
#include "sort/runs/run_spiller.h"

namespace hetsort::sort {

namespace {

/// What must live after a failure until the other ranks know of it: until then messages may use its memory.
struct Held {
  std::optional<PlannedSort> planned;
  io::Buffer arena;
  std::unique_ptr<ScatteredInput> scattered;
  FormedRuns runs;
};

RankContext context_of(const SortOptions& options, comm::Communicator& ranks, Monitor& monitor) {
  return {.layout = options.layout, .plan = {}, .arena = {}, .ranks = &ranks, .monitor = &monitor, .options = &options};
}

/// The memory of the plan. Throws: MemoryTooSmall if the system refuses it.
io::Buffer reserve_arena(const MemoryPlan& plan) {
  try {
    return io::Buffer(plan.arena_bytes);
  } catch (const std::bad_alloc&) {
    throw MemoryTooSmall(fmt::format("reserve {} of memory: the system refuses it; give less with {}",
                                     io::human_size(plan.arena_bytes), io::field("memory")));
  }
}

/// Plans the work of the job: each byte counts once in the input and once in the output, and once more if the output is
/// verified. How the time divides among the phases depends on how runs are formed: the weights are typical ones.
void plan_work(PlannedSort& planned, RankContext& context) {
  context.weights = {};
  if (planned.size_is_unknown()) {
    planned.input.count_stream([monitor = context.monitor](std::uint64_t bytes) { monitor->read(bytes); });
    return context.monitor->plan_work(0);
  }
  const std::uint64_t record_bytes = context.layout.record_bytes;
  const std::uint64_t input_bytes = planned.input_shares.total_records() * record_bytes;
  const std::uint64_t output_bytes = planned.shares.total_records() * record_bytes;
  const auto own_bytes = static_cast<double>(planned.input_shares.records[context.rank()] * record_bytes);
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
  context.monitor->plan_work(input_bytes + output_bytes + (context.options->output.verify ? output_bytes : 0),
                             input_bytes);
}

// Lines of this size need memory besides blocks while they are selected, merged and proven. Shorter lines need little.
constexpr std::uint64_t kLongLineBytes = std::uint64_t{64} << 10;

/// Adds the longest line of all ranks to the runs, and leaves as many threads as can merge or write such lines in this
/// rank's memory. Lines in memory spill if the rank has no room to exchange the longest besides. Collective.
void plan_merge_of_lines(RankContext& context, FormedRuns& runs, io::Buffer& arena) {
  runs.longest_line = context.ranks->all_reduce_max(runs.longest_line);
  const std::uint64_t used_bytes = runs.input_bytes + BucketIndex::pool_bytes(runs.input.records, context.plan.threads);
  const auto ranks_on_host = static_cast<std::uint64_t>(context.ranks->ranks_on_host());
  const std::uint64_t room_bytes = context.options->memory_bytes + beside_memory_bytes(ranks_on_host);
  std::size_t threads = context.ranks->size() > 1
                            ? threads_that_exchange(context.plan, room_bytes, used_bytes, runs.longest_line)
                            : threads_that_write(context.plan, used_bytes, runs.longest_line);
  if (threads == 0 && runs.kept_lines.bytes() > 0) spill_kept_lines(context, runs);
  if (!runs.in_memory()) threads = threads_that_merge(context.plan, runs.longest_line);
  context.plan.threads = std::max<std::size_t>(1, threads);
  if (!runs.in_memory() && runs.longest_line >= kLongLineBytes) arena.discard();
}

/// Writes what is known of the runs into `result`.
void describe(const FormedRuns& runs, const PlannedSort& planned, RankResult& result) {
  if (planned.claims != nullptr || result.planned_input_records == 0) result.planned_input_records = runs.input.records;
  const TestHooks& hooks = planned.options.hooks;
  result.work = hooks.judge_work ? hooks.judge_work(runs.work) : runs.work;
  result.input = runs.input;
  result.in_memory = runs.in_memory();
  result.all_in_memory = runs.in_memory() && (planned.ranks.size() == 1 || !planned.plan.any_rank_spills);
  result.runs = runs.count();
  result.runs_in_memory = runs.kept.size();
}

/// What this rank shows of its speed.
FormedRank formed_by_this_rank(const FormedRuns& runs, const PlannedSort& planned, const RankResult& result) {
  return {.work = result.work, .input_records = runs.input_bytes / planned.options.layout.record_bytes};
}

/// The sorted stretches of which the inputs consist, if they are to be merged as they are: the user says that they are
/// sorted, or they do not fit in memory and seem to be. Else none.
SeemingOrder order_to_merge(const PlannedSort& planned, const RankContext& context) {
  const SortOptions& options = planned.options;
  if (options.input.sorted && planned.input.opens_in_turn()) return {};
  if (options.input.sorted) return {whole_inputs(planned.input)};
  const bool may_merge = context.finds_runs_in_place() && context.ranks->size() == 1 && !context.plan.in_memory &&
                         !planned.input.is_stream() && planned.output.is_staged() && !planned.output.is_stream();
  return may_merge ? seeming_order(planned.input, context.layout) : SeemingOrder{};
}

/// The memory for the blocks of inputs that are merged as they are.
SortedInputs::Memory memory_of_inputs(const PlannedSort& planned, const RankContext& context) {
  const std::uint64_t all_bytes = planned.options.memory_bytes;
  return {all_bytes - std::min(all_bytes, context.plan.staging_bytes), max_line_bytes(all_bytes), planned.codec_bytes};
}

/// Merges the sorted stretches of which the inputs consist, in place of all phases between plan_shares and publish:
/// each byte is read once and written once. Throws: also NotSorted.
WrittenOutput merge_sorted(const SeemingOrder& order, PlannedSort& planned, const RankContext& context,
                           FormedRuns& read, RankResult& result) {
  context.monitor->plan_work(2 * planned.input.total_bytes(), planned.input.total_bytes());
  context.begin_phase("merge_runs", 2);
  SortedInputs inputs(planned.input, context.layout, memory_of_inputs(planned, context), order.stretches,
                      order.reversed);
  WrittenOutput written = merge_inputs(inputs, context, begin_output(planned, planned.shares.total_records()));
  planned.input.check_unchanged();
  read.input = inputs.digest();
  read.input_bytes = inputs.bytes_of_records();
  check_read_records(planned, read);
  if (planned.size_is_unknown() && !planned.output.is_stream()) planned.output.reserve(read.input_bytes);
  result.input = read.input;
  result.runs = result.runs_in_memory = inputs.streams();
  result.in_memory = result.all_in_memory = true;
  return written;
}

/// As merge_sorted(). Returns nothing if inputs that only seem to be sorted are not, or if memory has no room for
/// blocks of all stretches; then nothing has been published.
std::optional<WrittenOutput> try_to_merge(const SeemingOrder& order, PlannedSort& planned, const RankContext& context,
                                          FormedRuns& read, RankResult& result) {
  if (planned.options.input.sorted) return merge_sorted(order, planned, context, read, result);
  try {
    return merge_sorted(order, planned, context, read, result);
  } catch (const NotSorted&) {
  } catch (const RequestError&) {
  }
  context.monitor->plan_work(2 * planned.input.total_bytes(), planned.input.total_bytes());
  return std::nullopt;
}

/// Merges sorted INPUTs that cannot be open together: each batch of them becomes a run.
WrittenOutput merge_in_passes(Held& held, RankContext& context, RankResult& result) {
  PlannedSort& planned = *held.planned;
  FormedRuns& runs = held.runs;
  context.begin_phase("form_runs", context.weights.form);
  runs = merge_batches(planned.input, context, memory_of_inputs(planned, context));
  context.monitor->know_total(2 * runs.input_bytes, runs.input_bytes);
  if (!planned.cuts_anywhere()) plan_merge_of_lines(context, runs, held.arena);
  describe(runs, planned, result);
  check_read_records(planned, runs);
  const FormedRank mine = formed_by_this_rank(runs, planned, result);
  return merge_runs(runs, context, place_output(share_output(planned, {&mine, 1}, result)));
}

/// How ranges of the output may move to other ranks; nothing if they may not: somebody asked for these shares, the
/// ranks cannot all write anywhere in the output, or rank 0 has no thread that answers requests.
std::optional<Redeal> redeal_of(const PlannedSort& planned) {
  const comm::Communicator& ranks = planned.ranks;
  if (!planned.options.shares.output_by_rates || !planned.output_is_shared || planned.output.is_stream() ||
      ranks.size() == 1 || ranks.mode() == comm::ExchangeMode::kInline)
    return {};
  return planned.options.hooks.redeal;
}

/// Lets the checkpoint know in which file the output is written, if that file stays. Collective: the journal of rank 0
/// says how many ranks may have left files, so it comes first.
void keep_output(PlannedSort& planned) {
  const auto begin = [&] { planned.checkpoint->begin(planned.plan.memory.spill_block_bytes); };
  if (planned.rank() == 0) begin();
  planned.ranks.barrier();
  if (planned.rank() != 0) begin();
  Volume& volume = planned.output.first_volume();
  const std::string kept = volume.kept_name();
  if (kept.empty()) return planned.checkpoint->forget_output();
  planned.checkpoint->write_to({volume.folder(), kept});
  volume.keep();
}

/// Lets the next process trust less of the checkpoint. Where that fails, it fails again as this one has.
void doubt(Checkpoint& checkpoint) noexcept {
  try {
    checkpoint.doubt();
  } catch (const std::exception&) {
  }
}

/// Forms runs, cuts them at the borders of all ranges, and merges them into the output.
WrittenOutput form_and_merge(Held& held, RankContext& context, RankResult& result) {
  PlannedSort& planned = *held.planned;
  FormedRuns& runs = held.runs;
  if (planned.input_kind == InputKind::kRoot)
    held.scattered = scatter_input(planned.input, planned.input_shares, context);
  if (is_worth_measuring(planned)) {
    context.begin_phase("measure");
    measure(planned);
  }
  context.begin_phase("form_runs", context.weights.form);
  begin_to_form(planned);
  std::unique_ptr<InputSegments> missing;
  if (planned.checkpoint) {
    keep_output(planned);
    missing = restore_runs(context, *planned.segments, planned.output, runs);
  }
  runs =
      form_runs(planned.input, context, planned.options.spill, missing ? *missing : *planned.segments, std::move(runs));
  if (held.scattered) held.scattered->finish();
  held.scattered.reset();
  if (!planned.cuts_anywhere()) plan_merge_of_lines(context, runs, held.arena);
  if (planned.size_is_unknown()) context.monitor->know_total(2 * runs.input_bytes, runs.input_bytes);
  describe(runs, planned, result);
  check_read_records(planned, runs);
  const FormedRank mine = formed_by_this_rank(runs, planned, result);
  if (!needs_exchange(runs, context, planned.shares, planned.output))
    return merge_runs(runs, context, place_output(share_output(planned, {&mine, 1}, result)));
  context.begin_phase("select_splitters");
  std::vector<FormedRank> formed = gather_formed(runs, context, planned.output, mine);
  const SharedOutput shared = share_output(planned, formed, result);
  const ExchangePlan plan =
      plan_exchange(runs, context, {shared.shares, planned.output, std::move(formed), redeal_of(planned)});
  result.runs = runs.count();
  const ReadyOutput output = place_output(shared, plan);
  context.begin_phase("exchange", context.weights.merge);
  // Ranks that claimed the input can read what others have claimed.
  if (planned.claims != nullptr) runs.shared_input = &planned.input;
  return exchange_and_merge(runs, plan, context, output, result);
}

/// Lets the monitor count waits in collectives while this object lives.
class CountedWaits {
 public:
  CountedWaits(comm::Communicator& ranks, Monitor& monitor) : ranks_(ranks) {
    monitor.set_processors(processors_of(ranks));
    ranks.on_collective([&monitor](auto begin, auto end) { monitor.wait_for_all(begin, end); });
  }
  CountedWaits(const CountedWaits&) = delete;
  CountedWaits& operator=(const CountedWaits&) = delete;
  ~CountedWaits() { ranks_.on_collective({}); }

 private:
  comm::Communicator& ranks_;
};

/// All phases. `open`: checks and opens what the sort reads and writes.
void run_phases(const SortOptions& options, RankContext& context, RankResult& result,
                const std::function<OpenedSort()>& open) {
  Held held;
  const CountedWaits counted(*context.ranks, *context.monitor);
  try {
    context.begin_phase("plan_shares");
    OpenedSort opened = open();
    opened.checkpoint = open_checkpoint(options, opened.input, *context.ranks);
    PlannedSort& planned = held.planned.emplace(std::move(opened), options, *context.ranks, *context.monitor);
    context.checkpoint = planned.checkpoint.get();
    context.layout = options.layout;
    context.plan = planned.plan.memory;
    held.arena = reserve_arena(context.plan);
    context.arena = held.arena.span();
    planned.describe(result);
    reserve_output(planned);
    plan_work(planned, context);
    FormedRuns& runs = held.runs;
    std::optional<WrittenOutput> written;
    const SeemingOrder order = order_to_merge(planned, context);
    if (!order.stretches.empty()) written = try_to_merge(order, planned, context, runs, result);
    if (!written) written = (options.input.sorted ? merge_in_passes : form_and_merge)(held, context, result);
    context.begin_phase("publish", 1);
    // The ranks compare the first and last lines of their shares.
    if (runs.longest_line >= kLongLineBytes) held.arena.discard();
    publish(prove(std::move(*written), runs, context, result), context, result);
    if (planned.checkpoint) planned.checkpoint->finish();
  } catch (const std::exception& error) {
    if (context.checkpoint != nullptr && dynamic_cast<const ProofError*>(&error) != nullptr) doubt(*context.checkpoint);
    report_failure(*context.ranks, error);
    throw;
  }
}

}  // namespace

void sort_records(const SortOptions& options, comm::Communicator& ranks, Monitor& monitor, RankResult& result) {
  SortOptions own = options;  // opening the inputs shows which fields the keys are
  RankContext context = context_of(own, ranks, monitor);
  run_phases(own, context, result, [&] { return open_sort(own, ranks, monitor, OpenedFor::kSort); });
}

void sort_memory(const MemorySort& request, comm::Communicator& ranks, Monitor& monitor, RankResult& result) {
  SortOptions options;
  options.layout = request.layout;
  options.memory_bytes = request.memory_bytes;
  options.threads = request.threads;
  options.output.places = !request.places.empty();
  RankContext context = context_of(options, ranks, monitor);
  const std::span<std::byte> output = options.output.places ? std::as_writable_bytes(request.places) : request.sorted;
  run_phases(options, context, result, [&] { return open_memory(request.layout, request.records, output); });
}

}  // namespace hetsort::sort
