// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
#include "cli/commands/sort_request.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <climits>
#include <limits>
#include <numeric>
#include <string_view>
#include <utility>

#include "cli/options/line_options.h"
#include "cli/options/options.h"
#include "cli/options/other_programs.h"
#include "cli/options/plan_input.h"
#include "cli/options/record_options.h"
#include "cli/options/typed_options.h"
#include "io/file.h"

namespace hetsort::cli {

namespace po = boost::program_options;

namespace {

/// Collects the names of a file, each ended by a zero byte. What is no list of names is found early.
class NameList {
 public:
  explicit NameList(const std::string& path) : path_(path) {}

  void append(std::string_view bytes) {
    constexpr std::size_t kMaxBytes = std::size_t{64} << 20;
    read_bytes_ += bytes.size();
    if (read_bytes_ > kMaxBytes) refuse(fmt::format("more than {} bytes of names", kMaxBytes));
    while (!bytes.empty()) {
      const std::size_t end = std::min(bytes.find('\0'), bytes.size());
      begun_ += bytes.substr(0, end);
      if (begun_.size() >= PATH_MAX)
        refuse(fmt::format("name number {} is longer than {} bytes", names_.size() + 1, PATH_MAX - 1));
      if (end == bytes.size()) return;
      add();
      bytes.remove_prefix(end + 1);
    }
  }
  std::vector<std::string> take() {
    if (!begun_.empty()) add();
    if (names_.empty()) refuse("it has no names");
    return std::move(names_);
  }

 private:
  void add() {
    if (begun_.empty()) refuse(fmt::format("name number {} is empty", names_.size() + 1));
    names_.push_back(std::exchange(begun_, {}));
  }
  [[noreturn]] void refuse(const std::string& reason) const {
    throw UsageError(fmt::format("--files0-from {}: {}", path_, reason));
  }

