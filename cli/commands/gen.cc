// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
//
// hetsort gen: writes benchmark records.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <limits>
#include <memory>
#include <numeric>
#include <optional>
#include <string>
#include <vector>

#include "cli/commands.h"
#include "cli/options/command_line.h"
#include "cli/process/outcome.h"
#include "cli/process/signals.h"
#include "cli/terminal/messages.h"
#include "cli/terminal/progress.h"
#include "gen/generator.h"
#include "io/field.h"
#include "io/file.h"
#include "io/publish.h"
#include "io/temp/temp_space.h"
#include "job/logged_sort.h"
#include "job/options/parse.h"
#include "job/request/named_files.h"
#include "job/resources.h"
#include "job/shares/plan_input.h"
#include "job/shares/rank_planner.h"
#include "job/sort_options.h"
#include "sort/input/rank_path.h"
#include "sort/output/volume.h"

namespace hetsort::cli {

namespace {

constexpr const char* kGenUsage = R"(usage: hetsort gen [OPTION...] NUM_RECS FILE

Writes NUM_RECS benchmark records of 100 bytes to FILE, or to standard output when FILE is "-". FILE appears only when
it is complete. The records are those of the public generator, gensort 1.5. Under a launcher each rank writes its share:
to a file of its own where FILE holds {rank}, else to its range of one file.

)";

struct GenRequest {
  gen::Form form = gen::Form::kBinary;
  gen::KeyDistribution keys;
  gen::RecordRange range;
  gen::GenerateOptions how;
  bool sync = true;
  std::string path;
  std::optional<std::size_t> threads;
  job::RankRequest ranks;
  job::ShareRequest shares;
  std::optional<ProgressStyle> progress;
  bool quiet = false;
  std::shared_ptr<sort::Monitor> monitor = std::make_shared<sort::Monitor>();
};

gen::KeyDistribution parse_keys(const std::string& text, const std::string& what) {
  try {
    return gen::parse_key_distribution(text);
  } catch (const std::invalid_argument& error) {
    throw UsageError(fmt::format("{}: {}", what, error.what()));
  }
}

gen::Uint128 parse_start(const std::string& text, const std::string& what) {
  const auto start = gen::parse_uint128(text);
  if (!start) throw UsageError(fmt::format("{} '{}' is not a decimal number of at most 128 bits", what, text));
  return *start;
}

/// Checks the path of the output. Throws: UsageError for a name with one of the public generator's suffixes.
std::string output_path(const std::string& path) {
  for (const std::string_view suffix : {",buf", ",trans", ",dir"})
    if (path.ends_with(suffix))
      throw UsageError(fmt::format("FILE '{}': hetsort has no '{}', it chooses how to write by itself", path, suffix));
  return path;
}

job::Options options_of(GenRequest& request) {
  job::Options options;
  options.add({.letter = 'a',
               .help = "ASCII records instead of binary ones",
               .fill = [&request](const std::string&, const std::string&) { request.form = gen::Form::kAscii; }});
  options.add({.letter = 'b',
               .value = "START",
               .usual = "0",
               .help = "number of the first record, up to 128 bits",
               .fill = job::take(request.range.first, parse_start)});
  options.add({.letter = 'c',
               .help = "print the checksum to standard error: the sum of all records' CRC-32",
               .fill = job::turn_on(request.how.checksum)});
  options.add(
      {.letter = 's',
       .help = "skewed keys",
       .excludes = {{"keys"}},
       .fill = [&request](const std::string&, const std::string&) { request.keys = {.kind = gen::KeyKind::kSkewed}; }});
  options.add({.name = "keys",
               .value = "KIND",
               .usual = "uniform",
               .help = "uniform, sorted, reverse, equal, few:K (K different keys) or zipf:S (skew exponent S)",
               .fill = job::take(request.keys, parse_keys)});
  job::add_threads_option(options, request.threads);
  options.add(
      {.name = "no-sync", .help = "do not wait for the disk before FILE appears", .fill = job::turn_off(request.sync)});
  job::add_strategy_option(options, request.shares,
                           "how ranks share records, as in 'hetsort plan', or auto (lambert with --speeds, threshold "
                           "with --cluster, else equal)");
  add_progress_option(options, request.progress);
  add_quiet_option(options, request.quiet);
  job::add_share_options(options, request.shares);
  job::add_rank_options(options, request.ranks);
  options.add(help_option());
  return options;
}

/// Throws: UsageError.
void finish(GenRequest& request, const std::vector<std::string>& operands) {
  if (operands.empty()) throw UsageError("gen wants NUM_RECS and FILE; 'hetsort gen --help' explains");
  if (operands.size() != 2)
    throw UsageError(fmt::format("gen wants two operands, NUM_RECS and FILE; there are {}", operands.size()));
  request.range.count_records = job::parse_many_records(operands[0], "NUM_RECS");
  request.path = output_path(operands[1]);
  request.how.threads = static_cast<unsigned>(request.threads.value_or(0));
  job::check_shares(request.shares);
}

job::NamedFiles files_of(const GenRequest& request) {
  job::NamedFiles files;
  files.write("FILE", request.path);
  files.read(io::field("cluster"), request.shares.cluster_path);
  files.read(io::field("plan"), request.shares.plan_path);
  return files;
}

/// Makes the records of `part` of the request's range.
gen::Uint128 write_records(const GenRequest& request, const gen::RecordRange& part, const gen::Sink& sink) {
  const gen::Generator generator(request.form, request.keys, request.range);
  return gen::generate(
      generator, part,
      [&](std::span<const std::byte> records) {
        sink(records);
        request.monitor->advance(records.size());
      },
      request.how);
}

gen::Uint128 write_stream(const GenRequest& request, const io::File& file) {
  return write_records(request, request.range, [&](std::span<const std::byte> records) { file.write(records); });
}

/// The bytes of all records. Throws: UsageError beyond 2^63, which no file has.
std::uint64_t output_bytes(const GenRequest& request) {
  constexpr std::uint64_t kMaxFileBytes = std::numeric_limits<std::int64_t>::max();
  if (request.range.count_records > kMaxFileBytes / gen::kRecordBytes)
    throw UsageError(
        fmt::format("{} records do not fit a file of at most 2^63 - 1 bytes", request.range.count_records));
  return request.range.count_records * gen::kRecordBytes;
}

gen::Uint128 write_file(const GenRequest& request) {
  io::OutputFile output(request.path);
  gen::Uint128 checksum = 0;
  if (output.is_staged()) {
    const std::array needs{io::SpaceNeed{"output folder", output.folder(), output_bytes(request)}};
    io::check_space(needs);
    std::uint64_t offset = 0;
    checksum = write_records(request, request.range, [&](std::span<const std::byte> records) {
      output.file().write_at(records, offset);
      offset += records.size();
    });
  } else {
    checksum = write_stream(request, output.file());
  }
  output.publish(request.sync);
  return checksum;
}

/// The sum of the ranks' 128-bit numbers, modulo 2^128.
gen::Uint128 sum_over_ranks(gen::Uint128 mine, comm::Communicator& ranks) {
  const std::vector<gen::Uint128> all = ranks.all_gather(mine);
  return std::accumulate(all.begin(), all.end(), gen::Uint128{0});
}

/// Writes this rank's share. Collective.
int write_share(const GenRequest& request, comm::Communicator& ranks) {
  const bool shared = !sort::is_rank_path(request.path);
  const job::RankPlanner planner = job::rank_planner(request.shares, ranks, {gen::kRecordBytes});
  if (!planner.note.empty() && !request.quiet) print_note(planner.note);
  const sort::Shares shares = sort::plan_on_root(planner.output, {request.range.count_records}, ranks);
  // What a rank writes here, a sort with the same plan lets it read.
  const std::vector<std::uint64_t>& of_ranks = shares.input_records();
  const std::uint64_t share = of_ranks[static_cast<std::size_t>(ranks.rank())];
  const std::uint64_t before = std::reduce(of_ranks.begin(), of_ranks.begin() + ranks.rank());
  sort::Volume output(
      {.path = sort::rank_path(request.path, ranks), .options = {.sync = request.sync}, .shared = shared}, ranks);
  const std::uint64_t all_bytes = output_bytes(request);
  if (output.is_stream())
    throw UsageError(
        fmt::format("{}: several ranks cannot write one stream; give a file, or a path with {{rank}}", request.path));
  if (output.is_staged()) {
    const std::array needs{
        io::SpaceNeed{"output folder", output.folder(), shared ? all_bytes : share * gen::kRecordBytes}};
    io::check_space(needs);
  }
  output.reserve(shared ? all_bytes : share * gen::kRecordBytes);
  std::uint64_t offset = shared ? before * gen::kRecordBytes : 0;
  const gen::Uint128 checksum =
      write_records(request, {request.range.first + before, share}, [&](std::span<const std::byte> records) {
        ranks.check();
        output.files().buffered->write_at(records, offset);
        offset += records.size();
      });
  const gen::Uint128 sum = sum_over_ranks(checksum, ranks);
  output.prepare();
  ranks.barrier();
  output.publish();
  if (request.how.checksum && ranks.rank() == 0) print_lines(gen::to_hex(sum) + "\n");
  return 0;
}

int generate_alone(const GenRequest& request) {
  const bool to_standard_output = request.path == "-" || request.path == "/dev/stdout";
  const gen::Uint128 checksum = to_standard_output ? write_stream(request, io::standard_output()) : write_file(request);
  if (request.how.checksum) print_lines(gen::to_hex(checksum) + "\n");
  return 0;
}

}  // namespace

