// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
#include "sort/plan/plan_sort.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "comm/base/packing.h"
#include "io/checked.h"
#include "io/field.h"
#include "io/file_system.h"
#include "io/temp/temp_space.h"
#include "sort/exchange/scatter_input.h"
#include "sort/failure/request_error.h"
#include "sort/input/record_count.h"
#include "sort/input/shared_input.h"
#include "sort/machine/memory_budget.h"

namespace hetsort::sort {

namespace {

void check_temp_directories(const SpillOptions& options, const SortPlan& plan, const Output& output, Monitor& monitor) {
  if (plan.memory.in_memory && !options.directories_given) return;
  // How much space compressed runs take shows when they are written.
  const std::uint64_t temp_bytes = names_format(options.compression) ? 0 : plan.temp_bytes;
  std::vector<io::SpaceNeed> needs;
  for (const std::string& directory : options.directories) {
    const io::Space space = io::inspect_space(directory, "temp directory");
    if (plan.temp_bytes > 0 && space.storage == io::Storage::kMemory)
      monitor.note(fmt::format("temp directory {} is in memory: what spills there takes memory beyond {}", directory,
                               io::field("memory")));
    needs.push_back({"temp directory", directory, temp_bytes / options.directories.size()});
  }
  if (output.is_staged()) {
    const std::vector<std::uint64_t> parts = equal_parts(plan.output_bytes, output.volumes().size());
    for (std::size_t part = 0; part < parts.size(); ++part) {
      const Volume& volume = *output.volumes()[part];
      needs.push_back({"output folder", volume.folder(), volume.first_byte() + parts[part]});
    }
  }
  io::check_space(needs);
}

}  // namespace

PlannedSort::PlannedSort(OpenedSort opened, const SortOptions& asked, comm::Communicator& all, Monitor& monitor)
    : OpenedSort(std::move(opened)), options(asked), ranks(all) {
  plan_shares();
  take_segments();
  plan_memory_for_all();
  if (options.input.sorted && !input.opens_in_turn()) {
    plan.memory.in_memory = true;  // a merge in one pass spills nothing, and has blocks of its own
    plan.memory.arena_bytes = plan.memory.threads * (plan.memory.scratch_bytes + plan.memory.staging_bytes);
    plan.temp_bytes = 0;
    plan.one_merge_pass = true;
  }
  if (checkpoint) plan.temp_bytes -= std::min(plan.temp_bytes, checkpoint->bytes_on_disk());
  check_temp_directories(options.spill, plan, output, monitor);
  if (!plan.one_merge_pass && ranks.size() == 1)  // rank 0 of several says it in the exchange
    monitor.note(fmt::format("one pass cannot merge {} runs: neighbours are merged first", plan.memory.run_count));
  if (rank() == 0 && plan.memory.merging_threads < options.threads)
    monitor.note(fmt::format("{} of {} threads of each rank merge: {} has no room for the streams of more",
                             plan.memory.merging_threads, options.threads, io::field("memory")));
}

/// The records to sort; if ranks have files of their own, also what each rank has.
RecordsToShare PlannedSort::find_records() {
  const auto size = static_cast<std::size_t>(ranks.size());
  const std::uint64_t record_bytes = options.layout.record_bytes;
  if (size > 1 && input_kind != InputKind::kRoot && input.is_stream())
    throw RequestError(
        fmt::format("INPUT {} is a pipe, a device, compressed or of unknown size, or 'ulimit -n' is too low for all "
                    "INPUTs: several "
                    "ranks need open inputs of known size; {} lets rank 0 read any",
                    input.stream_name(), io::field("root_input")));
  // With direct I/O, the disk also reads what is in the page cache.
  const bool cache_counts = input_kind != InputKind::kRoot && options.access != io::Access::kUring &&
                            options.access != io::Access::kThreads && options.shares.output;
  if (cache_counts) input_cached = input.cached_fraction();
  struct OwnInput {
    std::uint64_t records = 0;
    double cached = 0;
    std::uint64_t cacheable_bytes = 0;
  };
  const std::uint64_t cacheable = read_memory_limits().cacheable_bytes();
  const auto writers = static_cast<std::uint64_t>(output_is_shared ? 1 : ranks.ranks_on_host());
  const std::vector<OwnInput> found =
      ranks.all_gather(OwnInput{input.total_bytes() / record_bytes, input_cached, cacheable / writers});
  RecordsToShare what;
  std::uint64_t& total = what.records;
  for (std::size_t rank = 0; rank < size; ++rank) {
    const std::uint64_t records = found[rank].records;
    what.input.push_back(records);
    what.input_cached.push_back(found[rank].cached);
    if (input_kind == InputKind::kShared && records != found[0].records)
      throw RequestError(fmt::format("rank {} ({}) finds {} records in the shared input, rank 0 ({}) finds {}", rank,
                                     ranks.host(static_cast<int>(rank)), records, ranks.host(0), found[0].records));
    total = input_kind == InputKind::kShared ? records : io::checked_add(total, records, "the records of all ranks");
  }
  if (records_are_known()) check_record_count(options.input.expected_records, total);
  static_cast<void>(io::checked_multiply(total, record_bytes, "the records of all ranks"));
  const std::uint64_t written = (output_is_shared ? total : total / size) * record_bytes;
  for (const OwnInput& rank : found)
    what.writes_directly.push_back(!output.is_stream() && written > rank.cacheable_bytes);
  if (size > 1 && input_kind == InputKind::kShared) check_inputs_are_shared(input, ranks);
  if (input_kind != InputKind::kOwn) what.input.clear();
  return what;
}

void PlannedSort::plan_shares() {
  const auto size = static_cast<std::size_t>(ranks.size());
  const std::uint64_t record_bytes = options.layout.record_bytes;
  RecordsToShare what = find_records();
  if (input_kind == InputKind::kRoot && options.shares.input) {
    scattered = plan_on_root(options.shares.input, what, ranks);
    what.input = scattered->input_records();
  }
  if (output.is_memory())
    shares = shares_in_memory(what.records);
  else
    shares =
        options.shares.output ? plan_on_root(options.shares.output, what, ranks) : equal_shares(what.records, size);
  check_parts();
  input_shares = scattered ? *scattered : shares;
  input_shares.records = what.input.empty() ? shares.input_records() : what.input;
  if (input_kind != InputKind::kOwn && ends_at_lines()) end_input_shares_at_lines();
  if (size_is_unknown()) {
    shares.parts.clear();
    shares.run.reset();
  }
  if (input_kind != InputKind::kOwn && !claims_input())
    input.take_share(input_shares.first_record(rank()) * record_bytes, input_shares.records[rank()] * record_bytes);
  if (options.shares.output_by_rates) shares.strategy = "auto";
}

/// The shares for which the ranks have memory. Collective. Throws: RequestError if these are not all records.
Shares PlannedSort::shares_in_memory(std::uint64_t records) const {
  Shares found;
  const std::size_t each_bytes = options.output.places ? sizeof(std::uint64_t) : options.layout.record_bytes;
  found.records = ranks.all_gather(whole_records(output.memory().size(), each_bytes));
  std::uint64_t shared = 0;
  for (const std::uint64_t share : found.records) shared = io::checked_add(shared, share, "the shares of all ranks");
  if (shared != records)
    throw RequestError(
        fmt::format("the shares of all ranks have {} records together, but there are {} records", shared, records));
  return found;
}

/// Lets each rank start at the first line that begins in its equal part. Rank 0 finds where that is. Collective.
void PlannedSort::end_input_shares_at_lines() {
  comm::Packer packer;
  if (ranks.rank() == 0) {
    std::vector<std::uint64_t> borders;
    for (std::size_t each = 0; each <= input_shares.records.size(); ++each)
      borders.push_back(input.record_start(input_shares.first_record(each)));
    for (std::size_t each = 0; each < input_shares.records.size(); ++each)
      input_shares.records[each] = borders[each + 1] - borders[each];
    packer.values(input_shares.records);
  }
  const comm::Bytes bytes = ranks.broadcast(packer.take());
  input_shares.records = comm::Unpacker(bytes).values<std::uint64_t>();
}

void PlannedSort::check_parts() const {
  std::uint64_t parts = 0;
  for (std::size_t rank = 0; rank < shares.parts.size(); ++rank)
    parts += shares.records[rank] > 0 ? shares.parts[rank] : 0;
  if (parts > std::max(kMaxParts, static_cast<std::uint64_t>(ranks.size())))
    throw RequestError(fmt::format("strategy '{}' would emulate {} processes; a sort emulates {} at most",
                                   shares.strategy, parts, kMaxParts));
}

void PlannedSort::take_segments() {
  const std::uint64_t record_bytes = options.layout.record_bytes;
  // If one input is a stream of unknown size, the sizes of the others say nothing about the whole.
  capacity_bytes = size_is_unknown() ? 0 : input.total_bytes();
  if (!claims_input()) {
    segments = list_segments();
    return;
  }
  auto claimed =
      std::make_unique<ClaimedSegments>(ClaimedSegments::Input{shares.total_records(), record_bytes,
                                                               options.input.min_claim_bytes, options.hooks.on_claim},
                                        ranks);
  claims = claimed.get();
  segments = std::move(claimed);
  capacity_bytes = input_shares.records[rank()] * record_bytes;
}

std::unique_ptr<InputSegments> PlannedSort::list_segments() const {
  const std::uint64_t first = input_shares.first_record(rank());
  if (size_is_unknown()) return std::make_unique<ListedSegments>(std::vector<InputSegment>{{0, kToTheEnd, first}});
  if (options.hooks.take_segments) return options.hooks.take_segments(input.total_bytes(), first);
  const std::uint64_t record_bytes = options.layout.record_bytes;
  std::vector<InputSegment> listed;
  std::uint64_t at = 0;
  const std::uint64_t parts = cuts_anywhere() ? shares.parts_of(rank()) : 1;
  for (const std::uint64_t part : equal_parts(input.total_bytes() / record_bytes, parts)) {
    listed.push_back({at * record_bytes, part * record_bytes, first + at});
    at += part;
  }
  return std::make_unique<ListedSegments>(std::move(listed));
}

bool PlannedSort::claims_input() const {
  // Runs that exist belong to the ranks that have them.
  return options.shares.output_by_rates && input_kind == InputKind::kShared && cuts_anywhere() &&
         ranks.mode() != comm::ExchangeMode::kInline && options.checkpoint.folders.empty();
}

void PlannedSort::describe(RankResult& result) const {
  result.strategy = scattered ? scattered->strategy : shares.strategy;
  result.predicted_seconds = scattered ? scattered->predicted_seconds : shares.predicted_seconds;
  result.explanation = shares.plan.explanation;
  if (shares.run) {
    result.input_cached = input_cached;
    result.predicted_form = shares.run->form[rank()];
    result.predicted_exchange = shares.run->exchange[rank()];
    // The scatter's prediction covers the time from the start until the last rank has formed its runs. Add the rest.
    if (scattered && scattered->predicted_seconds > 0 && !scattered->run)
      result.predicted_seconds += shares.run->seconds - shares.run->start_seconds - shares.run->form_seconds;
  }
  result.planned_input_records = options.layout.records_in(input_shares.records[rank()]);
  result.planned_output_records = options.layout.records_in(shares.records[rank()]);
  result.threads = plan.memory.threads;
  result.output_untouched = output.is_staged() || (output_is_shared && !output.is_stream());
}

SortPlan plan_sort(const SortOptions& options, comm::Communicator& ranks) {
  Monitor monitor;
  SortOptions own = options;
  OpenedSort opened = open_sort(own, ranks, monitor, OpenedFor::kPlan);
  PlannedSort planned(std::move(opened), own, ranks, monitor);
  SortPlan plan = std::move(planned.plan);
  if (planned.shares.run) plan.input_cached = planned.input_cached;
  plan.shares = std::move(planned.shares);
  plan.scattered = std::move(planned.scattered);
  return plan;
}

}  // namespace hetsort::sort
