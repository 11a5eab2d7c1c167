// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
//
// hetsort sort: sorts records of files or standard input.
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <unistd.h>

#include <algorithm>
#include <memory>
#include <optional>
#include <utility>

#include "cli/commands.h"
#include "cli/commands/sort_check.h"
#include "cli/commands/sort_debug.h"
#include "cli/options/command_line.h"
#include "cli/plan/plan_output.h"
#include "cli/process/outcome.h"
#include "cli/process/signals.h"
#include "cli/report/text.h"
#include "cli/terminal/messages.h"
#include "cli/terminal/progress.h"
#include "io/field.h"
#include "io/file_system.h"
#include "job/agreement.h"
#include "job/learn.h"
#include "job/logged_sort.h"
#include "job/options/parse.h"
#include "job/plan/plan_json.h"
#include "job/sort_options.h"
#include "partition/plan.h"
#include "sort/input/rank_path.h"
#include "sort/plan/plan_sort.h"

namespace hetsort::cli {

namespace {

constexpr const char* kSortUsage = R"(usage: hetsort sort [OPTION...] [INPUT...] [-o OUTPUT]...

Sorts records of fixed size by a key inside them, stably. Keys are compared as unsigned bytes unless --key says that
they are numbers. No INPUT or "-" is standard input. OUTPUT appears only when it
is complete, verified and on disk; it may be one of the INPUTs. Several OUTPUTs, on several disks, each get an equal part.
What does not fit in memory is sorted in runs on disk and merged in one further pass.

)";

constexpr const char* kLongNote =
    "this takes more than ten minutes: with --checkpoint DIR the same command would continue after a kill";

/// What the command line asks for.
struct SortCommand {
  job::SortRequest request{};
  OrderCheck check = OrderCheck::kNone;
  bool dry_run = false;
  bool explain = false;
  bool debug = false;
  bool verbose = false;
  bool quiet = false;
  std::optional<ProgressStyle> progress{};
};

/// -c and -C: they check the order of one INPUT instead of sorting.
void add_check_options(job::Options& options, OrderCheck& check) {
  std::vector<job::Exclusion> others{{"output", "writes nothing"}, {"C"}};
  for (const char* const other :
       {"merge", "dry-run", "explain", "verify-output", "checksum", "report", "trace", "learn", "records"})
    others.push_back({other, "sorts nothing"});
  const auto check_as = [&check](OrderCheck as) {
    return [&check, as](const std::string&, const std::string&) { check = as; };
  };
  options.add({.name = "check",
               .letter = 'c',
               .help = "sort nothing; report the first record of INPUT that is not in order, exit code 1",
               .excludes = others,
               .fill = check_as(OrderCheck::kReport)});
  std::erase_if(others, [](const job::Exclusion& exclusion) { return exclusion.other == "C"; });
  options.add(
      {.letter = 'C', .help = "the same without a message", .excludes = others, .fill = check_as(OrderCheck::kQuiet)});
}

job::Options options_of(SortCommand& command) {
  job::Options options;
  job::add_one_sort_options(options, command.request);
  add_check_options(options, command.check);
  options.add({.name = "dry-run",
               .help = "check everything, print the plan as JSON, sort nothing",
               .fill = job::turn_on(command.dry_run)});
  options.add({.name = "explain",
               .help = "say how memory and disk will be used, and why",
               .fill = job::turn_on(command.explain)});
  options.add({.name = "debug",
               .help = "say what is compared, and if the order of the locale does not count",
               .of_one_rank = true,
               .fill = job::turn_on(command.debug)});
  options.begin_group("What was done");
  options.add({.name = "report",
               .value = "FILE",
               .help = "write what was done as JSON, also when it fails",
               .fill = job::take_path(command.request.report_path)});
  options.add({.name = "trace",
               .value = "FILE",
               .help = "write what each thread did as Chrome trace events",
               .fill = job::take_path(command.request.trace_path)});
  add_progress_option(options, command.progress);
  options.add({.name = "verbose",
               .letter = 'v',
               .help = "say what was done",
               .of_one_rank = true,
               .excludes = {{"quiet"}},
               .fill = job::turn_on(command.verbose)});
  add_quiet_option(options, command.quiet);
  options.add(help_option('\0'));
  return options;
}

/// Whether the arguments are "-h" alone and nobody pipes lines into it: then the help is wanted.
bool is_lone_h(Arguments arguments) {
  return arguments.size() == 1 && arguments.front() == "-h" && ::isatty(STDIN_FILENO) == 1;
}

/// The explanation of how the input is divided among ranks of unknown speed.
const char* input_explanation(const sort::SortOptions& options, bool claims) {
  if (claims) return "the ranks claim it piece by piece: a faster rank claims more";
  if (sort::is_rank_path(options.input.paths.front())) return "what each rank has";
  if (options.input.root_only) return "rank 0 sends it in equal shares";
  return "equal shares: with --exchange inline no thread answers claims while rank 0 works";
}

/// The explanation of which strategies share the records, and why.
std::string share_explanation(const job::SortJob& job, const sort::SortPlan& plan) {
  const auto line = [](const char* what, const sort::Shares& shares) {
    return fmt::format("{:<9}{}: {}\n", what, shares.strategy,
                       shares.reason.empty() ? "as asked" : terminal_safe(shares.reason));
  };
  if (plan.scattered) return line("input", *plan.scattered) + line("output", plan.shares);
  std::string text = line("shares", plan.shares);
  if (job.planner.by_rates) text += fmt::format("input    {}\n", input_explanation(job.options, plan.claims));
  return text;
}

std::string folder_names(const sort::SortOptions& options) {
  return terminal_safe(fmt::format("{}", fmt::join(options.spill.directories, ", ")));
}

/// What bounds this rank's sort; with several ranks, rank 0's.
std::string explanation(const sort::SortPlan& plan, const sort::SortOptions& options, int ranks) {
  const sort::MemoryPlan& memory = plan.memory;
  std::string text = ranks == 1 ? "" : fmt::format("ranks    {}; what follows is of rank 0\n", ranks);
  text += "input    " + (plan.stream ? "a stream, its size is not known" : io::human_size(plan.input_bytes));
  if (plan.input_cached > 0)
    text += fmt::format(", {:.0f} % of it in the page cache: no disk has to read that", 100 * plan.input_cached);
  text += "\n";
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
  return fmt::format("{} {}s, {}{:.1f} MB in {:.2f} s ({:.0f} MB/s), {}{}, fingerprint {:016x}", all.records,
                     options.layout.record_name(), unique, bytes / 1e6, seconds,
                     seconds > 0 ? bytes / 1e6 / seconds : 0, ranks > 1 ? fmt::format("{} ranks, ", ranks) : "",
                     place_text(result), all.fingerprint);
}

/// The phases of rank 0, and the slowest rank of each.
void print_phases(const job::RunReport& report) {
  for (const job::PhaseSpan& phase : report.ranks.front().phases) {
    std::string text = fmt::format("{:<16} {:8.3f} s", phase.name, phase.seconds());
    if (report.ranks.size() > 1) {
      const job::SlowestRank slowest = job::slowest_in(report, phase.name);
      text += fmt::format(", {:.3f} s of it waiting; slowest: rank {} worked {:.3f} s", phase.waited(),
                          job::rank_label(*slowest.rank), slowest.worked_seconds);
    }
    print_remark(text);
  }
}

/// What `auto` measured of each rank, what bounds the rank in the exchange, and the sentence that explains a plan.
void print_measurements(const sort::RankResult& result) {
  constexpr double kMega = 1e6;
  for (std::size_t rank = 0; rank < result.measured.rates.size(); ++rank) {
    const sort::RankRates& rates = result.measured.rates[rank];
    std::string text = fmt::format("measured {} (rank {}): link in {:.0f} MB/s, out {:.0f} MB/s",
                                   result.measured.names[rank], rank, rates.link_in / kMega, rates.link_out / kMega);
    if (rates.form_seconds > 0)
      text += fmt::format(", forms {:.2f} and merges {:.2f} million records a second",
                          rates.processors / rates.form_seconds / kMega,
                          rates.processors / std::max(rates.merge_seconds, 1e-12) / kMega);
    if (rates.disk_write > 0) text += fmt::format(", disk writes {:.0f} MB/s", rates.disk_write / kMega);
    if (rank < result.measured_exchange.size())
      text +=
          fmt::format("; its exchange is bound by: {}", partition::resource_name(result.measured_exchange[rank].bound));
    print_remark(text);
  }
  if (!result.explanation.empty()) print_remark("plan: " + result.explanation);
}

bool keeps_runs(const job::SortJob& job) { return !job.options.checkpoint.folders.empty(); }

/// Whether runs were formed or were about to be.
bool has_begun(const sort::Monitor& monitor) {
  return std::ranges::any_of(monitor.phases(), [](const auto& phase) { return phase.name == "form_runs"; });
}

/// The command line of a sort, for a shell.
std::string shell_line(Arguments arguments) {
  std::string line = "hetsort sort";
  for (const std::string& argument : arguments) line += " " + terminal_safe(shell_word(argument));
  return line;
}

/// What continues a sort with a checkpoint.
std::string advice_of(const job::SortJob& job, const std::string& command) {
  const auto& inputs = job.options.input.paths;
  const bool has_own = job::is_one_of_many() && std::ranges::any_of(inputs, sort::is_rank_path);
  return (has_own ? "the records of a host that is down are missing until it is back; continue with: "
                  : "continue with: ") +
         command;
}

/// Files beside the output. They are opened before the work, so that a missing folder is reported before the first byte
/// is sorted.
struct SideFiles {
  std::optional<io::OutputFile> report;
  std::optional<io::OutputFile> trace;
  std::optional<io::OutputFile> learn;
};

/// A sort with everything around it.
class SortOnRanks {
 public:
  SortOnRanks(const SortCommand& command, job::SortJob& job, comm::Communicator& ranks)
      : command_(command), request_(command.request), job_(job), ranks_(ranks) {}

