// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
//
// hetsort sort: sorts records of files or standard input.
#include "sort/sort.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <optional>

#include "cli/commands.h"
#include "cli/commands/sort_check.h"
#include "cli/commands/sort_request.h"
#include "cli/options/line_options.h"
#include "cli/options/options.h"
#include "cli/options/typed_options.h"
#include "cli/plan/plan_output.h"
#include "cli/shared/messages.h"
#include "cli/shared/signals.h"
#include "cli/shared/sort_run.h"
#include "io/file_system.h"
#include "partition/plan.h"
#include "sort/input/rank_path.h"
#include "sort/plan/plan_sort.h"

namespace hetsort::cli {

namespace {

namespace po = boost::program_options;

constexpr const char* kSortUsage = R"(usage: hetsort sort [OPTION...] [INPUT...] [-o OUTPUT]...

Sorts records of fixed size by a key inside them, stably. Keys are compared as unsigned bytes unless --key says that
they are numbers. No INPUT or "-" is standard input. OUTPUT appears only when it
is complete, verified and on disk; it may be one of the INPUTs. Several OUTPUTs, on several disks, each get an equal part.
What does not fit in memory is sorted in runs on disk and merged in one further pass.

)";

OrderCheck requested_check(const po::variables_map& values) {
  const bool reports = value_of<bool>(values, "check");
  if (!reports && !value_of<bool>(values, "-C")) return OrderCheck::kNone;
  const char* const option = reports ? "-c" : "-C";
  if (!values["output"].defaulted()) throw UsageError(fmt::format("{} writes nothing: it excludes -o", option));
  if (reports && value_of<bool>(values, "-C")) throw UsageError("-c and -C exclude each other");
  for (const char* const other : {"merge", "dry-run", "explain", "verify-output", "checksum"})
    if (value_of<bool>(values, other))
      throw UsageError(fmt::format("{} sorts nothing: it excludes --{}", option, other));
  for (const char* const other : {"report", "trace", "learn", "records"})
    if (values.count(other) != 0) throw UsageError(fmt::format("{} sorts nothing: it excludes --{}", option, other));
  const std::vector<std::string> inputs = operands_of(values);
  if (inputs.size() > 1)
    throw UsageError(fmt::format("{} checks one INPUT, and '{}' is a second one; 'hetsort validate' checks several",
                                 option, inputs[1]));
  return reports ? OrderCheck::kReport : OrderCheck::kQuiet;
}

SortRequest whole_request_of(const po::variables_map& values) {
  SortRequest request = one_sort_request_of(values);
  request.report_path = optional_value<std::string>(values, "report").value_or("");
  request.trace_path = optional_value<std::string>(values, "trace").value_or("");
  request.dry_run = value_of<bool>(values, "dry-run");
  request.explain = value_of<bool>(values, "explain");
  request.verbose = value_of<bool>(values, "verbose");
  request.check = requested_check(values);
  if (request.verbose && request.quiet) throw UsageError("-v and -q exclude each other");
  return request;
}

/// The explanation of how the input is divided among ranks of unknown speed.
const char* input_explanation(const sort::SortOptions& options, bool claims) {
  if (claims) return "the ranks claim it piece by piece: a faster rank claims more";
  if (sort::is_rank_path(options.input.paths.front())) return "what each rank has";
  if (options.input.root_only) return "rank 0 sends it in equal shares";
  return "equal shares: with --exchange inline no thread answers claims while rank 0 works";
}

/// The explanation of which strategies share the records, and why.
std::string share_explanation(const SortRequest& request, const sort::SortPlan& plan) {
  const auto line = [](const char* what, const sort::Shares& shares) {
    return fmt::format("{:<9}{}: {}\n", what, shares.strategy,
                       shares.reason.empty() ? "as asked" : terminal_safe(shares.reason));
  };
  if (plan.scattered) return line("input", *plan.scattered) + line("output", plan.shares);
  std::string text = line("shares", plan.shares);
  if (request.planner.by_rates) text += fmt::format("input    {}\n", input_explanation(request.options, plan.claims));
  return text;
}

std::string folder_names(const sort::SortOptions& options) {
  return terminal_safe(fmt::format("{}", fmt::join(options.spill.directories, ", ")));
}

/// What bounds this rank's sort; with several ranks, rank 0's.
std::string explanation(const sort::SortPlan& plan, const sort::SortOptions& options, int ranks) {
  const sort::MemoryPlan& memory = plan.memory;
  std::string text = ranks == 1 ? "" : fmt::format("ranks    {}; what follows is of rank 0\n", ranks);
  text +=
      fmt::format("input    {}\n", plan.stream ? "a stream, its size is not known" : io::human_size(plan.input_bytes));
  text += fmt::format("memory   {} of {} for {} threads\n", io::human_size(memory.arena_bytes),
                      io::human_size(options.memory_bytes), memory.threads);
  if (memory.in_memory) return text + "plan     all fits memory: one read, one write, nothing spills\n";
  if (plan.stream)
    return text + fmt::format("plan     in memory up to {}, then runs of {} spill in blocks of {} to {}\n",
                              io::human_size(memory.stream_bytes), io::human_size(memory.run_bytes),
                              io::human_size(memory.spill_block_bytes), folder_names(options));
  if (memory.kept_bytes > 0)
    text += fmt::format("kept     {} of the input stay in memory\n", io::human_size(memory.kept_bytes));
  text += fmt::format(
      "plan     more than memory: {} runs of {} spill in blocks of {}, then {}\n", memory.run_count,
      io::human_size(memory.run_bytes), io::human_size(memory.spill_block_bytes),
      plan.one_merge_pass ? "one merge pass" : "further merge passes, because one pass cannot merge so many runs");
  return text + fmt::format("space    {} in {}, {} for the output\n", io::human_size(plan.temp_bytes),
                            folder_names(options), io::human_size(plan.output_bytes));
}

/// The places where the runs were.
std::string place_text(const sort::RankResult& result) {
  if (result.all_in_memory) return "in memory";
  return result.in_memory ? "some ranks spilled" : fmt::format("{} runs on disk", result.runs - result.runs_in_memory);
}

std::string done_text(const sort::RankResult& result, const sort::SortOptions& options, int ranks, double seconds) {
  const sort::MultisetDigest& all = result.all;
  const auto bytes = static_cast<double>(result.all_bytes);
  const std::string unique = result.unique_records ? fmt::format("{} of them unique, ", *result.unique_records) : "";
  return fmt::format("{} {}, {}{:.1f} MB in {:.2f} s ({:.0f} MB/s), {}{}, fingerprint {:016x}", all.records,
                     options.layout.is_lines() ? "lines" : "records", unique, bytes / 1e6, seconds,
                     seconds > 0 ? bytes / 1e6 / seconds : 0, ranks > 1 ? fmt::format("{} ranks, ", ranks) : "",
                     place_text(result), all.fingerprint);
}

/// Files beside the output. They are opened before the work, so that a missing folder is reported before the first byte
/// is sorted.
struct SideFiles {
  std::optional<io::OutputFile> report;
  std::optional<io::OutputFile> trace;
  std::optional<io::OutputFile> learn;
};

/// Prints what the user should know before the sort.
void print_notes(SortRequest& request, const comm::Communicator& ranks) {
  if (!request.planner.note.empty()) print_note(request.planner.note);
  if (!request.resources.note.empty()) print_note(request.resources.note);
  if (const std::string note = files_of(request).rank_note(ranks); !note.empty()) print_note(note);
  request.options.input.content.note = print_one_note();
}

/// Checks all names, resolves the request and opens rank 0's files: first those that also report a failure. What is not
/// written later leaves nothing behind. Collective.
void resolve_with_files(SortRequest& request, comm::Communicator& ranks, SideFiles& files) {
  files_of(request).check(ranks);
  const bool writes = ranks.rank() == 0;
  // mpirun gives its ranks a terminal of its own, and passes on what they write to it.
  if (!ranks.launched() && !request.dry_run && !request.options.layout.is_lines())
    for (const std::string& output : request.options.output.paths) refuse_terminal(output, "-o FILE");
  if (writes && !request.report_path.empty()) files.report.emplace(request.report_path);
  if (writes && !request.trace_path.empty()) files.trace.emplace(request.trace_path);
  resolve_for_job(request, ranks);
  if (writes && !request.quiet) print_notes(request, ranks);
  if (writes && request.curves) files.learn.emplace(request.curves->path());
}

/// Says how the job will be done: --explain and --dry-run. Collective.
int show_plan(const SortRequest& request, comm::Communicator& ranks) {
  if (reads_standard_input(request.options) && ranks.size() > 1) {
    if (request.dry_run) throw UsageError("--dry-run of several ranks needs INPUTs whose size is known");
    if (ranks.rank() == 0) print_lines("input    a stream: rank 0 copies it to its temp directory, then shares it\n");
    return 0;
  }
  const sort::SortPlan plan = sort::plan_sort(request.options, ranks);
  if (ranks.rank() != 0) return 0;
  if (request.explain) {
    if (ranks.size() > 1) print_lines(share_explanation(request, plan));
    print_lines(explanation(plan, request.options, ranks.size()));
    print_lines(run_table(plan.shares.plan, true));
  }
  if (request.dry_run) write_output(plan_json((plan.scattered ? *plan.scattered : plan.shares).plan));
  return 0;
}

/// Handles --dry-run. Collective.
int plan_only(SortRequest& request, comm::Communicator& ranks, const SharedSettings& shared) {
  const Outcome outcome = run_job(ranks, shared, [&] {
    SideFiles tried;
    resolve_with_files(request, ranks, tried);
    return show_plan(request, ranks);
  });
  return report_outcome(outcome, ranks);
}

struct Command {
  std::vector<std::string> words;
  SharedSettings shared;
};

int run_sort(SortRequest& request, comm::Communicator& ranks, const Command& command) {
  SortRun run(request, ranks, command.words, ranks.job_start());
  SideFiles files;
  Outcome outcome = run_job(ranks, command.shared, [&] {
    resolve_with_files(request, ranks, files);
    if (request.explain) show_plan(request, ranks);
    run.run();
    return 0;
  });
  if (ranks.rank() != 0) return outcome.exit_code;
  if (!outcome.failure.empty()) {
    if (run.result().output_untouched) outcome.failure += "; output untouched";
    run.end_with(outcome.failure);
    report_outcome(outcome, ranks);
  }
  if (files.report) write_text(*files.report, run.report());
  if (files.trace) write_text(*files.trace, run.trace());
  if (files.learn && outcome.failure.empty()) {
    for (const std::string& note : request.curves->learn(run.work())) run.note(note);
    write_text(*files.learn, request.curves->text());
  }
  if (request.verbose && outcome.failure.empty()) {
    const std::vector<sort::PhaseTime> phases = run.monitor().phases();
    for (const sort::PhaseTime& phase : phases)
      print_remark(fmt::format("{:<16} {:8.3f} s", phase.name, phase.end - phase.begin));
    print_remark(done_text(run.result(), request.options, ranks.size(), phases.back().end));
  }
  return outcome.exit_code;
}

}  // namespace