  const std::string& path_;
  std::size_t read_bytes_ = 0;
  std::string begun_;
  std::vector<std::string> names_;
};

/// The names in `path` ("-" = standard input), each ended by a zero byte.
std::vector<std::string> names_in(const std::string& path) {
  if (path == "-" && is_one_of_many())
    throw UsageError("--files0-from -: only one rank has standard input; name a file");
  const io::File file = path == "-" ? io::standard_input() : io::File::open_read(path);
  NameList list(path);
  std::array<std::byte, 4096> part{};
  for (std::size_t got = 0; (got = file.read(part)) > 0;)
    list.append({reinterpret_cast<const char*>(part.data()), got});
  std::vector<std::string> names = list.take();
  if (std::count(names.begin(), names.end(), "-") > (path == "-" ? 0 : 1))
    throw UsageError("standard input ('-') can be read only once");
  return names;
}

/// Checks the outputs of the request. Throws: UsageError.
void check_outputs(const sort::OutputOptions& output) {
  constexpr std::size_t kMaxOutputs = 64;  // a process can remove as many unpublished names after a signal
  const std::vector<std::string>& paths = output.paths;
  if (std::count(paths.begin(), paths.end(), "") > 0) throw UsageError("-o wants a path");
  if (paths.size() == 1) return;
  if (paths.size() > kMaxOutputs)
    throw UsageError(fmt::format("-o names {} OUTPUTs; a rank has {} at most", paths.size(), kMaxOutputs));
  if (std::count(paths.begin(), paths.end(), "-") > 0)
    throw UsageError("-o -: standard output cannot be one of several OUTPUTs");
  if (output.unique)
    throw UsageError(fmt::format("-u writes one OUTPUT from front to back, and '{}' is a second one", paths[1]));
}

}  // namespace

void add_sort_options(po::options_description& options) {
  auto add = options.add_options();
  add("output,o", po::value<std::vector<std::string>>()->default_value({"-"}, "-")->value_name("OUTPUT"),
      "where the sorted records go; \"-\" is standard output. Repeated: each file gets an equal part, in this order");
  add_record_options(options);
  add_resource_options(options, "folder for runs that spill; several are striped");
  add("io",
      choice<io::Access>("WAY", "--io",
                         {{"auto", io::Access::kAuto},
                          {"uring", io::Access::kUring},
                          {"threads", io::Access::kThreads},
                          {"buffered", io::Access::kBuffered}})
          ->default_value(io::Access::kAuto, "auto"),
      "auto, uring, threads or buffered");
  add("records",
      parsed<std::uint64_t>("N", [](const std::string& text) { return parse_many_records(text, "--records"); }),
      "the input must have exactly N records; needed for a forwarded stdin");
  add("root-input", po::bool_switch(), "only rank 0 has the INPUTs: it sends each rank its share");
  add("unique,u", po::bool_switch(), "of records with equal keys write only the first");
  add("stable,s", po::bool_switch(), "records with equal keys keep the order of the input; they always do");
  add("batch-size", count("N", "--batch-size", 2, std::numeric_limits<std::uint64_t>::max()),
      "a rank merges at most N spilled runs at once (as many as memory has room for)");
  add("files0-from", text("FILE"), "read the names of the INPUTs from FILE, each ended by a zero byte");
  add_line_options(options);
  add_share_options(options);
  add("learn", path_of_one_file("FILE", "--learn"), "share by what earlier runs wrote there, and add this one");
  add_job_options(options);
  add_exchange_option(options);
  add_progress_option(options);
  add("checksum", po::bool_switch(), "put the sum of the records' CRC-32 into the report");
  add("no-sync", po::bool_switch(), "do not wait for the disk before OUTPUT appears");
  add("verify-output", po::bool_switch(), "read OUTPUT back from the disk and check it before it appears");
  add("quiet,q", po::bool_switch(), "no progress and no notes; errors only");
}

SortRequest sort_request_of(const po::variables_map& values) {
  SortRequest request;
  sort::SortOptions& options = request.options;
  options.input.paths = operands_of(values);
  for (const std::string& path : options.input.paths)
    if (const std::string old_key = old_key_message(path); !old_key.empty()) throw UsageError(old_key);
  if (const auto names = optional_value<std::string>(values, "files0-from")) {
    if (!options.input.paths.empty())
      throw UsageError(fmt::format("--files0-from excludes other INPUTs, such as '{}'", options.input.paths.front()));
    options.input.paths = names_in(*names);
  }
  options.output.paths = value_of<std::vector<std::string>>(values, "output");
  options.layout = requested_layout(values);
  options.input.header_bytes = requested_header_bytes(values);
  options.input.content = requested_content(values, options.layout);
  request.resources = requested_resources(values);
  request.job = requested_job(values);
  request.shares = requested_shares(values);
  options.access = value_of<io::Access>(values, "io");
  options.output.sync = !value_of<bool>(values, "no-sync");
  options.input.root_only = value_of<bool>(values, "root-input");
  options.output.checksum = value_of<bool>(values, "checksum");
  options.output.verify = value_of<bool>(values, "verify-output");
  options.spill.max_merged_runs =
      optional_value<std::uint64_t>(values, "batch-size").value_or(options.spill.max_merged_runs);
  options.output.unique = value_of<bool>(values, "unique");
  check_outputs(options.output);
  if (options.output.verify && options.output.unique)
    throw UsageError("--verify-output compares all records with those written: it excludes -u");
  if (options.output.checksum && options.output.unique)
    throw UsageError("--checksum is the sum of all records: it excludes -u");
  if (options.output.verify && !options.output.sync)
    throw UsageError("--verify-output reads what is on the disk: it excludes --no-sync");
  options.input.expected_records = optional_value<std::uint64_t>(values, "records");
  request.quiet = value_of<bool>(values, "quiet");
  request.progress = requested_progress(values, request.quiet);
  return request;
}

void add_one_sort_options(po::options_description& options) {
  add_sort_options(options);
  auto add = options.add_options();
  add("strategy", strategy_name("NAME"),
      "how ranks share records: auto (by what speeds, cluster or the run itself show) "
      "or as in 'hetsort plan'");
  add("merge,m", po::bool_switch(), "the INPUTs are sorted: merge them in one pass, and check their order");
}

SortRequest one_sort_request_of(const po::variables_map& values) {
  SortRequest request = sort_request_of(values);
  request.shares.strategy = optional_value<std::string>(values, "strategy").value_or("");
  check_shares(request.shares);
  request.options.input.sorted = value_of<bool>(values, "merge");
  return request;
}

NamedFiles files_of(const SortRequest& request) {
  using Purpose = NamedFiles::Purpose;
  NamedFiles files;
  for (const std::string& output : request.options.output.paths)
    files.add(output == "-" ? "standard output" : "-o", output, Purpose::kOutput);
  files.write("--report", request.report_path);
  files.write("--trace", request.trace_path);
  files.write("--learn", request.shares.learn_path);
  files.read("--cluster", request.shares.cluster_path);
  for (const std::string& input : request.options.input.paths) files.add("INPUT", input, Purpose::kInput);
  if (request.options.input.paths.empty()) files.add("INPUT", "-", Purpose::kInput);
  return files;
}

bool reads_standard_input(const sort::SortOptions& options) {
  return options.input.paths.empty() || std::count(options.input.paths.begin(), options.input.paths.end(), "-") > 0;
}

/// Makes a plan of lines, which counts their bytes, from one that `plan` makes in units of `unit` bytes.
sort::PlanShares in_units(const sort::PlanShares& plan, std::uint64_t unit) {
  if (!plan) return plan;
  return [plan, unit](const sort::RecordsToShare& bytes) {
    sort::RecordsToShare units{bytes.records / unit, bytes.input};
    for (std::uint64_t& each : units.input) each /= unit;
    if (!units.input.empty()) units.records = std::reduce(units.input.begin(), units.input.end());
    sort::Shares shares = plan(units);
    const auto scale = [&](std::vector<std::uint64_t>& parts, std::uint64_t whole) {
      for (std::uint64_t& part : parts) part *= unit;
      const std::uint64_t sum = std::reduce(parts.begin(), parts.end());
      if (!parts.empty()) *std::max_element(parts.begin(), parts.end()) += whole - sum;
    };
    scale(shares.records, bytes.records);
    scale(shares.input, bytes.records);
    std::vector<partition::NodePlan>& nodes = shares.plan.nodes;
    auto left = static_cast<std::int64_t>(bytes.records);
    for (partition::NodePlan& node : nodes) left -= node.records *= static_cast<std::int64_t>(unit);
    if (!nodes.empty()) std::ranges::max_element(nodes, {}, &partition::NodePlan::records)->records += left;
    shares.plan.records = static_cast<std::int64_t>(bytes.records);
    return shares;
  };
}

void resolve_for_job(SortRequest& request, comm::Communicator& ranks) {
  sort::SortOptions& options = request.options;
  resolve_for_job(request.resources, options.output.paths, ranks);
  options.spill.directories_given = request.resources.temp_given;
  options.spill.directories = request.resources.temp_directories;
  options.memory_bytes = request.resources.memory_bytes;
  options.threads = request.resources.threads;
  const bool root_sends = options.input.root_only || reads_standard_input(options);
  if (!request.shares.learn_path.empty()) request.curves.emplace(request.shares.learn_path, ranks);
  const SortMemory memory{options.memory_bytes, request.resources.memory_given};
  request.planner = rank_planner(request.shares, ranks,
                                 {options.layout.is_lines() ? sort::kPlannedLineBytes : options.layout.record_bytes,
                                  true, root_sends, request.curves, options.output.sync, memory});
  const std::uint64_t unit = options.layout.is_lines() ? sort::kPlannedLineBytes : 1;
  options.shares.output = in_units(request.planner.output, unit);
  options.shares.input = in_units(request.planner.input, unit);
  options.shares.output_by_rates = request.planner.by_rates;
}

}  // namespace hetsort::cli
