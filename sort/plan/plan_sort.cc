// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
#include "sort/plan/plan_sort.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <utility>

#include "io/file_system.h"
#include "io/temp/temp_space.h"
#include "sort/input/rank_path.h"
#include "sort/input/scatter_input.h"

namespace hetsort::sort {

namespace {

/// The paths as this rank opens them. Throws: RequestError when own and shared inputs are mixed.
std::vector<std::string> input_paths(const SortOptions& options, const comm::Communicator& ranks) {
  std::vector<std::string> paths;
  for (const std::string& path : options.inputs) paths.push_back(rank_path(path, ranks));
  const auto own = static_cast<std::size_t>(std::count_if(options.inputs.begin(), options.inputs.end(), is_rank_path));
  if (own != 0 && own != paths.size())
    throw RequestError("INPUTs with and without {rank} cannot be mixed: their records would have no common order");
  return paths;
}

InputKind kind_of(const SortOptions& options, const comm::Communicator& ranks) {
  const bool own = !options.inputs.empty() && is_rank_path(options.inputs.front());
  if (ranks.size() == 1 || own) {
    if (own && options.root_input) throw RequestError("--root-input and {rank} in INPUTs exclude each other");
    return InputKind::kOwn;
  }
  const bool standard_input =
      options.inputs.empty() || std::count(options.inputs.begin(), options.inputs.end(), "-") > 0;
  return options.root_input || standard_input ? InputKind::kRoot : InputKind::kShared;
}

/// Opens what this rank reads itself.
Input open_input(const SortOptions& options, const comm::Communicator& ranks, Monitor& monitor) {
  const std::size_t record_bytes = options.layout.record_bytes;
  if (kind_of(options, ranks) != InputKind::kRoot) return {input_paths(options, ranks), record_bytes, options.access};
  if (ranks.rank() != 0) return Input(record_bytes);
  Input input(options.inputs, record_bytes, io::Access::kBuffered);
  if (!input.is_stream()) return input;
  monitor.note(
      "a stream is copied to the temp directory before rank 0 shares it out, and standard input comes slowly "
      "through a launcher: a file with --root-input is faster");
  return {spool(input, options.temp_directories.front()), record_bytes};
}

void check_temp_directories(const SortOptions& options, const SortPlan& plan, const Output& output, Monitor& monitor) {
  if (plan.memory.in_memory && !options.temp_given) return;
  std::vector<io::SpaceNeed> needs;
  for (const std::string& directory : options.temp_directories) {
    const io::Space space = io::inspect_space(directory, "temp directory");
    if (plan.temp_bytes > 0 && space.storage == io::Storage::kMemory)
      monitor.note(fmt::format("temp directory {} is in memory: what spills there takes memory beyond -S", directory));
    needs.push_back({"temp directory", directory, plan.temp_bytes / options.temp_directories.size()});
  }
  if (output.is_staged()) needs.push_back({"output folder", output.folder(), plan.output_bytes});
  io::check_space(needs);
}

/// Records before the rank's share.
std::uint64_t first_record(const Shares& shares, std::size_t rank) {
  return std::accumulate(shares.records.begin(), shares.records.begin() + static_cast<std::ptrdiff_t>(rank),
                         std::uint64_t{0});
}

}  // namespace

std::vector<std::vector<std::uint64_t>> all_gather(const std::vector<std::uint64_t>& mine, comm::Communicator& ranks) {
  const auto size = static_cast<std::size_t>(ranks.size());
  std::vector<std::uint64_t> values(mine.size() * size);
  std::copy(mine.begin(), mine.end(), values.begin() + static_cast<std::ptrdiff_t>(mine.size()) * ranks.rank());
  ranks.all_reduce_sum(values);
  std::vector<std::vector<std::uint64_t>> all;
  for (auto at = values.begin(); at != values.end(); at += static_cast<std::ptrdiff_t>(mine.size()))
    all.emplace_back(at, at + static_cast<std::ptrdiff_t>(mine.size()));
  return all;
}

PreparedSort::PreparedSort(const SortOptions& options, comm::Communicator& ranks, Monitor& monitor)
    : input_kind((check_layout(options.layout), kind_of(options, ranks))),
      output_is_shared(ranks.size() > 1 && !is_rank_path(options.output)),
      input(open_input(options, ranks, monitor)),
      output({rank_path(options.output, ranks), options.access, options.sync, output_is_shared}, ranks) {
  if (output.files().buffered != nullptr) input.keep_apart_from(output.files().buffered->status());
  plan_shares(options, ranks);
  take_segments(options, ranks);
  plan_memory_for(options, ranks);
  check_temp_directories(options, plan, output, monitor);
  if (!plan.one_merge_pass)
    monitor.note(fmt::format("memory has no room for two blocks of each of {} runs: neighbours are merged first",
                             plan.memory.run_count));
}

void PreparedSort::plan_shares(const SortOptions& options, comm::Communicator& ranks) {
  const auto size = static_cast<std::size_t>(ranks.size());
  const auto me = static_cast<std::size_t>(ranks.rank());
  const std::uint64_t record_bytes = options.layout.record_bytes;
  if (size > 1 && input_kind != InputKind::kRoot && input.is_stream())
    throw RequestError(
        "an INPUT is a stream: the ranks of a job must know the sizes of theirs; --root-input takes one of rank 0");
  const std::vector<std::vector<std::uint64_t>> found = all_gather({input.total_bytes() / record_bytes}, ranks);
  std::uint64_t total = 0;
  for (std::size_t rank = 0; rank < size; ++rank) {
    const std::uint64_t records = found[rank][0];
    input_shares.records.push_back(records);
    if (input_kind == InputKind::kShared && records != found[0][0])
      throw RequestError(fmt::format("rank {} ({}) finds {} records in the shared input, rank 0 ({}) finds {}", rank,
                                     ranks.host(static_cast<int>(rank)), records, ranks.host(0), found[0][0]));
    total = input_kind == InputKind::kShared ? records : total + records;
  }
  shares = options.shares ? plan_on_root(options.shares, total, ranks) : equal_shares(total, size);
  std::uint64_t parts = 0;
  for (std::size_t rank = 0; rank < shares.parts.size(); ++rank)
    parts += shares.records[rank] > 0 ? shares.parts[rank] : 0;
  if (parts > std::max<std::uint64_t>(kMaxParts, size))
    throw RequestError(fmt::format("strategy '{}' would emulate {} processes; a sort emulates {} at most",
                                   shares.strategy, parts, kMaxParts));
  if (input_kind != InputKind::kOwn) {
    input_is_apart = static_cast<bool>(options.input_shares);
    input_shares = input_is_apart ? plan_on_root(options.input_shares, total, ranks) : shares;
    if (!claims_input(options, ranks))
      input.take_share(first_record(input_shares, me) * record_bytes, input_shares.records[me] * record_bytes);
  }
  if (options.output_by_rates)
    shares.strategy = "auto";
  else
    start_output(options, ranks.rank());
}

void PreparedSort::start_output(const SortOptions& options, int rank) {
  if (output_is_shared && !output.is_stream()) output.start_at(first_output_record(rank) * options.layout.record_bytes);
}

void PreparedSort::settle_shares(Shares decided, const SortOptions& options, int rank) {
  shares = std::move(decided);
  if (!output_is_shared)
    plan.output_bytes = shares.records[static_cast<std::size_t>(rank)] * options.layout.record_bytes;
  start_output(options, rank);
}

void PreparedSort::take_segments(const SortOptions& options, comm::Communicator& ranks) {
  const std::uint64_t record_bytes = options.layout.record_bytes;
  capacity_bytes = input.total_bytes();
  if (claims_input(options, ranks)) {
    auto claimed = std::make_unique<ClaimedSegments>(
        ClaimedSegments::Input{total_records(), record_bytes, options.claim_bytes, options.on_claim}, ranks);
    claims = claimed.get();
    segments = std::move(claimed);
    capacity_bytes = input_shares.records[static_cast<std::size_t>(ranks.rank())] * record_bytes;
    return;
  }
  segments = list_segments(options, ranks.rank());
}

std::unique_ptr<InputSegments> PreparedSort::list_segments(const SortOptions& options, int rank) const {
  const std::uint64_t first = first_record(input_shares, static_cast<std::size_t>(rank));
  if (size_is_unknown()) return std::make_unique<ListedSegments>(std::vector<InputSegment>{{0, kToTheEnd, first}});
  if (options.segments) return options.segments(input.total_bytes(), first);
  std::vector<InputSegment> listed;
  std::uint64_t at = 0;
  for (const std::uint64_t part : equal_parts(input.total_bytes() / options.layout.record_bytes, parts(rank))) {
    listed.push_back({at * options.layout.record_bytes, part * options.layout.record_bytes, first + at});
    at += part;
  }
  return std::make_unique<ListedSegments>(std::move(listed));
}

std::uint64_t PreparedSort::parts(int rank) const {
  return shares.parts.empty() || size_is_unknown() ? 1 : shares.parts[static_cast<std::size_t>(rank)];
}

bool PreparedSort::claims_input(const SortOptions& options, const comm::Communicator& ranks) const {
  return options.output_by_rates && input_kind == InputKind::kShared && ranks.mode() != comm::ExchangeMode::kInline;
}

std::uint64_t PreparedSort::total_records() const {
  return std::accumulate(shares.records.begin(), shares.records.end(), std::uint64_t{0});
}

std::uint64_t PreparedSort::first_output_record(int rank) const {
  return first_record(shares, static_cast<std::size_t>(rank));
}

void check_layout(const RecordLayout& layout) {
  if (layout.record_bytes < 1 || layout.record_bytes > kMaxRecordBytes)
    throw RequestError(fmt::format("record size {} is not within 1 to {} bytes", layout.record_bytes, kMaxRecordBytes));
  if (layout.key_bytes < 1 || layout.key_bytes > kMaxKeyBytes)
    throw RequestError(fmt::format("key length {} is not within 1 to {} bytes", layout.key_bytes, kMaxKeyBytes));
  if (layout.key_offset > layout.record_bytes || layout.key_bytes > layout.record_bytes - layout.key_offset)
    throw RequestError(fmt::format("key {}:{} reaches beyond the {}-byte record", layout.key_offset, layout.key_bytes,
                                   layout.record_bytes));
}

SortPlan plan_sort(const SortOptions& options, comm::Communicator& ranks) {
  Monitor monitor;
  return PreparedSort(options, ranks, monitor).plan;
}

}  // namespace hetsort::sort