po::options_description sort_options() {
  po::options_description options("Options");
  add_one_sort_options(options);
  auto add = options.add_options();
  add("check,c", po::bool_switch(), "sort nothing; report the first record of INPUT that is not in order, exit code 1");
  add(",C", po::bool_switch(), "the same without a message");
  add("report", path_of_one_file("FILE", "--report"), "write what was done as JSON, also when it fails");
  add("trace", path_of_one_file("FILE", "--trace"), "write what each thread did as Chrome trace events");
  add("dry-run", po::bool_switch(), "check everything, print the plan as JSON, sort nothing");
  add("explain", po::bool_switch(), "say how memory and disk will be used, and why");
  add("verbose,v", po::bool_switch(), "say what was done");
  add("help", po::bool_switch(), "this text");
  return options;
}

int sort_command(Arguments arguments) {
  const po::options_description options = sort_options();
  if (is_lone_h(arguments)) return print_once({{"command", "sort"}}, help_text(kSortUsage, options));
  const CommandLine line = parse_options("sort", arguments, options);
  if (value_of<bool>(line.values, "help")) return print_once(line.shared, help_text(kSortUsage, options));
  SortRequest request = whole_request_of(line.values);
  end_cleanly_on_signals();
  allow_many_files();
  const std::unique_ptr<comm::Communicator> ranks = join_job(request.job);
  if (request.check != OrderCheck::kNone) {
    const Outcome outcome = run_job(*ranks, line.shared, [&] { return check_order(request, *ranks); });
    return report_outcome(outcome, *ranks);
  }
  if (request.dry_run) return plan_only(request, *ranks, line.shared);
  Command command{{"hetsort", "sort"}, line.shared};
  command.words.insert(command.words.end(), arguments.begin(), arguments.end());
  return run_sort(request, *ranks, command);
}

}  // namespace hetsort::cli
