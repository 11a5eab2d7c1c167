// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
#include "job/sort_options.h"

#include <limits>
#include <utility>

#include "job/options/line_options.h"
#include "job/options/parse.h"
#include "job/options/record_options.h"
#include "job/resources.h"
#include "job/shares/plan_input.h"
#include "job/shares/rank_planner.h"

namespace hetsort::job {

namespace {

constexpr double kMaxStallSeconds = 1e6;

void add_input_options(Options& options, SortRequest& request) {
  options.add(choice(
      {.name = "io", .value = "WAY", .usual = "auto", .help = "auto, uring, threads or buffered", .of_one_rank = true},
      request.phases.access,
      std::vector<std::pair<std::string, io::Access>>{{"auto", io::Access::kAuto},
                                                      {"uring", io::Access::kUring},
                                                      {"threads", io::Access::kThreads},
                                                      {"buffered", io::Access::kBuffered}}));
  options.add({.name = "records",
               .value = "N",
               .help = "the input must have exactly N records; needed for a forwarded stdin",
               .fill = take(request.phases.input.expected_records, parse_many_records)});
  options.add({.name = "root-input",
               .help = "only rank 0 has the INPUTs: it sends each rank its share",
               .fill = turn_on(request.phases.input.root_only)});
  options.add({.name = "files0-from",
               .value = "FILE",
               .help = "read the names of the INPUTs from FILE, each ended by a zero byte",
               .fill = take_text(request.names_path)});
}

/// What is kept of records with equal keys, and in which order.
void add_equal_keys_options(Options& options, SortRequest& request) {
  options.add({.name = "unique",
               .letter = 'u',
               .help = "of records with equal keys write only the first",
               .fill = turn_on(request.phases.output.unique)});
  options.add({.name = "stable",
               .letter = 's',
               .help = "records with equal keys keep the order of the input; they always do",
               .fill = turn_on(request.stable)});
}

void add_checkpoint_options(Options& options, SortRequest& request) {
  options.add(
      {.name = "checkpoint",
       .value = "DIR",
       .help = "keep runs in DIR until OUTPUT is there, so that the same command continues after it was "
               "killed; several are striped, {rank} is the rank's number",
       .repeatable = true,
       .excludes = {{"temp", "keeps all runs in its own folders"}, {"compress-spill", "keeps runs as they are"}},
       .fill = add_text(request.phases.checkpoint.folders)});
  options.add({.name = "restart",
               .help = "begin anew, whatever the folder of the checkpoint holds",
               .fill = turn_on(request.phases.checkpoint.restart)});
}

void add_spill_options(Options& options, SortRequest& request) {
  using io::SpillCompression;
  options.add(
      {.name = "batch-size",
       .value = "N",
       .help = "a rank merges at most N spilled runs at once (as many as memory has room for)",
       .fill = take(request.phases.spill.max_merged_runs, count_from(2, std::numeric_limits<std::uint64_t>::max()))});
  options.add(choice({.name = "compress-spill",
                      .value = "FORMAT",
                      .usual = "no",
                      .help = "compress runs that spill: zstd, lz4 or no; auto: with zstd while the disk is slower",
                      .of_one_rank = true},
                     request.phases.spill.compression,
                     std::vector<std::pair<std::string, SpillCompression>>{{"no", SpillCompression::kNo},
                                                                           {"auto", SpillCompression::kAuto},
                                                                           {"zstd", SpillCompression::kZstd},
                                                                           {"lz4", SpillCompression::kLz4}}));
}

/// FORMAT[:LEVEL]. Throws: RequestError.
std::optional<io::CompressionLevel> parse_compression(const std::string& text, const std::string& what) {
  using io::Compression;
  static const std::vector<std::pair<std::string, std::optional<io::CompressionLevel>>> words{
      {"auto", std::nullopt},
      {"no", io::CompressionLevel{}},
      {"gzip", io::CompressionLevel{Compression::kGzip}},
      {"zstd", io::CompressionLevel{Compression::kZstd}},
      {"lz4", io::CompressionLevel{Compression::kLz4}}};
  const std::size_t colon = text.find(':');
  std::optional<io::CompressionLevel> how = value_of_word(words, text.substr(0, colon), what);
  if (colon == std::string::npos) return how;
  const std::string level = text.substr(colon + 1);
  if (!how || how->format == Compression::kNone)
    throw RequestError(fmt::format("{} '{}': only gzip, zstd and lz4 have levels", what, text));
  const auto [least, most] = io::levels_of(how->format);
  how->level = static_cast<int>(count_from(static_cast<std::uint64_t>(least), static_cast<std::uint64_t>(most))(
      level, fmt::format("{} {}", what, text.substr(0, colon))));
  return how;
}

void add_output_options(Options& options, SortRequest& request) {
  options.add({.name = "compress",
               .value = "FORMAT[:LEVEL]",
               .usual = "auto",
               .help = "how OUTPUT is compressed: gzip (levels 1 to 3), zstd (1 to 19), lz4 (1 to 12) or no; auto: as "
                       "its name ends, .gz, .bgz, .zst or .lz4",
               .fill = take(request.phases.output.compression, parse_compression),
               .words = {"auto", "no", "gzip", "zstd", "lz4"}});
  options.add({.name = "checksum",
               .help = "put the sum of the records' CRC-32 into the report",
               .excludes = {{"unique", "is the sum of all records"}},
               .fill = turn_on(request.phases.output.checksum)});
  options.add({.name = "no-sync",
               .help = "do not wait for the disk before OUTPUT appears",
               .fill = turn_off(request.phases.output.sync)});
  options.add(
      {.name = "verify-output",
       .help = "read OUTPUT back from the disk and check it before it appears",
       .excludes = {{"unique", "compares all records with those written"}, {"no-sync", "reads what is on the disk"}},
       .fill = turn_on(request.phases.output.verify)});
}

}  // namespace

void add_exchange_option(Options& options, RankRequest& request) {
  using comm::ExchangeMode;
  options.add(choice(
      {.name = "exchange",
       .value = "MODE",
       .usual = "thread",
       .help = "which threads communicate: inline (those that compute), thread (one of its own) or "
               "threads (a sender and a receiver)"},
      request.exchange,
      std::vector<std::pair<std::string, ExchangeMode>>{
          {"inline", ExchangeMode::kInline}, {"thread", ExchangeMode::kThread}, {"threads", ExchangeMode::kThreads}}));
}

void add_rank_options(Options& options, RankRequest& request) {
  using comm::MpiUse;
  options.add(choice({.name = "mpi", .value = "WHEN", .usual = "auto", .help = "auto (under a launcher), on or off"},
                     request.mpi,
                     std::vector<std::pair<std::string, MpiUse>>{
                         {"auto", MpiUse::kAuto}, {"on", MpiUse::kOn}, {"off", MpiUse::kOff}}));
  options.add({.name = "stall-timeout",
               .value = "SECONDS",
               .usual = "60",
               .help = "a rank silent for that long ends the job",
               .fill = take(request.stall_timeout_seconds, seconds_from(1, kMaxStallSeconds))});
}

void add_sort_options(Options& options, SortRequest& request) {
  options.begin_group("Inputs and outputs");
  options.add({.name = "output",
               .letter = 'o',
               .value = "OUTPUT",
               .usual = "-",
               .help = "where the sorted records go; \"-\" is standard output. Repeated: each file gets an equal part, "
                       "in this order",
               .repeatable = true,
               .fill = [&paths = request.phases.output.paths, first = true](const std::string& text,
                                                                            const std::string&) mutable {
                 // The first one takes the place of the default.
                 if (std::exchange(first, false)) paths.clear();
                 paths.push_back(text);
               }});
  add_input_options(options, request);
  add_content_option(options, request.records);
  add_output_options(options, request);
  options.begin_group("Records");
  add_record_options(options, request.records);
  add_equal_keys_options(options, request);
  options.begin_group("Lines of text");
  add_line_options(options, request.lines);
  options.begin_group("Memory, threads and temporary files");
  add_resource_options(options, request.resources, "folder for runs that spill; several are striped");
  add_spill_options(options, request);
  options.begin_group("Several ranks");
  add_share_options(options, request.shares);
  options.add({.name = "learn",
               .value = "FILE",
               .help = "share by what earlier runs wrote there, and add this one",
               .fill = take_path(request.shares.learn_path)});
  add_rank_options(options, request.ranks);
  add_exchange_option(options, request.ranks);
}

void add_one_sort_options(Options& options, SortRequest& request) {
  add_sort_options(options, request);
  add_strategy_option(
      options, request.shares,
      "how ranks share records: auto (by what speeds, cluster or the run itself show) or as in 'hetsort "
      "plan'");
  options.begin_group("Continuing after a kill");
  add_checkpoint_options(options, request);
  options.begin_group("Other work");
  options.add({.name = "merge",
               .letter = 'm',
               .help = "the INPUTs are sorted: merge them, and check their order",
               .excludes = {{"checkpoint", "makes no runs that could be kept"}},
               .fill = turn_on(request.phases.input.sorted)});
}

void add_memory_sort_options(Options& options, SortRequest& request) {
  add_record_options(options, request.records);
  add_memory_option(options, request.resources.memory_bytes);
  add_threads_option(options, request.resources.threads);
  options.add({.name = "stable", .help = "records with equal keys keep their order", .fill = turn_on(request.stable)});
  add_rank_options(options, request.ranks);
}

}  // namespace hetsort::job
