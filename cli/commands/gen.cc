// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
//
// hetsort gen: writes benchmark records.
#include <fmt/format.h>

#include <cstdio>
#include <string>
#include <vector>

#include "cli/commands.h"
#include "cli/shared/job.h"
#include "cli/shared/options.h"
#include "cli/shared/resources.h"
#include "cli/shared/share_request.h"
#include "cli/shared/signals.h"
#include "gen/generator.h"
#include "io/file.h"
#include "io/publish.h"
#include "sort/input/rank_path.h"
#include "sort/output/output.h"

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
};

po::options_description gen_options() {
  po::options_description options("Options");
  auto add = options.add_options();
  add(",a", po::bool_switch(), "ASCII records instead of binary ones");
  add(",b", po::value<std::string>()->value_name("START"), "number of the first record, up to 128 bits (0)");
  add(",c", po::bool_switch(), "print the checksum to standard error: the sum of all records' CRC-32");
  add(",s", po::bool_switch(), "skewed keys");
  add("keys", po::value<std::string>()->value_name("KIND"),
      "uniform (default), sorted, reverse, equal, few:K (K different keys) or zipf:S (skew exponent S)");
  add("threads,j", po::value<std::string>()->value_name("N"), "threads (as many as processors)");
  add("no-sync", po::bool_switch(), "do not wait for the disk before FILE appears");
  add_share_options(options, false);
  add_job_options(options, false);
  add("help,h", po::bool_switch(), "this text");
  return options;
}

gen::KeyDistribution requested_keys(const po::variables_map& values) {
  const bool skewed = values["-s"].as<bool>();
  if (values.count("keys") == 0) return {.kind = skewed ? gen::KeyKind::kSkewed : gen::KeyKind::kUniform};
  if (skewed) throw UsageError("-s and --keys exclude each other: both choose the keys");
  try {
    return gen::parse_key_distribution(values["keys"].as<std::string>());
  } catch (const std::invalid_argument& error) {
    throw UsageError(fmt::format("--keys: {}", error.what()));
  }
}

gen::Uint128 requested_start(const po::variables_map& values) {
  if (values.count("-b") == 0) return 0;
  const std::string& text = values["-b"].as<std::string>();
  const auto start = gen::parse_uint128(text);
  if (!start) throw UsageError(fmt::format("-b '{}' is not a decimal number of at most 128 bits", text));
  return *start;
}

GenRequest gen_request_of(const po::variables_map& values) {
  if (values.count("operand") == 0) throw UsageError("gen wants NUM_RECS and FILE; 'hetsort gen --help' explains");
  const auto& operands = values["operand"].as<std::vector<std::string>>();
  if (operands.size() != 2)
    throw UsageError(fmt::format("gen wants two operands, NUM_RECS and FILE; there are {}", operands.size()));
  GenRequest request;
  request.form = values["-a"].as<bool>() ? gen::Form::kAscii : gen::Form::kBinary;
  request.keys = requested_keys(values);
  request.range.first = requested_start(values);
  request.range.count_records = parse_count(operands[0], "NUM_RECS");
  request.path = operands[1];
  request.how.threads = static_cast<unsigned>(given_threads(values).value_or(0));
  request.how.checksum = values["-c"].as<bool>();
  request.sync = !values["no-sync"].as<bool>();
  request.job = requested_job(values);
  request.shares = requested_shares(values);
  return request;
}

/// Makes the records of `part` of the request's range.
gen::Uint128 write_records(const GenRequest& request, const gen::RecordRange& part, const gen::Sink& sink) {
  const gen::Generator generator(request.form, request.keys, request.range);
  return gen::generate(generator, part, sink, request.how);
}

gen::Uint128 write_stream(const GenRequest& request, const io::File& file) {
  return write_records(request, request.range, [&](std::span<const std::byte> records) { file.write(records); });
}

gen::Uint128 write_output(const GenRequest& request) {
  io::OutputFile output(request.path);
  gen::Uint128 checksum = 0;
  if (output.is_staged()) {
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
void write_share(const GenRequest& request, comm::Communicator& ranks) {
  const bool shared = !sort::is_rank_path(request.path);
  const sort::Shares shares =
      sort::plan_on_root(plan_shares_by(rank_planner(request.shares, ranks, {gen::kRecordBytes}).output),
                         request.range.count_records, ranks);
  const std::uint64_t share = shares.records[static_cast<std::size_t>(ranks.rank())];
  std::uint64_t before = 0;
  for (int rank = 0; rank < ranks.rank(); ++rank) before += shares.records[static_cast<std::size_t>(rank)];
  sort::Output output(
      {.path = sort::rank_path(request.path, ranks), .access = {}, .sync = request.sync, .shared = shared}, ranks);
  if (output.is_stream())
    throw UsageError(
        fmt::format("{}: several ranks cannot write one stream; give a file, or a path with {{rank}}", request.path));
  output.reserve((shared ? request.range.count_records : share) * gen::kRecordBytes);
  std::uint64_t offset = shared ? before * gen::kRecordBytes : 0;
  const gen::Uint128 checksum =
      write_records(request, {request.range.first + before, share}, [&](std::span<const std::byte> records) {
        ranks.check();
        output.files().buffered->write_at(records, offset);
        offset += records.size();
      });
  const gen::Uint128 sum = sum_over_ranks(checksum, ranks);
  output.prepare();
  std::vector<std::uint64_t> ready{1};
  ranks.all_reduce_sum(ready);
  output.publish();
  if (request.how.checksum && ranks.rank() == 0) fmt::print(stderr, "{}\n", gen::to_hex(sum));
}

int generate_alone(const GenRequest& request) {
  const bool to_standard_output = request.path == "-" || request.path == "/dev/stdout";
  const gen::Uint128 checksum =
      to_standard_output ? write_stream(request, io::standard_output()) : write_output(request);
  if (request.how.checksum) fmt::print(stderr, "{}\n", gen::to_hex(checksum));
  return 0;
}

}  // namespace

int gen_command(Arguments arguments) {
  const po::options_description options = gen_options();
  po::options_description all = gen_options();
  all.add_options()("learn", po::value<std::string>());
  const po::variables_map values = parse_options(arguments, all);
  if (answers_help(values, kGenUsage, options)) return 0;
  if (values.count("learn") != 0) throw UsageError("--learn is of sort: gen measures nothing");
  GenRequest request = gen_request_of(values);
  end_cleanly_on_signals();
  const std::unique_ptr<comm::Communicator> ranks = join_job(request.job);
  if (ranks->size() == 1) {
    request.path = sort::rank_path(request.path, *ranks);
    return generate_alone(request);
  }
  const Outcome outcome = run_job(*ranks, [&] {
    ranks->set_phase("generate");
    write_share(request, *ranks);
    return 0;
  });
  return report_outcome(outcome, *ranks);
}

}  // namespace hetsort::cli
