// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
//
// hetsort sort: sorts records of files or standard input.
#include "sort/sort.h"

#include <fmt/format.h>
#include <sys/resource.h>

#include <cstdio>

#include "cli/commands.h"
#include "cli/plan_output.h"
#include "cli/progress.h"
#include "cli/run_report.h"
#include "cli/signals.h"
#include "cli/sort_request.h"
#include "io/file_system.h"
#include "partition/plan.h"
#include "sort/comm/communicator.h"

namespace hetsort::cli {

namespace {

/// Every INPUT stays open; the usual soft limit is 1024.
void allow_many_files() {
  rlimit limit{};
  if (::getrlimit(RLIMIT_NOFILE, &limit) != 0) return;
  limit.rlim_cur = limit.rlim_max;
  ::setrlimit(RLIMIT_NOFILE, &limit);
}

std::string explanation(const sort::SortPlan& plan, const sort::SortOptions& options) {
  const sort::MemoryPlan& memory = plan.memory;
  std::string text =
      fmt::format("input    {}\n", plan.stream ? "a stream, its size is not known" : io::human_size(plan.input_bytes));
  text += fmt::format("memory   {} of {} for {} threads\n", io::human_size(memory.arena_bytes),
                      io::human_size(options.memory_bytes), memory.threads);
  if (memory.in_memory) return text + "plan     all fits memory: one read, one write, nothing spills\n";
  if (plan.stream)
    return text + fmt::format("plan     in memory up to {}, then runs of {} spill in blocks of {} to {}\n",
                              io::human_size(memory.stream_bytes), io::human_size(memory.run_bytes),
                              io::human_size(memory.spill_block_bytes), fmt::join(options.temp_directories, ", "));
  text += fmt::format(
      "plan     more than memory: {} runs of {} spill in blocks of {}, then {}\n", memory.run_count,
      io::human_size(memory.run_bytes), io::human_size(memory.spill_block_bytes),
      plan.one_merge_pass ? "one merge pass" : "further merge passes: memory has not two blocks for each run");
  return text + fmt::format("space    {} in {}, {} for the output\n", io::human_size(plan.temp_bytes),
                            fmt::join(options.temp_directories, ", "), io::human_size(plan.output_bytes));
}

/// The plan of one node: all records, at unit speed.
std::string one_node_plan(const sort::SortPlan& plan, const sort::SortOptions& options) {
  const auto records = static_cast<std::int64_t>(plan.input_bytes / options.layout.record_bytes);
  const double speed = 1;
  return plan_json(partition::make_plan(partition::problem_from_speeds(records, {&speed, 1}), "equal"));
}

std::string done_text(const sort::RankResult& result, const sort::SortOptions& options, double seconds) {
  const double bytes = static_cast<double>(result.input.records) * static_cast<double>(options.layout.record_bytes);
  return fmt::format("hetsort: {} records, {:.1f} MB in {:.2f} s ({:.0f} MB/s), {}, fingerprint {:016x}\n",
                     result.input.records, bytes / 1e6, seconds, seconds > 0 ? bytes / 1e6 / seconds : 0,
                     result.in_memory ? "in memory" : fmt::format("{} runs on disk", result.runs),
                     result.input.fingerprint);
}

int run_sort(const SortRequest& request, const std::vector<std::string>& command_line) {
  sort::Communicator ranks;
  sort::Monitor monitor(!request.trace_path.empty());
  if (!request.quiet) monitor.on_note([](const std::string& text) { fmt::print(stderr, "hetsort: note: {}\n", text); });
  sort::RankResult result;
  RunSummary summary{request.options, result, monitor, ranks, command_line, ""};
  const auto leave_records = [&] {
    if (!request.report_path.empty()) write_text(request.report_path, report_json(summary));
    if (!request.trace_path.empty()) write_text(request.trace_path, trace_json(summary));
  };
  try {
    const ProgressPrinter progress(monitor, request.progress);
    sort::sort_records(request.options, ranks, monitor, result);
  } catch (const std::exception& error) {
    monitor.end_phases();
    summary.error = fmt::format("{}{}", error.what(), result.output_untouched ? "; output untouched" : "");
    try {
      leave_records();
    } catch (const std::exception& second) {
      fmt::print(stderr, "hetsort: {}\n", second.what());
    }
    throw std::runtime_error(summary.error);
  }
  leave_records();
  if (request.verbose) {
    for (const sort::PhaseTime& phase : monitor.phases())
      fmt::print(stderr, "hetsort: {:<16} {:8.3f} s\n", phase.name, phase.end - phase.begin);
    fmt::print(stderr, "{}", done_text(result, request.options, monitor.phases().back().end));
  }
  return 0;
}

}  // namespace

int sort_command(Arguments arguments) {
  const SortRequest request = parse_sort_request(arguments);
  if (request.help) {
    fmt::print("{}", sort_help());
    return 0;
  }
  end_cleanly_on_signals();
  allow_many_files();
  if (request.dry_run || request.explain) {
    const sort::SortPlan plan = sort::plan_sort(request.options);
    if (request.explain) fmt::print(stderr, "{}", explanation(plan, request.options));
    if (request.dry_run) {
      fmt::print("{}", one_node_plan(plan, request.options));
      return 0;
    }
  }
  std::vector<std::string> command_line{"hetsort", "sort"};
  command_line.insert(command_line.end(), arguments.begin(), arguments.end());
  return run_sort(request, command_line);
}

}  // namespace hetsort::cli