job::Options gen_options() {
  static GenRequest unused;
  return options_of(unused);
}

int gen_command(Arguments arguments) {
  GenRequest request;
  job::Options options = options_of(request);
  const CommandLine line = parse_command_line("gen", arguments, options);
  if (line.help) return print_once(line.shared, help_text(kGenUsage, options));
  finish(request, line.operands);
  end_cleanly_on_signals();
  const std::unique_ptr<comm::Communicator> ranks = job::join_job(request.ranks);
  job::count_all_ranks(*request.monitor, *ranks);
  const job::Outcome outcome = run_everywhere(*ranks, line.shared, [&] {
    const job::NamedFiles files = files_of(request);
    check_files(files, *ranks);
    if (request.how.checksum && talk() == Talk::kErrors)
      throw UsageError("-c prints the checksum to standard error, which gets the records: name another FILE");
    if (const std::string note = files.rank_note(*ranks); !note.empty() && !request.quiet) print_note(note);
    ranks->set_phase("generate");
    request.monitor->begin_phase("generate", 1);
    request.monitor->plan_work(static_cast<std::uint64_t>(std::min<gen::Uint128>(
        gen::Uint128{request.range.count_records} * gen::kRecordBytes, std::numeric_limits<std::uint64_t>::max())));
    const ProgressPrinter progress(*request.monitor, progress_form(request.progress, request.quiet, *ranks));
    if (ranks->size() > 1) return write_share(request, *ranks);
    request.path = sort::rank_path(request.path, *ranks);
    if (!ranks->launched() && request.form == gen::Form::kBinary)
      job::refuse_terminal(request.path, "the name of a file, or -a");
    return generate_alone(request);
  });
  return report_outcome(outcome, *ranks);
}

}  // namespace hetsort::cli
