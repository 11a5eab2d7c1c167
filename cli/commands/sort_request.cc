// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
#include "cli/commands/sort_request.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <sstream>
#include <string_view>
#include <utility>

#include "cli/shared/options.h"

namespace hetsort::cli {

namespace {

namespace po = boost::program_options;

constexpr const char* kUsage = R"(usage: hetsort sort [OPTION...] [INPUT...] [-o OUTPUT]

Sorts records of fixed size by a key inside them, stably. No INPUT or "-" is standard input, no -o or "-" standard
output. OUTPUT appears only when it is complete, proven and on disk; it may be one of the INPUTs. What does not fit
memory is sorted in runs on disk and merged in one further pass.

)";

po::options_description visible_options() {
  const auto text = [] { return po::value<std::string>(); };
  po::options_description options("Options");
  auto add = options.add_options();
  add("output,o", text()->value_name("OUTPUT"), "where the sorted records go");
  add("record-size", text()->value_name("BYTES"), "1 to 1048576 (100)");
  add("key", text()->value_name("OFFSET:LENGTH"), "the key inside the record, up to 4096 bytes (0:10)");
  add_resource_options(options, "folder for runs that spill; several are striped");
  add("io", text()->value_name("WAY"), "auto, uring, threads or buffered");
  add("records", text()->value_name("N"), "the input must have exactly N records; needed for a forwarded stdin");
  add("root-input", po::bool_switch(), "only rank 0 has the INPUTs: it sends each rank its share");
  add_share_options(options, true);
  add_job_options(options, true);
  add("report", text()->value_name("FILE"), "write what was done as JSON, also when it fails");
  add("trace", text()->value_name("FILE"), "write what each thread did as Chrome trace events");
  add_progress_option(options);
  add("checksum", po::bool_switch(), "put the sum of the records' CRC-32 into the report");
  add("no-sync", po::bool_switch(), "do not wait for the disk before OUTPUT appears");
  add("verify-output", po::bool_switch(), "read OUTPUT back from the disk and check it before it appears");
  add("dry-run", po::bool_switch(), "check everything, print the plan as JSON, sort nothing");
  add("explain", po::bool_switch(), "say how memory and disk will be used, and why");
  add("verbose,v", po::bool_switch(), "say what was done");
  add("quiet,q", po::bool_switch(), "no progress and no notes; errors only");
  add("help,h", po::bool_switch(), "this text");
  return options;
}

/// Options of the commands' design that later versions bring. Refused by name: never ignored.
constexpr std::array<std::string_view, 7> kNotBuiltFlags{"lines",   "zero-terminated,z", "reverse,r", "unique,u",
                                                         "check,c", "merge,m",           "program"};
constexpr std::size_t kNotBuiltWithoutValue = 6;  // the first of them take no value

po::options_description all_options() {
  po::options_description options = visible_options();
  for (std::size_t i = 0; i < kNotBuiltFlags.size(); ++i) {
    const std::string name(kNotBuiltFlags[i]);
    if (i < kNotBuiltWithoutValue)
      options.add_options()(name.c_str(), po::bool_switch());
    else
      options.add_options()(name.c_str(), po::value<std::string>());
  }
  return options;
}

void refuse_not_built(const po::variables_map& values) {
  for (const std::string_view spelled : kNotBuiltFlags) {
    const std::string name(spelled.substr(0, spelled.find(',')));
    if (values.count(name) != 0 && !values[name].defaulted())
      throw UsageError(fmt::format("--{} is not built yet", name));
  }
}

std::string text_of(const po::variables_map& values, const char* name) {
  return values.count(name) != 0 ? values[name].as<std::string>() : std::string();
}

sort::RecordLayout requested_layout(const po::variables_map& values) {
  sort::RecordLayout layout;
  if (values.count("record-size") != 0)
    layout.record_bytes = parse_count(text_of(values, "record-size"), "--record-size");
  // Records shorter than the usual key are their own key.
  layout.key_bytes = std::min(layout.key_bytes, layout.record_bytes);
  if (values.count("key") != 0) {
    const std::string key = text_of(values, "key");
    const std::size_t colon = key.find(':');
    if (colon == std::string::npos) throw UsageError(fmt::format("--key '{}' is not OFFSET:LENGTH", key));
    layout.key_offset = parse_count(key.substr(0, colon), "--key offset");
    layout.key_bytes = parse_count(key.substr(colon + 1), "--key length");
  }
  sort::check_layout(layout);
  return layout;
}

/// Whether what is written to one path would replace what was written to the other.
bool same_file(const std::string& one, const std::string& other) {
  namespace fs = std::filesystem;
  const auto is_no_file = [](const std::string& path) { return path.empty() || path == "-" || path == "/dev/null"; };
  if (is_no_file(one) || is_no_file(other)) return false;
  std::error_code missing;
  return fs::absolute(one, missing).lexically_normal() == fs::absolute(other, missing).lexically_normal() ||
         fs::equivalent(one, other, missing);
}

/// Each is replaced as a whole, the last one last: none may be what another one was.
void refuse_one_file_for_two(const SortRequest& request) {
  const std::array<std::pair<const char*, const std::string*>, 4> written{{{"-o", &request.options.output.path},
                                                                           {"--report", &request.report_path},
                                                                           {"--trace", &request.trace_path},
                                                                           {"--learn", &request.shares.learn_path}}};
  for (auto one = written.begin(); one != written.end(); ++one)
    for (auto other = one + 1; other != written.end(); ++other)
      if (same_file(*one->second, *other->second))
        throw UsageError(fmt::format("{} and {} both name {}: each wants a file of its own", one->first, other->first,
                                     *other->second));
  // Only the output may stand where an input was.
  for (auto one = written.begin() + 1; one != written.end(); ++one)
    for (const std::string& input : request.options.input.paths)
      if (same_file(*one->second, input))
        throw UsageError(fmt::format("{} names {}, which is an INPUT", one->first, input));
}

}  // namespace

