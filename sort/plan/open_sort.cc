// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
#include "sort/plan/open_sort.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "io/field.h"
#include "io/temp/temp_space.h"
#include "sort/exchange/scatter_input.h"
#include "sort/failure/request_error.h"
#include "sort/input/rank_path.h"
#include "sort/input/record_count.h"

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
    if (own && options.root_only)
      throw RequestError(io::field("root_input") + " and {rank} in INPUTs exclude each other");
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
      throw RequestError(
          fmt::format("{} {}: several OUTPUTs of several ranks must be files of each rank, with {{rank}} in every path",
                      io::field("output"), path));
}

/// Checks the request as far as no file needs to be open, because opening a FIFO may wait. Throws: RequestError,
/// io::Error.
InputKind checked_kind(const SortOptions& options, const comm::Communicator& ranks) {
  check_layout(options.layout);
  check_outputs(options.output, ranks);
  const InputKind kind = kind_of(options.input, ranks);
  if (options.input.sorted && ranks.size() > 1)
    throw RequestError(io::field("merge") + " merges in one process; several ranks sort the same INPUTs without it");
  if (kind == InputKind::kRoot && ranks.rank() != 0) return kind;
  const std::vector<std::string> paths = input_paths(options.input, ranks);
  require_record_count(paths, options.input.expected_records);
  for (const std::string& path : paths)
    if (path != "-") io::File::check_readable(path);
  return kind;
}

/// Opens the inputs that this rank reads itself.
Input open_input(const SortOptions& options, const comm::Communicator& ranks, Monitor& monitor) {
  const InputFormat format = input_format(options.layout, options.input);
  if (kind_of(options.input, ranks) != InputKind::kRoot)
    return {input_paths(options.input, ranks), format, options.access};
  if (ranks.rank() != 0) return Input(format.record_bytes);
  Input input(options.input.paths, format, io::Access::kBuffered);
  if (!input.is_stream()) return input;
  monitor.note(fmt::format(
      "a stream is copied to the temp directory before rank 0 shares it out, and standard input comes slowly "
      "through a launcher: a file with {} is faster",
      io::field("root_input")));
  Input spooled(spool(input, options.spill.directories.front()), format.record_bytes, format.terminator);
  spooled.set_header(input.header());
  return spooled;
}

/// Gives all ranks the lines that stay on top. Collective. Throws: RequestError, io::Error, PeerFailed.
void agree_on_header(Input& input, InputKind kind, comm::Communicator& ranks) {
  const bool has_own = kind != InputKind::kRoot || ranks.rank() == 0;
  if (has_own && input.is_stream())
    throw RequestError(fmt::format("{} of several ranks needs files of known size, and {} is a stream",
                                   io::field("header_lines"), input.stream_name()));
  const comm::Bytes header = ranks.broadcast(input.header());
  if (has_own && input.header() != header)
    throw io::Error("read", input.files().front().file.name(), "its header differs from that of rank 0's INPUT");
  input.set_header(header);
}

/// The layout if only the first of equal records is written. Throws: RequestError.
std::optional<RecordLayout> unique_layout(const SortOptions& options, const comm::Communicator& ranks) {
  if (!options.output.unique) return std::nullopt;
  if (ranks.size() > 1 && is_rank_path(options.output.paths.front()))
    throw RequestError(io::field("unique") +
                       " of several ranks needs one OUTPUT: equal records of two ranks would both be written");
  return options.layout;
}

}  // namespace

OpenedSort open_sort(const SortOptions& options, comm::Communicator& ranks, Monitor& monitor) {
  const InputKind kind = checked_kind(options, ranks);
  const bool is_shared = ranks.size() > 1 && !is_rank_path(options.output.paths.front());
  // The output is opened first: opening a FIFO waits for its writer.
  OutputOptions of_rank = options.output;
  of_rank.paths = rank_paths(options.output.paths, ranks);
  Output output({of_rank, options.access, is_shared, unique_layout(options, ranks), options.layout.record_bytes},
                ranks);
  output.set_header_bytes(options.input.header_bytes);
  Input input = open_input(options, ranks, monitor);
  if (options.input.text_header.keeps_lines()) {
    if (ranks.size() > 1) agree_on_header(input, kind, ranks);
    output.set_header_bytes(input.header_bytes());
  }
  // Only a single output can be one of the inputs: several outputs are always new files.
  if (const io::File* const file = output.first_volume().files().buffered; file != nullptr) {
    const io::FileStatus written = file->status();
    if (options.input.sorted && input.includes(written))
      throw RequestError(
          fmt::format("{} reads its INPUTs while it writes: an INPUT cannot be standard output; name it with {}",
                      io::field("merge"), io::field("output")));
    input.keep_apart_from(written);
  }
  if (options.input.sorted && output.volumes().size() > 1 && input.is_stream())
    throw RequestError(fmt::format("{} with several OUTPUTs needs INPUTs of known size, and {} is a stream",
                                   io::field("merge"), input.stream_name()));
  return {kind, is_shared, std::move(output), std::move(input)};
}

}  // namespace hetsort::sort