  /// Handles --dry-run. Collective.
  int plan(const job::SharedSettings& shared);
  /// Sorts; returns the exit code. Collective.
  int sort(const job::SharedSettings& shared, std::vector<std::string> words);

 private:
  bool is_root() const { return ranks_.rank() == 0; }
  /// Checks all names, resolves the job and opens rank 0's files: first those that also report a failure. What is not
  /// written later leaves nothing behind. Collective.
  void prepare();
  /// Prints what the user should know before the sort.
  void print_notes();
  /// Says how the job will be done: --explain and --dry-run. Collective.
  void show_plan() const;
  /// Whether rank 0 sends the other ranks a stream, which can be read once only. Collective.
  bool sends_stream() const;
  void write_side_files(job::LoggedSort& run, bool failed);

  const SortCommand& command_;
  const job::SortRequest& request_;
  job::SortJob& job_;
  comm::Communicator& ranks_;
  SideFiles files_;
};

void SortOnRanks::prepare() {
  check_files(job::files_of(request_, job_), ranks_);
  // mpirun gives its ranks a terminal of its own, and passes on what they write to it.
  if (!ranks_.launched() && !command_.dry_run && !job_.options.layout.is_lines())
    for (const std::string& output : job_.options.output.paths)
      job::refuse_terminal(output, io::field("output") + " FILE");
  if (is_root() && !request_.report_path.empty()) files_.report.emplace(request_.report_path);
  if (is_root() && !request_.trace_path.empty()) files_.trace.emplace(request_.trace_path);
  job::resolve(job_, request_, ranks_);
  if (is_root() && !command_.quiet) print_notes();
  if (const std::string path = job::learned_path(job_); is_root() && !path.empty()) files_.learn.emplace(path);
}

void SortOnRanks::print_notes() {
  if (command_.debug)
    for (const std::string& text : explain_order(job_.options.layout)) print_remark(text);
  if (!job_.planner.note.empty()) print_note(job_.planner.note);
  if (!job_.resources_note.empty()) print_note(job_.resources_note);
  if (const std::string note = job::files_of(request_, job_).rank_note(ranks_); !note.empty()) print_note(note);
  job_.options.input.content.note = print_one_note();
}

bool SortOnRanks::sends_stream() const {
  if (ranks_.size() == 1) return false;
  if (job::reads_standard_input(job_.options)) return true;
  const auto is_stream = [](const std::string& path) { return io::kind_at(path) == io::FileKind::kStream; };
  const sort::InputOptions& input = job_.options.input;
  return ranks_.all_reduce_max(is_root() && input.root_only && std::ranges::any_of(input.paths, is_stream) ? 1 : 0) > 0;
}

void SortOnRanks::show_plan() const {
  if (sends_stream()) {
    if (command_.dry_run) throw UsageError("--dry-run of several ranks needs INPUTs whose size is known");
    if (is_root()) print_lines("input    a stream: rank 0 copies it to its temp directory, then shares it\n");
    return;
  }
  const sort::SortPlan plan = sort::plan_sort(job_.options, ranks_);
  if (!is_root()) return;
  if (command_.explain) {
    if (ranks_.size() > 1) print_lines(share_explanation(job_, plan));
    print_lines(explanation(plan, job_.options, ranks_.size()));
    print_lines(run_table(plan.shares.plan, true));
  }
  if (command_.dry_run) write_output(job::plan_json((plan.scattered ? *plan.scattered : plan.shares).plan));
}

int SortOnRanks::plan(const job::SharedSettings& shared) {
  const job::Outcome outcome = run_everywhere(ranks_, shared, [&] {
    prepare();
    show_plan();
    return 0;
  });
  return report_outcome(outcome, ranks_);
}

void SortOnRanks::write_side_files(job::LoggedSort& run, bool failed) {
  if (files_.report) job::write_text(*files_.report, run.report());
  if (files_.trace) job::write_text(*files_.trace, run.trace());
  if (!files_.learn || failed) return;
  const job::LearnedText learned = job::learned_text(job_, run, ranks_);
  for (const std::string& note : learned.notes) run.monitor().note(note);
  job::write_text(*files_.learn, learned.text);
}

int SortOnRanks::sort(const job::SharedSettings& shared, std::vector<std::string> words) {
  job::LoggedSort run(job_, ranks_, {std::move(words), ranks_.job_start(), !request_.trace_path.empty()});
  if (!command_.quiet) run.monitor().on_note(print_note);
  job::Outcome outcome = run_everywhere(ranks_, shared, [&] {
    prepare();
    if (command_.explain) show_plan();
    ProgressForm form = progress_form(command_.progress, command_.quiet, ranks_);
    if (command_.verbose && !keeps_runs(job_)) form.long_note = kLongNote;
    const ProgressPrinter progress(run.monitor(), form);
    run.run();
    return 0;
  });
  if (!is_root()) return outcome.exit_code;
  const bool failed = !outcome.failure.empty();
  if (failed) {
    if (run.result().output_untouched) outcome.failure += "; output untouched";
    if (has_begun(run.monitor()) && !request_.ranks.advice.empty()) outcome.failure += "; " + request_.ranks.advice;
    run.end_with(outcome.failure);
    report_outcome(outcome, ranks_);
  }
  write_side_files(run, failed);
  // What a cluster file says was explained before the sort.
  const bool is_measured = !run.result().measured.rates.empty();
  if (command_.explain && !command_.verbose && !failed && is_measured) print_measurements(run.result());
  if (command_.verbose && !failed) {
    const job::RunReport report = run.described();
    print_phases(report);
    print_measurements(run.result());
    print_lines(text_predictions(report) + text_moved_work(report));
    print_remark(done_text(run.result(), job_.options, ranks_.size(), report.seconds));
  }
  return outcome.exit_code;
}

}  // namespace