std::string sort_help() {
  std::ostringstream text;
  text << kUsage << visible_options();
  return text.str();
}

SortRequest parse_sort_request(Arguments arguments) {
  const po::variables_map values = parse_options(arguments, all_options());
  SortRequest request;
  request.help = values["help"].as<bool>();
  if (request.help) return request;
  refuse_not_built(values);
  sort::SortOptions& options = request.options;
  if (values.count("operand") != 0) options.input.paths = values["operand"].as<std::vector<std::string>>();
  if (std::count(options.input.paths.begin(), options.input.paths.end(), "-") > 1)
    throw UsageError("standard input ('-') can be read only once");
  if (values.count("output") != 0) options.output.path = text_of(values, "output");
  if (options.output.path.empty()) throw UsageError("-o wants a path");
  options.layout = requested_layout(values);
  request.resources = requested_resources(values, options.output.path);
  options.spill.directories_given = request.resources.temp_given;
  options.spill.directories = request.resources.temp_directories;
  request.job = requested_job(values);
  request.shares = requested_shares(values);
  if (values.count("io") != 0) {
    const auto access = io::parse_access(text_of(values, "io"));
    if (!access) throw UsageError("--io wants auto, uring, threads or buffered");
    options.access = *access;
  }
  options.output.sync = !values["no-sync"].as<bool>();
  options.input.root_only = values["root-input"].as<bool>();
  options.output.checksum = values["checksum"].as<bool>();
  options.output.verify = values["verify-output"].as<bool>();
  if (options.output.verify && !options.output.sync)
    throw UsageError("--verify-output reads what is on the disk: it excludes --no-sync");
  if (values.count("records") != 0)
    options.input.expected_records = parse_count(text_of(values, "records"), "--records");
  request.report_path = text_of(values, "report");
  request.trace_path = text_of(values, "trace");
  request.dry_run = values["dry-run"].as<bool>();
  request.explain = values["explain"].as<bool>();
  request.verbose = values["verbose"].as<bool>();
  request.quiet = values["quiet"].as<bool>();
  if (request.verbose && request.quiet) throw UsageError("-v and -q exclude each other");
  request.progress = requested_progress(values, request.quiet);
  refuse_one_file_for_two(request);
  return request;
}

bool reads_standard_input(const sort::SortOptions& options) {
  return options.input.paths.empty() || std::count(options.input.paths.begin(), options.input.paths.end(), "-") > 0;
}

void settle_for_job(SortRequest& request, comm::Communicator& ranks) {
  settle_for_job(request.resources, ranks);
  sort::SortOptions& options = request.options;
  options.memory_bytes = request.resources.memory_bytes;
  options.threads = request.resources.threads;
  const bool root_sends = options.input.root_only || reads_standard_input(options);
  if (!request.shares.learn_path.empty()) request.curves.emplace(request.shares.learn_path, ranks);
  request.planner =
      rank_planner(request.shares, ranks, {options.layout.record_bytes, true, root_sends, request.curves});
  options.shares.output = plan_shares_by(request.planner.output);
  if (request.planner.input) options.shares.input = plan_shares_by(request.planner.input);
  options.shares.output_by_rates = request.planner.by_rates;
}

}  // namespace hetsort::cli
