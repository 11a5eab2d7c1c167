// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
//
// hetsort validate: judges whether records are in order, and counts and sums them.
#include "gen/validate.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <optional>
#include <string>
#include <vector>

#include "cli/commands.h"
#include "cli/shared/job.h"
#include "cli/shared/options.h"
#include "cli/shared/resources.h"
#include "comm/packing.h"
#include "io/file.h"
#include "io/publish.h"
#include "sort/input/rank_path.h"
#include "sort/input/record_count.h"

namespace hetsort::cli {

namespace {

namespace po = boost::program_options;

constexpr const char* kValidateUsage = R"(usage: hetsort validate [OPTION...] FILE...

Judges the records of the FILEs, taken as consecutive partitions of one output ("-": standard input), and reports as
the public validator, valsort 1.5. Exit status: 0 in order, 1 not in order, 2 it could not be judged. Under a launcher
{rank} in a FILE stands for each rank's own file; FILEs without it are divided among the ranks.

)";

constexpr int kExitInOrder = 0;
constexpr int kExitNotInOrder = 1;

struct ValidateRequest {
  gen::ValidateOptions how;
  bool quiet = false;
  bool summaries = false;
  std::optional<std::string> summary_path;
  std::vector<std::string> paths;
  JobRequest job;
};

po::options_description validate_options() {
  po::options_description options("Options");
  auto add = options.add_options();
  add(",q", po::bool_switch(), "no report, only the exit status");
  add(",o", po::value<std::string>()->value_name("SUMMARY"), "write a summary of all FILEs, for -s");
  add(",s", po::bool_switch(), "the FILEs hold summaries instead of records");
  add("record-size", po::value<std::string>()->value_name("BYTES"), "size of a record, 1 to 1048576 (100)");
  add("key", po::value<std::string>()->value_name("OFFSET:LENGTH"), "where the key lies in the record (0:10)");
  add("threads,j", po::value<std::string>()->value_name("N"), "threads (as many as processors)");
  add(",i", po::bool_switch(), "refused: the public validator's comparison without case");
  add_job_options(options, false);
  add("help,h", po::bool_switch(), "this text");
  return options;
}

std::uint64_t count_within(const std::string& text, std::string_view what, std::uint64_t least, std::uint64_t most) {
  const std::uint64_t value = parse_count(text, what);
  if (value < least || value > most)
    throw UsageError(fmt::format("{} wants {} to {}, not {}", what, least, most, text));
  return value;
}

gen::RecordShape requested_shape(const po::variables_map& values) {
  gen::RecordShape shape;
  if (values.count("record-size") != 0)
    shape.record_bytes =
        count_within(values["record-size"].as<std::string>(), "--record-size", 1, gen::kMaxRecordBytes);
  if (values.count("key") != 0) {
    const std::string& text = values["key"].as<std::string>();
    const std::size_t colon = text.find(':');
    if (colon == std::string::npos) throw UsageError(fmt::format("--key '{}' is not OFFSET:LENGTH", text));
    shape.key_offset = parse_count(text.substr(0, colon), "--key offset");
    shape.key_bytes = count_within(text.substr(colon + 1), "--key length", 1, gen::kMaxKeyBytes);
  }
  if (shape.key_offset > shape.record_bytes || shape.key_bytes > shape.record_bytes - shape.key_offset)
    throw UsageError(fmt::format("key {}:{} lies outside the record of {} bytes", shape.key_offset, shape.key_bytes,
                                 shape.record_bytes));
  return shape;
}

void check_consistency(const ValidateRequest& request) {
  const bool benchmark_records = request.how.shape == gen::RecordShape{};
  if (request.summaries && !benchmark_records)
    throw UsageError("-s excludes --record-size and --key: summaries are of 100-byte records with key 0:10");
  if (request.summary_path && !benchmark_records)
    throw UsageError("-o excludes --record-size and --key: summaries are of 100-byte records with key 0:10");
}

ValidateRequest validate_request_of(const po::variables_map& values) {
  if (values["-i"].as<bool>()) throw UsageError("-i is not supported: keys are compared as bytes");
  if (values.count("operand") == 0) throw UsageError("validate wants a FILE; 'hetsort validate --help' explains");
  ValidateRequest request;
  request.how.shape = requested_shape(values);
  if (const auto threads = given_threads(values)) request.how.threads = static_cast<unsigned>(*threads);
  request.quiet = values["-q"].as<bool>();
  request.summaries = values["-s"].as<bool>();
  if (values.count("-o") != 0) request.summary_path = values["-o"].as<std::string>();
  request.paths = values["operand"].as<std::vector<std::string>>();
  request.job = requested_job(values);
  check_consistency(request);
  return request;
}

void write_summary(const std::string& path, const gen::Summary& summary) {
  const auto bytes = gen::encode_summary(summary);
  if (path == "-" || path == "/dev/stdout") return io::standard_output().write(bytes);
  io::OutputFile output(path);
  output.file().write(bytes);
  output.publish(true);
}

comm::Bytes pack(const gen::Summary& summary) {
  comm::Packer packer;
  for (const gen::Uint128 number :
       {summary.first_unordered, summary.unordered, summary.records, summary.duplicates, summary.checksum}) {
    packer.number(gen::high_half(number));
    packer.number(gen::low_half(number));
  }
  packer.number(summary.first_key.size());
  packer.raw(summary.first_key.data(), summary.first_key.size());
  packer.raw(summary.last_key.data(), summary.last_key.size());
  packer.raw(summary.first_record.data(), summary.first_record.size());
  packer.raw(summary.last_record.data(), summary.last_record.size());
  return packer.take();
}

gen::Summary unpack(const comm::Bytes& bytes) {
  comm::Unpacker unpacker(bytes);
  gen::Summary summary;
  for (gen::Uint128* number :
       {&summary.first_unordered, &summary.unordered, &summary.records, &summary.duplicates, &summary.checksum}) {
    const std::uint64_t high = unpacker.number();
    *number = gen::make_uint128(high, unpacker.number());
  }
  const std::uint64_t key_bytes = unpacker.number();
  if (key_bytes > gen::kMaxKeyBytes) throw std::runtime_error("a summary with too long keys came");
  summary.first_key.resize(key_bytes);
  summary.last_key.resize(key_bytes);
  unpacker.raw(summary.first_key.data(), key_bytes);
  unpacker.raw(summary.last_key.data(), key_bytes);
  unpacker.raw(summary.first_record.data(), summary.first_record.size());
  unpacker.raw(summary.last_record.data(), summary.last_record.size());
  unpacker.end();
  return summary;
}

/// The files this rank judges: its own where paths hold {rank}, else its consecutive part of them.
std::vector<std::string> paths_of_rank(const std::vector<std::string>& paths, const comm::Communicator& ranks) {
  const auto own = static_cast<std::size_t>(std::count_if(paths.begin(), paths.end(), sort::is_rank_path));
  if (own != 0 && own != paths.size())
    throw UsageError("FILEs with and without {rank} cannot be mixed: their records would have no common order");
  std::vector<std::string> mine;
  if (own != 0) {
    for (const std::string& path : paths) mine.push_back(sort::rank_path(path, ranks));
    return mine;
  }
  if (ranks.size() > 1 && std::count(paths.begin(), paths.end(), "-") > 0)
    throw UsageError("several ranks cannot judge standard input; name the files");
  const auto size = static_cast<std::size_t>(ranks.size());
  const auto rank = static_cast<std::size_t>(ranks.rank());
  return {paths.begin() + static_cast<std::ptrdiff_t>(paths.size() * rank / size),
          paths.begin() + static_cast<std::ptrdiff_t>(paths.size() * (rank + 1) / size)};
}

/// This rank's part of the judgement, joined with that of all others. Collective.
gen::Summary judge(const ValidateRequest& request, comm::Communicator& ranks) {
  if (!ranks.launched())
    return request.summaries ? gen::join_summary_files(request.paths) : gen::validate_files(request.paths, request.how);
  const std::vector<std::string> paths = paths_of_rank(request.paths, ranks);
  gen::Summary mine;
  if (!paths.empty())
    mine = request.summaries ? gen::join_summary_files(paths) : gen::validate_files(paths, request.how);
  return unpack(ranks.all_reduce(pack(mine), [](const comm::Bytes& low, const comm::Bytes& high) {
    gen::Summary joined = unpack(low);
    joined.append(unpack(high));
    return pack(joined);
  }));
}

}  // namespace

int validate_command(Arguments arguments) {
  const po::options_description options = validate_options();
  const po::variables_map values = parse_options(arguments, options);
  if (answers_help(values, kValidateUsage, options)) return 0;
  const ValidateRequest request = validate_request_of(values);
  const std::unique_ptr<comm::Communicator> ranks = join_job(request.job);
  const Outcome outcome = run_job(*ranks, [&] {
    ranks->set_phase("validate");
    for (const std::string& path : request.paths)
      if (sort::is_forwarded(path))
        throw UsageError(fmt::format(
            "read {}: a launcher forwards it, and if the launcher dies the input looks complete although it is cut "
            "short; name a file",
            path == "-" ? "standard input" : path));
    const gen::Summary summary = judge(request, *ranks);
    if (ranks->rank() == 0) {
      if (request.summary_path) write_summary(*request.summary_path, summary);
      if (!request.quiet) fmt::print(stderr, "{}", summary.report());
    }
    return summary.in_order() ? kExitInOrder : kExitNotInOrder;
  });
  return report_outcome(outcome, *ranks);
}

}  // namespace hetsort::cli