job::Options sort_options() {
  static SortCommand unused;
  return options_of(unused);
}

int sort_command(Arguments arguments) {
  SortCommand command;
  job::Options options = options_of(command);
  if (is_lone_h(arguments)) return print_once({{"command", "sort"}}, help_text(kSortUsage, options));
  const CommandLine line = parse_command_line("sort", arguments, options);
  if (line.help) return print_once(line.shared, help_text(kSortUsage, options));
  command.request.phases.input.paths = line.operands;
  job::SortJob job = job::sort_job_of(command.request);
  if (command.check != OrderCheck::kNone) require_one_input(job.options.input.paths, command.check);
  end_cleanly_on_signals();
  if (keeps_runs(job) && !command.dry_run) {
    command.request.ranks.advice = advice_of(job, shell_line(arguments));
    continue_after_signals(command.request.ranks.advice);
  }
  allow_many_files();
  const std::unique_ptr<comm::Communicator> ranks = job::join_job(command.request.ranks);
  if (command.check != OrderCheck::kNone) {
    const job::Outcome outcome = run_everywhere(*ranks, line.shared, [&] {
      return check_order(job.options, {command.check, command.quiet, command.request}, *ranks);
    });
    return report_outcome(outcome, *ranks);
  }
  SortOnRanks sort(command, job, *ranks);
  if (command.dry_run) return sort.plan(line.shared);
  std::vector<std::string> words{"hetsort", "sort"};
  words.insert(words.end(), arguments.begin(), arguments.end());
  return sort.sort(line.shared, std::move(words));
}

}  // namespace hetsort::cli
