// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
#include "sort/plan/open_sort.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <string>
#include <utility>

#include "io/compression/compress.h"
#include "io/field.h"
#include "io/temp/temp_space.h"
#include "sort/exchange/scatter_input.h"
#include "sort/failure/request_error.h"
#include "sort/input/csv/columns.h"
#include "sort/input/rank_path.h"
#include "sort/input/record_count.h"
#include "sort/input/shared_input.h"

namespace hetsort::sort {

namespace {

// Compressors get up to this part of the memory beside what is theirs, because levels of zstd from 4 on would have few
// threads otherwise.
constexpr std::uint64_t kCompressorShare = 8;

/// What a request opens on this rank, after all checks that need no file to be open: opening a FIFO may wait.
struct CheckedSort {
  InputKind kind = InputKind::kOwn;
  std::vector<std::string> inputs{};  ///< those that this rank reads itself
  std::vector<std::string> outputs{};
  bool output_is_shared = false;
};

void require(bool right, const std::string& mistake) {
  if (!right) throw RequestError(mistake);
}

CheckedSort check_sort(const SortOptions& options, const comm::Communicator& ranks) {
  const InputOptions& input = options.input;
  const OutputOptions& output = options.output;
  const bool several_ranks = ranks.size() > 1;
  const auto own = std::ranges::count_if(input.paths, is_rank_path);
  const bool has_own = own > 0 || !several_ranks;
  const bool reads_stream = input.paths.empty() || std::ranges::count(input.paths, "-") > 0;
  const auto named = std::ranges::find_if_not(output.paths, is_rank_path);
  const bool shares_output = several_ranks && named != output.paths.end();

  check_layout(options.layout);
  require(!shares_output || output.paths.size() == 1,
          fmt::format("{} {}: several OUTPUTs of several ranks must be files of each rank, with {{rank}} in every path",
                      io::field("output"), shares_output ? *named : ""));
  require(own == 0 || !input.root_only, io::field("root_input") + " and {rank} in INPUTs exclude each other");
  require(!input.sorted || !several_ranks,
          io::field("merge") + " merges in one process; several ranks sort the same INPUTs without it");
  require(!output.unique || !several_ranks || shares_output,
          io::field("unique") + " of several ranks needs one OUTPUT: equal records of two ranks would both be written");
  CheckedSort checked{.outputs = rank_paths(output.paths, ranks), .output_is_shared = shares_output};
  if (!has_own) checked.kind = input.root_only || reads_stream ? InputKind::kRoot : InputKind::kShared;
  if (checked.kind == InputKind::kRoot && ranks.rank() != 0) return checked;
  require(own == 0 || static_cast<std::size_t>(own) == input.paths.size(),
          "INPUTs with and without {rank} cannot be mixed: their records would have no common order");
  checked.inputs = rank_paths(input.paths, ranks);
  require_record_count(checked.inputs, input.expected_records);
  for (const std::string& path : checked.inputs)
    if (path != "-") io::File::check_readable(path);
  return checked;
}

/// Copies the records of a stream into a temporary file, whose size is known.
Input spooled(Input& input, const InputFormat& format, const SortOptions& options) {
  input.look_at_streams(false);
  static_cast<void>(input.plan_decoders(options.memory_bytes, false));
  static_cast<void>(input.bind_columns(options.layout, options.input.header));
  Input copy(spool(input, options.spill.directories.front()), format.record_bytes, format.terminator);
  copy.set_header(input.header());
  return copy;
}

/// Opens the inputs on rank 0, which sends the other ranks their shares. A stream is copied first.
Input open_root_input(const std::vector<std::string>& paths, const InputFormat& format, const SortOptions& options,
                      Monitor& monitor) {
  Input input(paths, format, io::Access::kBuffered);
  if (!input.is_stream()) return input;
  monitor.note(fmt::format(
      "a stream is copied to the temp directory before rank 0 shares it out, and standard input comes slowly "
      "through a launcher: a file with {} is faster",
      io::field("root_input")));
  return spooled(input, format, options);
}

/// Gives all ranks the header that all INPUTs have. Collective. Throws: RequestError, io::Error, PeerFailed.
void agree_on_header(Input& input, InputKind kind, comm::Communicator& ranks) {
  const bool has_own = kind != InputKind::kRoot || ranks.rank() == 0;
  require(!has_own || !input.is_stream(),
          fmt::format("lines that stay on top need files of known size if there are several ranks, and {} is a stream",
                      has_own && input.is_stream() ? input.stream_name() : ""));
  const comm::Bytes header = ranks.broadcast(input.header());
  const bool is_empty = input.header().empty() && input.total_bytes() == 0;
  if (has_own && !is_empty && !io::have_same_lines(input.header(), header))
    throw io::Error("read", input.files().front().file.name(), "its header differs from that of rank 0's INPUT");
  input.set_header(header);
}

/// Opens the inputs that this rank reads itself.
Input open_input(const CheckedSort& checked, const SortOptions& options, const comm::Communicator& ranks,
                 Monitor& monitor) {
  InputFormat format = input_format(options.layout, options.input);
  format.decoders = static_cast<unsigned>(options.threads);
  if (checked.kind == InputKind::kRoot)
    return ranks.rank() == 0 ? open_root_input(checked.inputs, format, options, monitor) : Input(format.record_bytes);
  Input input(checked.inputs, format, options.access);
  // Several ranks plan with sizes, which compressed files do not show.
  const bool copies = ranks.size() > 1 && checked.kind == InputKind::kOwn && input.is_compressed();
  return copies ? spooled(input, format, options) : std::move(input);
}

/// Prepares the input, whose header is known, to be read as rows of CSV. `sharing`: the ranks that share it.
/// Collective.
void expect_rows(Input& input, comm::Communicator* sharing, SortOptions& options) {
  options.layout = input.bind_columns(options.layout, options.input.header);
  if (sharing != nullptr) check_inputs_are_shared(input, *sharing);
  // A merge reads files as such, even beside pipes.
  if (!input.is_stream() || options.input.sorted) input.map_quotes(options.threads, sharing);
}

/// Plans the memory for decompressing inputs and compressing the output. What they take beyond constants is taken from
/// `options`, and returned. Several ranks have no compressed inputs left, and stay within the constants: what their
/// messages say of memory that suffices does not count compressors.
std::uint64_t plan_codecs(Input& input, Output& output, SortOptions& options, bool several_ranks, OpenedFor what) {
  if (several_ranks) {
    output.first_volume().plan_compressors(options.threads, io::kFreeCompressorBytes);
    return 0;
  }
  const bool together = options.input.sorted;
  if (what == OpenedFor::kSort) input.look_at_streams(together);
  const std::uint64_t beside_decoders = input.plan_decoders(options.memory_bytes, together);
  const std::uint64_t taken = output.first_volume().plan_compressors(
      options.threads, io::kFreeCompressorBytes + beside_decoders / kCompressorShare);
  const std::uint64_t left = beside_decoders - (taken - std::min(taken, io::kFreeCompressorBytes));
  return std::exchange(options.memory_bytes, left) - left;
}

/// Keeps the only output apart from the inputs: it can be one of them. Several outputs are always new files.
/// Throws: RequestError if the outputs cannot get what the inputs have.
void keep_apart(const Output& output, const SortOptions& options, Input& input) {
  const io::File* const file = output.first_volume().files().buffered;
  if (file != nullptr) {
    const io::FileStatus written = file->status();
    require(!options.input.sorted || !input.includes(written),
            fmt::format("{} reads its INPUTs while it writes: an INPUT cannot be standard output; name it with {}",
                        io::field("merge"), io::field("output")));
    input.keep_apart_from(written);
  }
  require(!options.input.header.is_numpy() || !options.output.unique || file == nullptr ||
              output.first_volume().can_be_read_back(),
          fmt::format("{} of a NumPy file needs a regular file, not compressed, named with {}: its header has the "
                      "number of records, which is known at the end",
                      io::field("unique"), io::field("output")));
  require(!options.input.sorted || output.volumes().size() == 1 || !input.is_stream(),
          fmt::format("{} with several OUTPUTs needs INPUTs of known size, and {} is a stream", io::field("merge"),
                      options.input.sorted && input.is_stream() ? input.stream_name() : ""));
}

/// The name of the file in which the unfinished output of a checkpoint lies; empty text for a new one, nothing if none
/// is kept.
std::optional<std::string> unfinished_output(const SortOptions& options, const comm::Communicator& ranks) {
  if (options.checkpoint.folders.empty()) return std::nullopt;
  // This waits for a process that is dying, so that its unfinished output is nobody's when it is looked for.
  const auto kept = kept_output(rank_path(options.checkpoint.folders.front(), ranks), ranks.rank());
  if (options.output.checksum) return std::nullopt;  // the sum of all CRCs cannot be continued
  return kept && !options.checkpoint.restart ? kept->name : "";
}

}  // namespace

OpenedSort open_sort(SortOptions& options, comm::Communicator& ranks, Monitor& monitor, OpenedFor what) {
  const CheckedSort checked = check_sort(options, ranks);
  std::optional<RecordLayout> unique;
  if (options.output.unique) unique = options.layout;
  // The output is opened first: opening a FIFO waits for its writer.
  OutputOptions of_rank = options.output;
  of_rank.paths = checked.outputs;
  OutputRequest request{
      of_rank, options.access, checked.output_is_shared, unique, options.layout.record_bytes, is_csv(options.layout)};
  request.header_counts = options.input.header.is_numpy();
  request.kept = unfinished_output(options, ranks);
  Output output(request, ranks);
  output.set_header_bytes(options.input.header.bytes);
  Input input = open_input(checked, options, ranks, monitor);
  const std::uint64_t codec_bytes = plan_codecs(input, output, options, ranks.size() > 1, what);
  if (ranks.size() == 1) options.layout = input.bind_columns(options.layout, options.input.header);
  if (options.input.header.is_common()) {
    if (ranks.size() > 1) agree_on_header(input, checked.kind, ranks);
    output.set_header_bytes(input.header_bytes());
  }
  if (is_csv(options.layout)) expect_rows(input, checked.kind == InputKind::kShared ? &ranks : nullptr, options);
  output.set_layout(options.layout);
  keep_apart(output, options, input);
  return {checked.kind, checked.output_is_shared, std::move(output), std::move(input), {}, codec_bytes};
}

OpenedSort open_memory(const RecordLayout& layout, std::span<const std::byte> records, std::span<std::byte> sorted) {
  check_layout(layout);
  return {InputKind::kOwn, false, Output(sorted), Input(records, layout.record_bytes)};
}

}  // namespace hetsort::sort
