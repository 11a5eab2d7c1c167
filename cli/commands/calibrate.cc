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
#include "cli/options/command_line.h"
#include "cli/process/outcome.h"
#include "cli/process/signals.h"
#include "cli/terminal/messages.h"
#include "cli/terminal/progress.h"
#include "io/field.h"
#include "io/publish.h"
#include "io/temp/temp_space.h"
#include "job/options/parse.h"
#include "job/options/record_options.h"
#include "job/report/run_report.h"
#include "job/report/version.h"
#include "job/resources.h"
#include "job/sort_options.h"
#include "sort/calibrate/calibration_text.h"
#include "sort/machine/memory_budget.h"
#include "sort/plan/plan_sort.h"

namespace hetsort::cli {

namespace {

constexpr const char* kCalibrateUsage = R"(usage: hetsort calibrate [OPTION...] -o CLUSTER.toml

Measures all nodes of a job at once, under a launcher one a rank: processors, disks, links and memory.
Writes them as a cluster file, which 'hetsort plan', 'gen' and 'sort' take with --cluster.

)";

constexpr double kDefaultSeconds = 20;
constexpr double kMinSeconds = 1;
constexpr double kMaxSeconds = 86'400;
// Memory planned for a record: twice its bytes and these, for its place in the index, so that sizes stay well inside
// memory.
constexpr std::uint64_t kMemoryBesideRecord = 56;
// Disk space planned for a record: twice its bytes in an input and an output, because others may write there too.
constexpr std::uint64_t kFilesOnDisk = 4;

struct CalibrateRequest {
  std::string output{};
  double seconds = kDefaultSeconds;
  job::RecordRequest records{};
  job::ResourceRequest resources{};
  job::RankRequest ranks{};
  std::optional<ProgressStyle> progress{};
  bool quiet = false;
};

job::Options options_of(CalibrateRequest& request) {
  job::Options options;
  options.add({.name = "output",
               .letter = 'o',
               .value = "OUTPUT",
               .help = "the cluster file; \"-\" is standard output",
               .fill = job::take_path(request.output, true)});
  options.add({.name = "max-seconds",
               .value = "S",
               .usual = "20",
               .help = "time for the whole, from 1 to 86400",
               .fill = job::take(request.seconds, job::seconds_from(kMinSeconds, kMaxSeconds))});
  job::add_layout_options(options, request.records);
  job::add_resource_options(options, request.resources, "folder to measure in: disk and sorts");
  job::add_rank_options(options, request.ranks);
  job::add_exchange_option(options, request.ranks);
  add_progress_option(options, request.progress);
  add_quiet_option(options, request.quiet);
  options.add(help_option());
  return options;
}

void check(const CalibrateRequest& request, const CommandLine& line) {
  if (!line.operands.empty()) throw UsageError("calibrate takes no operands; 'hetsort calibrate --help' explains");
  if (request.output.empty()) throw UsageError("calibrate wants -o CLUSTER.toml");
  static_cast<void>(job::layout_of(request.records));
}

/// The facts about this rank that need no measurement.
sort::NodeFacts facts_of(const job::Resources& resources, std::uint64_t record_bytes, const comm::Communicator& ranks) {
  const auto ranks_on_host = static_cast<std::uint64_t>(ranks.ranks_on_host());
  const std::string& folder = resources.temp_directories.front();
  const std::uint64_t free_bytes = io::inspect_space(folder, "temp directory").free_bytes / ranks_on_host;
  return {.host = ranks.host(),
          .memory_bytes = sort::read_memory_limits().physical() / ranks_on_host,
          .threads = resources.threads,
          .max_records = std::min(resources.memory_bytes / (2 * record_bytes + kMemoryBesideRecord),
                                  free_bytes / (kFilesOnDisk * record_bytes))};
}

sort::Calibration measure(const CalibrateRequest& request, const job::Resources& resources, comm::Communicator& ranks) {
  sort::SortOptions options;
  options.layout = job::layout_of(request.records);
  options.input.content = {.refused = io::Refused::kNothing, .decompress = false};
  options.memory_bytes = resources.memory_bytes;
  options.threads = resources.threads;
  options.spill.directories = resources.temp_directories;
  options.spill.directories_given = true;
  sort::Monitor monitor;
  monitor.plan_work(0);
  ProgressForm form = progress_form(request.progress, request.quiet, ranks);
  form.whole_seconds = request.seconds;
  const ProgressPrinter progress(monitor, form);
  CalibrationBench bench(options, ranks);
  return sort::calibrate(bench,
                         {.seconds = request.seconds,
                          .record_bytes = options.layout.record_bytes,
                          .facts = facts_of(resources, options.layout.record_bytes, ranks),
                          .on_progress = [&](const std::string& stage) { monitor.begin_phase(stage); }},
                         ranks);
}

}  // namespace

job::Options calibrate_options() {
  static CalibrateRequest unused;
  return options_of(unused);
}

int calibrate_command(Arguments arguments) {
  CalibrateRequest request;
  job::Options options = options_of(request);
  const CommandLine line = parse_command_line("calibrate", arguments, options);
  if (line.help) return print_once(line.shared, help_text(kCalibrateUsage, options));
  check(request, line);
  end_cleanly_on_signals();
  const std::unique_ptr<comm::Communicator> ranks = job::join_job(request.ranks);
  std::optional<io::OutputFile> file;
  std::string text;
  const job::Outcome outcome = run_everywhere(*ranks, line.shared, [&] {
    const bool first = ranks->rank() == 0;
    job::NamedFiles files;
    files.write(io::field("output"), request.output);
    check_files(files, *ranks);
    // Opened before the work: a missing folder is reported before anything is measured.
    if (first && request.output != "-") file.emplace(request.output);
    const job::Resources resources = job::resources_of(request.resources, {request.output}, *ranks);
    if (first && !request.quiet && !resources.note.empty()) print_note(resources.note);
    const sort::Calibration calibration = measure(request, resources, *ranks);
    sort::CalibrationNote note{job::utc_now(), job::kVersion, job::layout_of(request.records).record_bytes, {}};
    for (const auto& [name, value] : options.given())
      if (name == "key") note.keys.push_back(value);
    if (first) text = sort::cluster_text(calibration, note);
    if (first && !calibration.too_fast.empty() && !request.quiet)
      print_note(
          fmt::format("{} links were too fast to be measured; the cluster file marks them and has rates that they "
                      "reach at least",
                      calibration.too_fast.size()));
    return 0;
  });
  if (!outcome.failure.empty() || ranks->rank() != 0) return report_outcome(outcome, *ranks);
  if (file)
    job::write_text(*file, text);
  else
    write_output(text);
  return outcome.exit_code;
}

}  // namespace hetsort::cli
