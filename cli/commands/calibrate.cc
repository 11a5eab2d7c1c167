// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
//
// hetsort calibrate: measures the nodes of a job and writes a cluster file.
#include "sort/calibrate/calibrate.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "cli/commands.h"
#include "cli/commands/calibrate_bench.h"
#include "cli/options/typed_options.h"
#include "cli/shared/job.h"
#include "cli/shared/messages.h"
#include "cli/shared/named_files.h"
#include "cli/shared/progress.h"
#include "cli/shared/resources.h"
#include "cli/shared/run_report.h"
#include "cli/shared/signals.h"
#include "gen/format/record_format.h"
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

Measures all nodes of a job at once, under a launcher one a rank: processors, disks, links and memory.
Writes them as a cluster file, which 'hetsort plan', 'gen' and 'sort' take with --cluster.

)";

constexpr double kDefaultSeconds = 20;
constexpr double kMinSeconds = 1;
constexpr double kMaxSeconds = 86'400;
// Memory planned for a record: twice its bytes and its place in the index, so that sizes stay well inside memory.
constexpr std::uint64_t kMemoryARecord = 256;
// Disk space planned for a record: twice its bytes in an input and an output, because others may write there too.
constexpr std::uint64_t kDiskARecord = std::uint64_t{4} * gen::kRecordBytes;

struct CalibrateRequest {
  std::string output;
  double seconds = kDefaultSeconds;
  ResourceRequest resources;
  JobRequest job;
  ProgressStyle progress = ProgressStyle::kAuto;
  bool quiet = false;
};

CalibrateRequest calibrate_request_of(const po::variables_map& values) {
  if (!operands_of(values).empty())
    throw UsageError("calibrate takes no operands; 'hetsort calibrate --help' explains");
  const auto output = optional_value<std::string>(values, "output");
  if (!output) throw UsageError("calibrate wants -o CLUSTER.toml");
  CalibrateRequest request;
  request.output = *output;
  request.seconds = value_of<double>(values, "max-seconds");
  request.resources = requested_resources(values);
  request.job = requested_job(values);
  request.quiet = value_of<bool>(values, "quiet");
  request.progress = requested_progress(values, request.quiet);
  return request;
}

/// The facts about this rank that need no measurement.
sort::NodeFacts facts_of(const CalibrateRequest& request, const comm::Communicator& ranks) {
  const auto ranks_on_host = static_cast<std::uint64_t>(ranks.ranks_on_host());
  const std::string& folder = request.resources.temp_directories.front();
  const std::uint64_t free_bytes = io::inspect_space(folder, "temp directory").free_bytes / ranks_on_host;
  return {.host = ranks.host(),
          .memory_bytes = sort::read_memory_limits().physical() / ranks_on_host,
          .threads = request.resources.threads,
          .max_records = std::min(request.resources.memory_bytes / kMemoryARecord, free_bytes / kDiskARecord)};
}

sort::Calibration measure(const CalibrateRequest& request, comm::Communicator& ranks) {
  sort::SortOptions options;
  options.memory_bytes = request.resources.memory_bytes;
  options.threads = request.resources.threads;
  options.spill.directories = request.resources.temp_directories;
  options.spill.directories_given = true;
  sort::Monitor monitor;
  monitor.plan_work(0);
  const ProgressPrinter progress(monitor, {.style = ranks.rank() == 0 ? request.progress : ProgressStyle::kNone,
                                           .launched = ranks.launched(),
                                           .whole_seconds = request.seconds});
  CalibrationBench bench(options, ranks);
  return sort::calibrate(bench,
                         {.seconds = request.seconds,
                          .record_bytes = gen::kRecordBytes,
                          .facts = facts_of(request, ranks),
                          .on_progress = [&](const std::string& stage) { monitor.begin_phase(stage); }},
                         ranks);
}

}  // namespace

po::options_description calibrate_options() {
  po::options_description options("Options");
  auto add = options.add_options();
  add("output,o", path_of_one_file("OUTPUT", "-o", true), "the cluster file; \"-\" is standard output");
  add("max-seconds", seconds("S", "--max-seconds", kMinSeconds, kMaxSeconds)->default_value(kDefaultSeconds, "20"),
      "time for the whole, from 1 to 86400");
  add_resource_options(options, "folder to measure in: disk and sorts");
  add_job_options(options);
  add_exchange_option(options);
  add_progress_option(options);
  add("quiet,q", po::bool_switch(), "no progress; errors only");
  add("help,h", po::bool_switch(), "this text");
  return options;
}

int calibrate_command(Arguments arguments) {
  const po::options_description options = calibrate_options();
  const CommandLine line = parse_options("calibrate", arguments, options);
  if (value_of<bool>(line.values, "help")) return print_once(line.shared, help_text(kCalibrateUsage, options));
  CalibrateRequest request = calibrate_request_of(line.values);
  end_cleanly_on_signals();
  const std::unique_ptr<comm::Communicator> ranks = join_job(request.job);
  std::optional<io::OutputFile> file;
  std::string text;
  const Outcome outcome = run_job(*ranks, line.shared, [&] {
    const bool first = ranks->rank() == 0;
    NamedFiles files;
    files.write("-o", request.output);
    files.check(*ranks);
    // Opened before the work: a missing folder is reported before anything is measured.
    if (first && request.output != "-") file.emplace(request.output);
    resolve_for_job(request.resources, {request.output}, *ranks);
    if (first && !request.quiet && !request.resources.note.empty()) print_note(request.resources.note);
    const sort::Calibration calibration = measure(request, *ranks);
    if (first) text = sort::cluster_text(calibration, {utc_now(), kVersion, gen::kRecordBytes});
    if (first && !calibration.too_fast.empty() && !request.quiet)
      print_note(
          fmt::format("{} links were too fast to be measured; the cluster file marks them and has rates that they "
                      "reach at least",
                      calibration.too_fast.size()));
    return 0;
  });
  if (!outcome.failure.empty() || ranks->rank() != 0) return report_outcome(outcome, *ranks);
  if (file)
    write_text(*file, text);
  else
    write_output(text);
  return outcome.exit_code;
}

}  // namespace hetsort::cli
