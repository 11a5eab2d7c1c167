// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
//
// hetsort calibrate: measures the nodes of a job and writes a cluster file.
#include "sort/calibrate/calibrate.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cstdio>
#include <optional>

#include "cli/commands.h"
#include "cli/commands/calibrate_bench.h"
#include "cli/shared/job.h"
#include "cli/shared/options.h"
#include "cli/shared/progress.h"
#include "cli/shared/resources.h"
#include "cli/shared/run_report.h"
#include "cli/shared/signals.h"
#include "gen/record_format.h"
#include "io/file.h"
#include "io/publish.h"
#include "io/temp/temp_space.h"
#include "sort/calibrate/calibration_text.h"
#include "sort/machine/memory_budget.h"
#include "sort/plan/plan_sort.h"
#include "version.h"

namespace hetsort::cli {

namespace {

namespace po = boost::program_options;

constexpr const char* kCalibrateUsage = R"(usage: hetsort calibrate [OPTION...] -o CLUSTER.toml

Measures all nodes of a job at once, under a launcher one a rank: how long sorts take by the number of records, disks,
links, memory. Writes them as a cluster file, which 'hetsort plan', 'gen' and 'sort' take with --cluster.

)";

constexpr double kDefaultSeconds = 54;
constexpr double kFewestSeconds = 1;
constexpr double kMostSeconds = 86'400;
// A record and its place in the index, twice: sizes stay well inside memory.
constexpr std::uint64_t kMemoryARecord = 256;
// In an input and in an output, twice: others may write there too.
constexpr std::uint64_t kDiskARecord = std::uint64_t{4} * gen::kRecordBytes;

struct CalibrateRequest {
  std::string output;
  double seconds = kDefaultSeconds;
  ResourceRequest resources;
  JobRequest job;
  ProgressStyle progress = ProgressStyle::kAuto;
  bool quiet = false;
};

po::options_description calibrate_options() {
  po::options_description options("Options");
  auto add = options.add_options();
  const auto text = [] { return po::value<std::string>(); };
  add("output,o", text()->value_name("OUTPUT"), "the cluster file; \"-\" is standard output");
  add("max-seconds", text()->value_name("S"), "time for the whole, from 1 to 86400 (54)");
  add_resource_options(options, "folder to measure in: disk and sorts");
  add_job_options(options, true);
  add_progress_option(options);
  add("quiet,q", po::bool_switch(), "no progress and no warnings; errors only");
  add("help,h", po::bool_switch(), "this text");
  return options;
}

double requested_seconds(const std::string& text) {
  double seconds = 0;
  const auto [end, status] = std::from_chars(text.data(), text.data() + text.size(), seconds);
  if (status != std::errc() || end != text.data() + text.size() ||
      !(seconds >= kFewestSeconds && seconds <= kMostSeconds))
    throw UsageError(fmt::format("--max-seconds '{}' is not a number of seconds from 1 to 86400", text));
  return seconds;
}

CalibrateRequest calibrate_request_of(const po::variables_map& values) {
  if (values.count("operand") != 0)
    throw UsageError("calibrate takes no operands; 'hetsort calibrate --help' explains");
  if (values.count("output") == 0) throw UsageError("calibrate wants -o CLUSTER.toml");
  CalibrateRequest request;
  request.output = values["output"].as<std::string>();
  if (request.output.empty()) throw UsageError("-o wants a path");
  if (values.count("max-seconds") != 0) request.seconds = requested_seconds(values["max-seconds"].as<std::string>());
  request.resources = requested_resources(values, request.output);
  request.job = requested_job(values);
  request.quiet = values["quiet"].as<bool>();
  request.progress = requested_progress(values, request.quiet);
  return request;
}

sort::Calibration measure(const CalibrateRequest& request, comm::Communicator& ranks) {
  sort::SortOptions options;
  options.memory_bytes = request.resources.memory_bytes;
  options.threads = request.resources.threads;
  options.spill.directories = request.resources.temp_directories;
  options.spill.directories_given = true;
  sort::Monitor monitor;
  const ProgressPrinter progress(monitor, ranks.rank() == 0 ? request.progress : ProgressStyle::kNone);
  CalibrationBench bench(options, ranks);
  const std::uint64_t free_bytes = io::inspect_space(options.spill.directories.front(), "temp directory").free_bytes /
                                   static_cast<std::uint64_t>(ranks.ranks_on_host());
  const sort::CalibrationLimits limits{
      request.seconds, std::min(request.resources.memory_bytes / kMemoryARecord, free_bytes / kDiskARecord)};
  return sort::calibrate(bench, limits, ranks, [&](const std::string& stage) { monitor.begin_phase(stage, 0); });
}

/// Of all ranks. Collective.
std::vector<sort::NodeFacts> gather_facts(const CalibrateRequest& request, comm::Communicator& ranks) {
  const std::uint64_t memory_bytes =
      sort::read_memory_limits().physical() / static_cast<std::uint64_t>(ranks.ranks_on_host());
  std::vector<sort::NodeFacts> facts;
  for (const std::vector<std::uint64_t>& rank : sort::all_gather({memory_bytes, request.resources.threads}, ranks))
    facts.push_back({ranks.host(static_cast<int>(facts.size())), rank[0], rank[1]});
  return facts;
}

}  // namespace

int calibrate_command(Arguments arguments) {
  const po::options_description options = calibrate_options();
  const po::variables_map values = parse_options(arguments, options);
  if (answers_help(values, kCalibrateUsage, options)) return 0;
  CalibrateRequest request = calibrate_request_of(values);
  end_cleanly_on_signals();
  const std::unique_ptr<comm::Communicator> ranks = join_job(request.job);
  std::optional<io::OutputFile> file;
  std::string text;
  std::string warning;
  const Outcome outcome = run_job(*ranks, [&] {
    const bool first = ranks->rank() == 0;
    // Opened before the work: a folder that is missing is told before anything is measured.
    if (first && request.output != "-") file.emplace(request.output);
    settle_for_job(request.resources, *ranks);
    const sort::Calibration calibration = measure(request, *ranks);
    const std::vector<sort::NodeFacts> facts = gather_facts(request, *ranks);
    if (!first) return 0;
    text = sort::cluster_text(calibration, facts, {utc_now(), kVersion, gen::kRecordBytes});
    warning = sort::unsteady_text(calibration);
    return 0;
  });
  if (!outcome.failure.empty() || ranks->rank() != 0) return report_outcome(outcome, *ranks);
  if (!warning.empty() && !request.quiet) fmt::print(stderr, "hetsort: warning: {}\n", warning);
  if (file)
    write_text(*file, text);
  else
    io::standard_output().write(std::as_bytes(std::span(text)));
  return outcome.exit_code;
}

}  // namespace hetsort::cli
