// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
#include "sort/plan/plan_sort.h"

#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <unordered_map>
#include <utility>

#include "comm/base/packing.h"
#include "io/checked.h"
#include "io/field.h"
#include "io/file_system.h"
#include "io/temp/temp_space.h"
#include "sort/exchange/scatter_input.h"
#include "sort/failure/proof_error.h"
#include "sort/failure/request_error.h"
#include "sort/input/record_count.h"
#include "sort/input/shared_input.h"
#include "sort/plan/measure_rates.h"

namespace hetsort::sort {

namespace {

void check_temp_directories(const SpillOptions& options, const SortPlan& plan, const Output& output, Monitor& monitor) {
  if (plan.memory.in_memory && !options.directories_given) return;
  std::vector<io::SpaceNeed> needs;
  for (const std::string& directory : options.directories) {
    const io::Space space = io::inspect_space(directory, "temp directory");
    if (plan.temp_bytes > 0 && space.storage == io::Storage::kMemory)
      monitor.note(fmt::format("temp directory {} is in memory: what spills there takes memory beyond {}", directory,
                               io::field("memory")));
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
    : OpenedSort(open_sort(options, ranks, monitor)), options_(options), ranks_(ranks) {
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
        "ranks need open inputs of known size; {} lets rank 0 read any",
        input.stream_name(), io::field("root_input")));
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
  if (records_are_known()) check_record_count(options_.input.expected_records, total);
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
  if (input_kind != InputKind::kOwn && ends_at_lines()) end_input_shares_at_lines();
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
      borders.push_back(input.record_start(input_shares.first_record(each)));
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
  const std::uint64_t parts = cuts_anywhere() ? shares.parts_of(rank()) : 1;
  for (const std::uint64_t part : equal_parts(input.total_bytes() / record_bytes, parts)) {
    listed.push_back({at * record_bytes, part * record_bytes, first + at});
    at += part;
  }
  return std::make_unique<ListedSegments>(std::move(listed));
}

bool PreparedSort::claims_input() const {
  return options_.shares.output_by_rates && input_kind == InputKind::kShared && cuts_anywhere() &&
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
  result.planned_input_records = options_.layout.records_in(input_shares.records[rank()]);
  result.planned_output_records = options_.layout.records_in(shares.records[rank()]);
  result.threads = plan.memory.threads;
  result.output_untouched = output.is_staged() || (output_is_shared && !output.is_stream());
}

void PreparedSort::begin_to_form() {
  start_disk_probe();
  if (claims != nullptr) start_claims();
}

void PreparedSort::start_claims() {
  // A rank that spills has room for any number of records, on its disk.
  const std::uint64_t capacity = capacity_bytes / options_.layout.record_bytes;
  claims->start(plan.spills ? shares.total_records() : capacity, [this](std::span<const std::uint64_t> capacities) {
    // A rank that spills reads and writes its disk in phases that are not planned here.
    return plan_claims(plan.any_rank_spills ? MeasuredJob{} : measured, shares.total_records(), capacities);
  });
}

void PreparedSort::begin_output() {
  if (std::exchange(output_has_begun_, true)) return;
  if (options_.input.text_header.keeps_lines()) output.set_header_bytes(input.header_bytes());
  output.take_place();
  if (options_.input.header_bytes > 0 || options_.input.text_header.keeps_lines())
    output.write_header(ranks_.broadcast(input.header()));
}

ProbeSize PreparedSort::size_of_probe() const {
  // While rank 0 sends the input, its messages and those of the probe would slow each other down.
  if (!options_.shares.output_by_rates || input_kind == InputKind::kRoot ||
      ranks_.mode() == comm::ExchangeMode::kInline || ranks_.size() == 1)
    return {};
  const auto hosts = static_cast<int>(first_ranks_of_hosts(ranks_).size());
  const std::uint64_t bytes = shares.total_records() * options_.layout.record_bytes;
  if (!options_.hooks.probe_rounds) return probe_size(bytes, hosts);
  return {hosts > 1 ? *options_.hooks.probe_rounds : 0, kSmallProbeBytes, bytes, hosts};
}

bool PreparedSort::is_worth_measuring() const { return size_of_probe().rounds > 0; }

void PreparedSort::measure() {
  measured.rates = ranks_.all_gather(measure_rates(size_of_probe(), options_, ranks_));
  measured.record_bytes = options_.layout.record_bytes;
  if (!claims_input()) measured.input_choice = partition::InputChoice::kGiven;
  check_rates(measured.rates);
  std::unordered_map<std::string, std::size_t> numbers;
  for (int rank = 0; rank < ranks_.size(); ++rank) {
    measured.names.push_back(ranks_.host(rank));
    measured.host.push_back(numbers.emplace(ranks_.host(rank), numbers.size()).first->second);
  }
}

void PreparedSort::start_disk_probe() {
  // Disks of ranks that spill are busy: they would be measured too slow.
  if (measured.rates.empty() || !options_.output.sync || !output.is_staged() || plan.any_rank_spills) return;
  // A disk that records are read from meanwhile gets less to do.
  constexpr std::uint64_t kIdlePart = 8;
  constexpr std::uint64_t kBusyPart = 64;
  constexpr std::uint64_t kMost = std::uint64_t{64} << 20;
  const std::uint64_t part = input.backend() == io::Backend::kBuffered ? kIdlePart : kBusyPart;
  const std::uint64_t share = shares.records[rank()] * options_.layout.record_bytes;
  disk_probe_ = std::make_unique<WritingProbe>(output.first_volume().folder(), std::min(share / part, kMost));
}

/// Gives each rank the rate of its host's disk: the sum over its ranks, which have written at the same time.
void PreparedSort::gather_disk_rates() {
  const std::vector<double> own = ranks_.all_gather(disk_probe_ ? disk_probe_->bytes_per_second() : 0.0);
  disk_probe_.reset();
  const bool all = std::ranges::all_of(own, [](double rate) { return rate > 0; });
  for (std::size_t one = 0; one < own.size(); ++one) {
    measured.rates[one].disk_write = 0;
    for (std::size_t other = 0; all && other < own.size(); ++other)
      if (measured.host[other] == measured.host[one]) measured.rates[one].disk_write += own[other];
  }
  check_rates(measured.rates);
}

void PreparedSort::input_was_read(std::uint64_t records, std::uint64_t bytes) {
  read_records_ = bytes / options_.layout.record_bytes;
  if (!records_are_known() && options_.input.expected_records)
    check_record_count(options_.input.expected_records, ranks_.all_reduce_sum(records));
  if (!size_is_unknown()) return;
  plan.output_bytes = bytes;
  output_size_is_known_ = true;
  reserve_output();
}

void PreparedSort::decide_output_shares(const Work& work, RankResult& result) {
  if (!options_.shares.output_by_rates) return;
  const std::vector<Work> of_ranks = gather_work(work, ranks_);
  if (claims != nullptr) claims->check_complete(read_records_);
  if (measured.rates.empty()) {
    shares = shares_by_rates(shares.total_records(), of_ranks);
  } else {
    MeasuredShares found = shares_by_measurement(of_ranks);
    shares = std::move(found.shares);
    result.measured = measured;
    result.explanation = std::move(found.explanation);
    result.measured_exchange = std::move(found.exchange);
    if (!result.measured_exchange.empty()) result.predicted_exchange = result.measured_exchange[rank()];
  }
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

MeasuredShares PreparedSort::shares_by_measurement(std::span<const Work> work) {
  gather_disk_rates();
  measured.input = ranks_.all_gather(read_records_);
  MeasuredShares found = shares_by_rates(work, measured);
  if (found.shares.total_records() != shares.total_records())
    throw ProofError(
        fmt::format("the ranks have read {} of {} records", found.shares.total_records(), shares.total_records()));
  return found;
}

void PreparedSort::reserve_output() {
  if (output_is_reserved_ || !output_size_is_known_ || output.is_stream()) return;
  if (options_.input.text_header.keeps_lines()) output.set_header_bytes(input.header_bytes());
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
