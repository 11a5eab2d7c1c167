// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
//
// hetsort gen: writes benchmark records.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <limits>
#include <memory>
#include <string>
#include <vector>

#include "cli/commands.h"
#include "cli/options/plan_input.h"
#include "cli/options/share_request.h"
#include "cli/options/typed_options.h"
#include "cli/shared/job.h"
#include "cli/shared/messages.h"
#include "cli/shared/named_files.h"
#include "cli/shared/progress.h"
#include "cli/shared/resources.h"
#include "cli/shared/signals.h"
#include "gen/generator.h"
#include "io/file.h"
#include "io/publish.h"
#include "io/temp/temp_space.h"
#include "sort/input/rank_path.h"
#include "sort/output/volume.h"

namespace hetsort::cli {

namespace {

namespace po = boost::program_options;

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
  JobRequest job;
  ShareRequest shares;
  ProgressStyle progress = ProgressStyle::kAuto;
  bool quiet = false;
  std::shared_ptr<sort::Monitor> monitor = std::make_shared<sort::Monitor>();
};

gen::KeyDistribution parse_keys(const std::string& text) {
  try {
    return gen::parse_key_distribution(text);
  } catch (const std::invalid_argument& error) {
    throw UsageError(fmt::format("--keys: {}", error.what()));
  }
}

gen::Uint128 parse_start(const std::string& text) {
  const auto start = gen::parse_uint128(text);
  if (!start) throw UsageError(fmt::format("-b '{}' is not a decimal number of at most 128 bits", text));
  return *start;
}

gen::KeyDistribution requested_keys(const po::variables_map& values) {
  if (!value_of<bool>(values, "-s")) return value_of<gen::KeyDistribution>(values, "keys");
  if (!values["keys"].defaulted()) throw UsageError("-s and --keys exclude each other: both choose the keys");
  return {.kind = gen::KeyKind::kSkewed};
}

/// Checks the path of the output. Throws: UsageError for a name with one of the public generator's suffixes.
std::string output_path(const std::string& path) {
  for (const std::string_view suffix : {",buf", ",trans", ",dir"})
    if (path.ends_with(suffix))
      throw UsageError(fmt::format("FILE '{}': hetsort has no '{}', it chooses how to write by itself", path, suffix));
  return path;
}

GenRequest gen_request_of(const po::variables_map& values) {
  const std::vector<std::string> operands = operands_of(values);
  if (operands.empty()) throw UsageError("gen wants NUM_RECS and FILE; 'hetsort gen --help' explains");
  if (operands.size() != 2)
    throw UsageError(fmt::format("gen wants two operands, NUM_RECS and FILE; there are {}", operands.size()));
  GenRequest request;
  request.form = value_of<bool>(values, "-a") ? gen::Form::kAscii : gen::Form::kBinary;
  request.keys = requested_keys(values);
  request.range.first = value_of<gen::Uint128>(values, "-b");
  request.range.count_records = parse_many_records(operands[0], "NUM_RECS");
  request.path = output_path(operands[1]);
  request.how.threads = static_cast<unsigned>(given_threads(values).value_or(0));
  request.how.checksum = value_of<bool>(values, "-c");
  request.sync = !value_of<bool>(values, "no-sync");
  request.quiet = value_of<bool>(values, "quiet");
  request.progress = requested_progress(values, request.quiet);
  request.job = requested_job(values);
  request.shares = requested_shares(values);
  request.shares.strategy = optional_value<std::string>(values, "strategy").value_or("");
  check_shares(request.shares);
  return request;
}

NamedFiles files_of(const GenRequest& request) {
  NamedFiles files;
  files.write("FILE", request.path);
  files.read("--cluster", request.shares.cluster_path);
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
  constexpr int kDigitBits = 32;
  std::array<std::uint64_t, 4> digits{};
  for (std::size_t i = 0; i < digits.size(); ++i)
    digits[i] = static_cast<std::uint32_t>(mine >> (kDigitBits * static_cast<int>(i)));
  ranks.all_reduce_sum(digits);
  gen::Uint128 sum = 0;
  for (std::size_t i = 0; i < digits.size(); ++i) sum += gen::Uint128{digits[i]} << (kDigitBits * static_cast<int>(i));
  return sum;
}

/// Writes this rank's share. Collective.
int write_share(const GenRequest& request, comm::Communicator& ranks) {
  const bool shared = !sort::is_rank_path(request.path);
  const RankPlanner planner = rank_planner(request.shares, ranks, {gen::kRecordBytes});
  if (!planner.note.empty() && !request.quiet) print_note(planner.note);
  const sort::Shares shares = sort::plan_on_root(planner.output, {request.range.count_records}, ranks);
  const std::uint64_t share = shares.records[static_cast<std::size_t>(ranks.rank())];
  std::uint64_t before = 0;
  for (int rank = 0; rank < ranks.rank(); ++rank) before += shares.records[static_cast<std::size_t>(rank)];
  sort::Volume output(
      {.path = sort::rank_path(request.path, ranks), .access = {}, .sync = request.sync, .shared = shared}, ranks);
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

po::options_description gen_options() {
  po::options_description options("Options");
  auto add = options.add_options();
  add(",a", po::bool_switch(), "ASCII records instead of binary ones");
  add(",b", parsed<gen::Uint128>("START", parse_start)->default_value(0, "0"),
      "number of the first record, up to 128 bits");
  add(",c", po::bool_switch(), "print the checksum to standard error: the sum of all records' CRC-32");
  add(",s", po::bool_switch(), "skewed keys");
  add("keys", parsed<gen::KeyDistribution>("KIND", parse_keys)->default_value({}, "uniform"),
      "uniform, sorted, reverse, equal, few:K (K different keys) or zipf:S (skew exponent S)");
  add_threads_option(options);
  add("no-sync", po::bool_switch(), "do not wait for the disk before FILE appears");
  add("strategy", strategy_name("NAME"),
      "how ranks share records, as in 'hetsort plan', or auto (lambert with --speeds, threshold with --cluster, else "
      "equal)");
  add_progress_option(options);
  add("quiet,q", po::bool_switch(), "no progress and no notes; errors only");
  add_share_options(options);
  add_job_options(options);
  add("help,h", po::bool_switch(), "this text");
  return options;
}

int gen_command(Arguments arguments) {
  const po::options_description options = gen_options();
  const CommandLine line = parse_options("gen", arguments, options);
  if (value_of<bool>(line.values, "help")) return print_once(line.shared, help_text(kGenUsage, options));
  GenRequest request = gen_request_of(line.values);
  end_cleanly_on_signals();
  const std::unique_ptr<comm::Communicator> ranks = join_job(request.job);
  count_all_ranks(*request.monitor, *ranks);
  const Outcome outcome = run_job(*ranks, line.shared, [&] {
    const NamedFiles files = files_of(request);
    files.check(*ranks);
    if (request.how.checksum && talk() == Talk::kErrors)
      throw UsageError("-c prints the checksum to standard error, which gets the records: name another FILE");
    if (const std::string note = files.rank_note(*ranks); !note.empty() && !request.quiet) print_note(note);
    ranks->set_phase("generate");
    request.monitor->begin_phase("generate", 1);
    request.monitor->plan_work(static_cast<std::uint64_t>(std::min<gen::Uint128>(
        gen::Uint128{request.range.count_records} * gen::kRecordBytes, std::numeric_limits<std::uint64_t>::max())));
    const ProgressPrinter progress(
        *request.monitor,
        {.style = ranks->rank() == 0 ? request.progress : ProgressStyle::kNone, .launched = ranks->launched()});
    if (ranks->size() > 1) return write_share(request, *ranks);
    request.path = sort::rank_path(request.path, *ranks);
    if (!ranks->launched() && request.form == gen::Form::kBinary)
      refuse_terminal(request.path, "the name of a file, or -a");
    return generate_alone(request);
  });
  return report_outcome(outcome, *ranks);
}

}  // namespace hetsort::cli
