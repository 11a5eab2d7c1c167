// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
#include "cli/sort_request.h"

#include <fmt/format.h>
#include <sched.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <filesystem>
#include <sstream>
#include <string_view>
#include <thread>

#include "cli/options.h"
#include "io/file_system.h"
#include "io/memory_budget.h"
#include "io/temp_space.h"
#include "partition/error.h"
#include "partition/quantity.h"

namespace hetsort::cli {

namespace {

namespace po = boost::program_options;

constexpr const char* kUsage = R"(usage: hetsort sort [OPTION...] [INPUT...] [-o OUTPUT]

Sorts records of fixed size by a key inside them, stably. No INPUT or "-" is standard input, no -o or "-" standard
output. OUTPUT appears only when it is complete, proven and on disk; it may be one of the INPUTs. What does not fit
memory is sorted in runs on disk and merged in one further pass.

)";

/// Share of the memory found that is used when -S is not given.
constexpr double kDefaultMemoryShare = 0.75;
constexpr std::uint64_t kMostThreads = 1024;

po::options_description visible_options() {
  const auto text = [] { return po::value<std::string>(); };
  po::options_description options("Options");
  auto add = options.add_options();
  add("output,o", text()->value_name("OUTPUT"), "where the sorted records go");
  add("record-size", text()->value_name("BYTES"), "1 to 1048576 (100)");
  add("key", text()->value_name("OFFSET:LENGTH"), "the key inside the record, up to 4096 bytes (0:10)");
  add("memory,S", text()->value_name("SIZE"),
      "memory to use: 64K, 4G, 4GiB, 4GB, 50%; no suffix = KiB (75% of what the system would give)");
  add("temp,T", po::value<std::vector<std::string>>()->value_name("DIR"),
      "folder for runs that spill; several are striped ($TMPDIR, else OUTPUT's folder, else /var/tmp)");
  add("threads,j", text()->value_name("N"), "threads (as many as processors)");
  add("io", text()->value_name("WAY"), "auto, uring, threads or buffered");
  add("root-input", po::bool_switch(), "only rank 0 has the INPUTs: it sends each rank its share");
  add_share_options(options, true);
  add_job_options(options, true);
  add("report", text()->value_name("FILE"), "write what was done as JSON, also when it fails");
  add("trace", text()->value_name("FILE"), "write what each thread did as Chrome trace events");
  add("progress", text()->value_name("FORM"),
      "auto (a bar on a terminal, else lines now and then), bar, lines or none");
  add("checksum", po::bool_switch(), "put the sum of the records' CRC-32 into the report");
  add("no-sync", po::bool_switch(), "do not wait for the disk before OUTPUT appears");
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

std::size_t processors() {
  cpu_set_t set;
  CPU_ZERO(&set);
  return ::sched_getaffinity(0, sizeof set, &set) == 0 ? static_cast<std::size_t>(CPU_COUNT(&set)) : 1;
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

/// $TMPDIR, else the output's folder, else /var/tmp. A folder in memory is passed over: runs spill to spare memory.
std::vector<std::string> default_temp_directories(const std::string& output) {
  const char* const from_environment = std::getenv("TMPDIR");
  if (from_environment != nullptr && *from_environment != '\0') return {from_environment};
  if (output != "-") {
    std::error_code ignored;
    const std::filesystem::path target = std::filesystem::weakly_canonical(std::filesystem::absolute(output), ignored);
    const std::string folder = target.parent_path().string();
    if (std::filesystem::is_directory(folder, ignored) && io::storage_of(folder) == io::Storage::kDisk &&
        (!std::filesystem::exists(output, ignored) || std::filesystem::is_regular_file(output, ignored)))
      return {folder};
  }
  return {"/var/tmp"};
}

std::uint64_t requested_memory(const po::variables_map& values) {
  const io::MemoryLimits limits = io::read_memory_limits();
  if (values.count("memory") != 0) return parse_memory(text_of(values, "memory"), limits.physical());
  return static_cast<std::uint64_t>(static_cast<double>(limits.usable()) * kDefaultMemoryShare);
}

std::size_t requested_threads(const po::variables_map& values) {
  if (values.count("threads") == 0) return processors();
  const std::uint64_t threads = parse_count(text_of(values, "threads"), "-j");
  if (threads == 0 || threads > kMostThreads) throw UsageError(fmt::format("-j wants 1 to {} threads", kMostThreads));
  return threads;
}

ProgressStyle requested_progress(const po::variables_map& values, bool quiet) {
  if (values.count("progress") == 0) return quiet ? ProgressStyle::kNone : ProgressStyle::kAuto;
  const auto style = parse_progress_style(text_of(values, "progress"));
  if (!style) throw UsageError("--progress wants auto, bar, lines or none");
  return *style;
}

}  // namespace

std::uint64_t parse_memory(const std::string& text, std::uint64_t whole_bytes) {
  if (text.ends_with('%')) {
    const std::uint64_t percent = parse_count(std::string_view(text).substr(0, text.size() - 1), "-S");
    if (percent == 0 || percent > 100) throw UsageError(fmt::format("-S '{}' is not within 1% to 100%", text));
    return whole_bytes / 100 * percent;
  }
  // GNU sort's "b": bytes.
  if (text.ends_with('b') && text.find_first_not_of("0123456789") == text.size() - 1)
    return std::max<std::uint64_t>(1, parse_count(std::string_view(text).substr(0, text.size() - 1), "-S"));
  try {
    const std::int64_t bytes = partition::parse_bytes(text, "-S", 1024);
    if (bytes == 0) throw UsageError("-S wants more than no memory");
    return static_cast<std::uint64_t>(bytes);
  } catch (const partition::PlanError& error) {
    throw UsageError(error.what());
  }
}

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
  if (values.count("operand") != 0) options.inputs = values["operand"].as<std::vector<std::string>>();
  if (std::count(options.inputs.begin(), options.inputs.end(), "-") > 1)
    throw UsageError("standard input ('-') can be read only once");
  if (values.count("output") != 0) options.output = text_of(values, "output");
  if (options.output.empty()) throw UsageError("-o wants a path");
  options.layout = requested_layout(values);
  request.memory_given = values.count("memory") != 0;
  request.threads_given = values.count("threads") != 0;
  options.memory_bytes = requested_memory(values);
  options.threads = requested_threads(values);
  request.job = requested_job(values);
  request.shares = requested_shares(values);
  options.temp_given = values.count("temp") != 0;
  options.temp_directories =
      options.temp_given ? values["temp"].as<std::vector<std::string>>() : default_temp_directories(options.output);
  if (values.count("io") != 0) {
    const auto access = io::parse_access(text_of(values, "io"));
    if (!access) throw UsageError("--io wants auto, uring, threads or buffered");
    options.access = *access;
  }
  options.sync = !values["no-sync"].as<bool>();
  options.root_input = values["root-input"].as<bool>();
  options.checksum = values["checksum"].as<bool>();
  request.report_path = text_of(values, "report");
  request.trace_path = text_of(values, "trace");
  request.dry_run = values["dry-run"].as<bool>();
  request.explain = values["explain"].as<bool>();
  request.verbose = values["verbose"].as<bool>();
  request.quiet = values["quiet"].as<bool>();
  if (request.verbose && request.quiet) throw UsageError("-v and -q exclude each other");
  request.progress = requested_progress(values, request.quiet);
  return request;
}

bool reads_standard_input(const sort::SortOptions& options) {
  return options.inputs.empty() || std::count(options.inputs.begin(), options.inputs.end(), "-") > 0;
}

void settle_for_job(SortRequest& request, sort::Communicator& ranks) {
  const auto neighbours = static_cast<std::size_t>(ranks.ranks_on_host());
  if (!request.memory_given) request.options.memory_bytes /= neighbours;
  // A launcher may have bound ranks to processors; several may be bound to the same.
  const std::size_t fair = std::max<std::size_t>(1, std::thread::hardware_concurrency() / neighbours);
  if (!request.threads_given) request.options.threads = std::min(request.options.threads, fair);
  sort::SortOptions& options = request.options;
  const bool root_sends = options.root_input || reads_standard_input(options);
  if (!request.shares.learn_path.empty()) request.curves.emplace(request.shares.learn_path, ranks);
  request.planner =
      rank_planner(request.shares, ranks, {options.layout.record_bytes, true, root_sends, request.curves});
  options.shares = plan_shares_by(request.planner.output);
  if (request.planner.input) options.input_shares = plan_shares_by(request.planner.input);
  options.output_by_rates = request.planner.by_rates;
}

}  // namespace hetsort::cli
