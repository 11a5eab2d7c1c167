// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
#include "sort/plan/plan_sort.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "comm/base/packing.h"
#include "io/checked.h"
#include "io/file_system.h"
#include "io/temp/temp_space.h"
#include "order/lines/line_order.h"
#include "sort/exchange/scatter_input.h"
#include "sort/failure/proof_error.h"
#include "sort/failure/request_error.h"
#include "sort/input/rank_path.h"
#include "sort/input/record_count.h"
#include "sort/input/shared_input.h"
#include "sort/model/measured_shares.h"

namespace hetsort::sort {

namespace {

/// The paths as this rank opens them. Throws: RequestError when own and shared inputs are mixed.
std::vector<std::string> input_paths(const InputOptions& options, const comm::Communicator& ranks) {
  std::vector<std::string> paths = rank_paths(options.paths, ranks);
  const auto own = static_cast<std::size_t>(std::count_if(options.paths.begin(), options.paths.end(), is_rank_path));
  if (own != 0 && own != paths.size())
    throw RequestError("INPUTs with and without {rank} cannot be mixed: their records would have no common order");
  return paths;
}

InputKind kind_of(const InputOptions& options, const comm::Communicator& ranks) {
  const bool own = !options.paths.empty() && is_rank_path(options.paths.front());
  if (ranks.size() == 1 || own) {
    if (own && options.root_only) throw RequestError("--root-input and {rank} in INPUTs exclude each other");
    return InputKind::kOwn;
  }
  const bool standard_input = options.paths.empty() || std::count(options.paths.begin(), options.paths.end(), "-") > 0;
  return options.root_only || standard_input ? InputKind::kRoot : InputKind::kShared;
}

/// Checks the outputs. Throws: RequestError when several ranks would write to several files that they share.
void check_outputs(const OutputOptions& options, const comm::Communicator& ranks) {
  if (ranks.size() == 1 || options.paths.size() == 1) return;
  for (const std::string& path : options.paths)
    if (!is_rank_path(path))
      throw RequestError(fmt::format(
          "-o {}: several OUTPUTs of several ranks must be files of each rank, with {{rank}} in every path", path));
}

/// Checks the request as far as no file needs to be open, because opening a FIFO may wait. Throws: RequestError,
/// io::Error.
InputKind checked_kind(const SortOptions& options, const comm::Communicator& ranks) {
  check_layout(options.layout);
  check_outputs(options.output, ranks);
  const InputKind kind = kind_of(options.input, ranks);
  if (options.input.sorted && ranks.size() > 1)
    throw RequestError("-m merges in one process; several ranks sort the same INPUTs without it");
  if (kind == InputKind::kRoot && ranks.rank() != 0) return kind;
  const std::vector<std::string> paths = input_paths(options.input, ranks);
  require_record_count(paths, options.input.expected_records);
  for (const std::string& path : paths)
    if (path != "-") io::File::check_readable(path);
  return kind;
}

/// Opens the inputs that this rank reads itself.
Input open_input(const SortOptions& options, const comm::Communicator& ranks, Monitor& monitor) {
  const InputFormat format = input_format(options.layout, options.input.header_bytes, options.input.content);
  if (kind_of(options.input, ranks) != InputKind::kRoot)
    return {input_paths(options.input, ranks), format, options.access};
  if (ranks.rank() != 0) return Input(format.record_bytes);
  Input input(options.input.paths, format, io::Access::kBuffered);
  if (!input.is_stream()) return input;
  monitor.note(
      "a stream is copied to the temp directory before rank 0 shares it out, and standard input comes slowly "
      "through a launcher: a file with --root-input is faster");
  Input spooled(spool(input, options.spill.directories.front()), format.record_bytes, format.terminator);
  spooled.set_header(input.take_header());
  return spooled;
}

/// The layout if only the first of equal records is written. Throws: RequestError.
std::optional<RecordLayout> unique_layout(const SortOptions& options, const comm::Communicator& ranks) {
  if (!options.output.unique) return std::nullopt;
  if (ranks.size() > 1 && is_rank_path(options.output.paths.front()))
    throw RequestError("-u of several ranks needs one OUTPUT: equal records of two ranks would both be written");
  return options.layout;
}

void check_temp_directories(const SpillOptions& options, const SortPlan& plan, const Output& output, Monitor& monitor) {
  if (plan.memory.in_memory && !options.directories_given) return;
  std::vector<io::SpaceNeed> needs;
  for (const std::string& directory : options.directories) {
    const io::Space space = io::inspect_space(directory, "temp directory");
    if (plan.temp_bytes > 0 && space.storage == io::Storage::kMemory)
      monitor.note(fmt::format("temp directory {} is in memory: what spills there takes memory beyond -S", directory));
    needs.push_back({"temp directory", directory, plan.temp_bytes / options.directories.size()});
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

PreparedSort::PreparedSort(const SortOptions& options, comm::Communicator& ranks, Monitor& monitor)
    : input_kind(checked_kind(options, ranks)),
      output_is_shared(ranks.size() > 1 && !is_rank_path(options.output.paths.front())),
      output({rank_paths(options.output.paths, ranks), options.access, options.output.sync, options.output.verify,
              output_is_shared, options.input.header_bytes, unique_layout(options, ranks), options.layout.record_bytes,
              options.output.owner_only},
             ranks),
      input(open_input(options, ranks, monitor)),
      options_(options),
      ranks_(ranks) {
  // Only a single output can be one of the inputs: several outputs are always new files.
  if (const io::File* const file = output.first_volume().files().buffered; file != nullptr) {
    const io::FileStatus written = file->status();
    if (options.input.sorted && input.includes(written))
      throw RequestError("-m reads its INPUTs while it writes: an INPUT cannot be standard output; name it with -o");
    input.keep_apart_from(written);
  }
  if (options.input.sorted && output.volumes().size() > 1 && input.is_stream())
    throw RequestError(
        fmt::format("-m with several OUTPUTs needs INPUTs of known size, and {} is a stream", input.stream_name()));
  plan_shares();
  take_segments();
  plan_memory_for_all();
  if (options.input.sorted) {
    plan.memory.in_memory = true;  // a merge spills nothing, and has blocks of its own
    plan.memory.arena_bytes = plan.memory.threads * (plan.memory.scratch_bytes + plan.memory.staging_bytes);
    plan.temp_bytes = 0;
    plan.one_merge_pass = true;
  }
  check_temp_directories(options.spill, plan, output, monitor);
  if (!plan.one_merge_pass)
    monitor.note(fmt::format("one pass cannot merge {} runs: neighbours are merged first", plan.memory.run_count));
}

/// The records to sort; if ranks have files of their own, also what each rank has.
RecordsToShare PreparedSort::find_records() {
  const auto size = static_cast<std::size_t>(ranks_.size());
  const std::uint64_t record_bytes = options_.layout.record_bytes;
  if (size > 1 && input_kind != InputKind::kRoot && input.is_stream())
    throw RequestError(fmt::format(
        "INPUT {} is a pipe, a device or a file of unknown size, or 'ulimit -n' is too low for all INPUTs: several "
        "ranks need open inputs of known size; --root-input lets rank 0 read any",
        input.stream_name()));
  const std::vector<std::uint64_t> found = ranks_.all_gather(input.total_bytes() / record_bytes);
  RecordsToShare what;
  std::uint64_t& total = what.records;
  for (std::size_t rank = 0; rank < size; ++rank) {
    const std::uint64_t records = found[rank];
    what.input.push_back(records);
    if (input_kind == InputKind::kShared && records != found[0])
      throw RequestError(fmt::format("rank {} ({}) finds {} records in the shared input, rank 0 ({}) finds {}", rank,
                                     ranks_.host(static_cast<int>(rank)), records, ranks_.host(0), found[0]));
    total = input_kind == InputKind::kShared ? records : io::checked_add(total, records, "the records of all ranks");
  }
  if (!size_is_unknown() && !options_.layout.is_lines()) check_record_count(options_.input.expected_records, total);
  static_cast<void>(io::checked_multiply(total, record_bytes, "the records of all ranks"));
  if (size > 1 && input_kind == InputKind::kShared) check_inputs_are_shared(input, ranks_);
  if (input_kind != InputKind::kOwn) what.input.clear();
  return what;
}

void PreparedSort::plan_shares() {
  const auto size = static_cast<std::size_t>(ranks_.size());
  const std::uint64_t record_bytes = options_.layout.record_bytes;
  RecordsToShare what = find_records();
  if (input_kind == InputKind::kRoot && options_.shares.input) {
    scattered = plan_on_root(options_.shares.input, what, ranks_);
    what.input = scattered->input_records();
  }
  shares =
      options_.shares.output ? plan_on_root(options_.shares.output, what, ranks_) : equal_shares(what.records, size);
  check_parts();
  input_shares = scattered ? *scattered : shares;
  input_shares.records = what.input.empty() ? shares.input_records() : what.input;
  if (input_kind != InputKind::kOwn && options_.layout.is_lines()) end_input_shares_at_lines();
  if (size_is_unknown()) {
    shares.parts.clear();
    shares.run.reset();
  }
  if (input_kind != InputKind::kOwn && !claims_input())
    input.take_share(input_shares.first_record(rank()) * record_bytes, input_shares.records[rank()] * record_bytes);
  if (options_.shares.output_by_rates)
    shares.strategy = "auto";
  else
    start_output();
}

/// Lets each rank start at the first line that begins in its equal part. Rank 0 finds where that is. Collective.
void PreparedSort::end_input_shares_at_lines() {
  comm::Packer packer;
  if (ranks_.rank() == 0) {
    std::vector<std::uint64_t> borders;
    for (std::size_t each = 0; each <= input_shares.records.size(); ++each)
      borders.push_back(input.line_start(input_shares.first_record(each)));
    for (std::size_t each = 0; each < input_shares.records.size(); ++each)
      input_shares.records[each] = borders[each + 1] - borders[each];
    packer.values(input_shares.records);
  }
  const comm::Bytes bytes = ranks_.broadcast(packer.take());
  input_shares.records = comm::Unpacker(bytes).values<std::uint64_t>();
}

void PreparedSort::check_parts() const {
  std::uint64_t parts = 0;
  for (std::size_t rank = 0; rank < shares.parts.size(); ++rank)
    parts += shares.records[rank] > 0 ? shares.parts[rank] : 0;
  if (parts > std::max(kMaxParts, static_cast<std::uint64_t>(ranks_.size())))
    throw RequestError(fmt::format("strategy '{}' would emulate {} processes; a sort emulates {} at most",
                                   shares.strategy, parts, kMaxParts));
}

void PreparedSort::start_output() {
  if (ends_at_lines()) return;  // shares that are lines are known when the lines are cut
  if (output_is_shared && !output.is_stream())
    output.first_volume().start_at(shares.first_record(rank()) * options_.layout.record_bytes);
}

void PreparedSort::take_segments() {
  const std::uint64_t record_bytes = options_.layout.record_bytes;
  // If one input is a stream of unknown size, the sizes of the others say nothing about the whole.
  capacity_bytes = size_is_unknown() ? 0 : input.total_bytes();
  if (!claims_input()) {
    segments = list_segments();
    return;
  }
  auto claimed =
      std::make_unique<ClaimedSegments>(ClaimedSegments::Input{shares.total_records(), record_bytes,
                                                               options_.input.min_claim_bytes, options_.hooks.on_claim},
                                        ranks_);
  claims = claimed.get();
  segments = std::move(claimed);
  capacity_bytes = input_shares.records[rank()] * record_bytes;
}

std::unique_ptr<InputSegments> PreparedSort::list_segments() const {
  const std::uint64_t first = input_shares.first_record(rank());
  if (size_is_unknown()) return std::make_unique<ListedSegments>(std::vector<InputSegment>{{0, kToTheEnd, first}});
  if (options_.hooks.take_segments) return options_.hooks.take_segments(input.total_bytes(), first);
  const std::uint64_t record_bytes = options_.layout.record_bytes;
  std::vector<InputSegment> listed;
  std::uint64_t at = 0;
  const std::uint64_t parts = options_.layout.is_lines() ? 1 : shares.parts_of(rank());
  for (const std::uint64_t part : equal_parts(input.total_bytes() / record_bytes, parts)) {
    listed.push_back({at * record_bytes, part * record_bytes, first + at});
    at += part;
  }
  return std::make_unique<ListedSegments>(std::move(listed));
}

bool PreparedSort::claims_input() const {
  return options_.shares.output_by_rates && input_kind == InputKind::kShared && !options_.layout.is_lines() &&
         ranks_.mode() != comm::ExchangeMode::kInline;
}

void PreparedSort::describe(RankResult& result) const {
  result.strategy = scattered ? scattered->strategy : shares.strategy;
  result.predicted_seconds = scattered ? scattered->predicted_seconds : shares.predicted_seconds;
  if (shares.run) {
    result.predicted_form = shares.run->form[rank()];
    result.predicted_exchange = shares.run->exchange[rank()];
    // The scatter's prediction covers the time from the start until the last rank has formed its runs. Add the rest.
    if (scattered && scattered->predicted_seconds > 0 && !scattered->run)
      result.predicted_seconds += shares.run->seconds - shares.run->start_seconds - shares.run->form_seconds;
  }
  if (!options_.layout.is_lines()) {
    result.planned_input_records = input_shares.records[rank()];
    result.planned_output_records = shares.records[rank()];
  }
  result.threads = plan.memory.threads;
  result.output_untouched = output.is_staged() || (output_is_shared && !output.is_stream());
}

void PreparedSort::start_claims() {
  if (claims == nullptr) return;
  // A rank that spills has room for any number of records, on its disk.
  const std::uint64_t capacity = capacity_bytes / options_.layout.record_bytes;
  claims->start(plan.spills ? shares.total_records() : capacity);
}

void PreparedSort::begin_output() {
  if (std::exchange(output_has_begun_, true)) return;
  output.take_place();
  if (options_.input.header_bytes > 0) output.write_header(ranks_.broadcast(input.take_header()));
}

void PreparedSort::start_link_probe() {
  // While rank 0 sends the input, its messages and those of the probe would slow each other down.
  if (!options_.shares.output_by_rates || input_kind == InputKind::kRoot ||
      ranks_.mode() == comm::ExchangeMode::kInline || ranks_.size() == 1)
    return;
  const int turns = options_.hooks.probe_turns.value_or(
      probe_turns(shares.total_records() * options_.layout.record_bytes, ranks_.size()));
  if (turns > 0) probe_ = std::make_unique<LinkProbe>(turns, ranks_);
}

void PreparedSort::input_was_read(std::uint64_t records, std::uint64_t bytes) {
  read_records_ = bytes / options_.layout.record_bytes;
  if (options_.layout.is_lines() && options_.input.expected_records) {
    check_record_count(options_.input.expected_records, ranks_.all_reduce_sum(records));
  }
  if (!size_is_unknown()) return;
  if (!options_.layout.is_lines()) check_record_count(options_.input.expected_records, records);
  plan.output_bytes = bytes;
  output_size_is_known_ = true;
  reserve_output();
}

void PreparedSort::decide_output_shares(const Work& work) {
  if (!options_.shares.output_by_rates) return;
  const std::vector<Work> of_ranks = gather_work(work, ranks_);
  if (claims != nullptr) claims->check_complete(read_records_);
  if (probe_) link_bytes_per_second = probe_->rate();
  probe_.reset();
  shares = link_bytes_per_second ? shares_by_links(of_ranks) : shares_by_rates(shares.total_records(), of_ranks);
  if (!output_is_shared) plan.output_bytes = shares.records[rank()] * options_.layout.record_bytes;
  start_output();
  if (ends_at_lines()) return;
  output_size_is_known_ = true;
  reserve_output();
}

void PreparedSort::lines_were_cut(const std::vector<std::uint64_t>& share_bytes) {
  if (!ends_at_lines()) return;
  shares.records = share_bytes;
  if (output_is_shared && !output.is_stream()) output.first_volume().start_at(shares.first_record(rank()));
  plan.output_bytes = output_is_shared ? shares.total_records() : shares.records[rank()];
  output_size_is_known_ = true;
  reserve_output();
}

Shares PreparedSort::shares_by_links(std::span<const Work> work) const {
  Shares found =
      shares_by_rates(work, gather_links(*link_bytes_per_second, read_records_, options_.layout.record_bytes, ranks_));
  if (found.total_records() != shares.total_records())
    throw ProofError(
        fmt::format("the ranks have read {} of {} records", found.total_records(), shares.total_records()));
  return found;
}

void PreparedSort::reserve_output() {
  if (output_is_reserved_ || !output_size_is_known_ || output.is_stream()) return;
  output.reserve(plan.output_bytes);
  output_is_reserved_ = true;
}

SortPlan plan_sort(const SortOptions& options, comm::Communicator& ranks) {
  Monitor monitor;
  PreparedSort prepared(options, ranks, monitor);
  SortPlan plan = std::move(prepared.plan);
  plan.shares = std::move(prepared.shares);
  plan.scattered = std::move(prepared.scattered);
  return plan;
}

}  // namespace hetsort::sort
