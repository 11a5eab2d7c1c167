// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
//
// hetsort compare: real sorts with several strategies, in turn, in one job.
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <list>
#include <optional>
#include <string_view>
#include <system_error>

#include "cli/commands.h"
#include "cli/commands/compare_table.h"
#include "cli/options/command_line.h"
#include "cli/process/outcome.h"
#include "cli/process/signals.h"
#include "cli/report/groups.h"
#include "cli/terminal/messages.h"
#include "cli/terminal/progress.h"
#include "io/field.h"
#include "job/logged_sort.h"
#include "job/options/parse.h"
#include "job/request/named_files.h"
#include "job/shares/plan_input.h"
#include "job/shares/rank_planner.h"
#include "job/shares/strategy_choice.h"
#include "job/sort_options.h"
#include "partition/plan.h"
#include "partition/strategy.h"
#include "sort/input/rank_path.h"

namespace hetsort::cli {

namespace {

constexpr const char* kCompareUsage = R"(usage: hetsort compare [OPTION...] INPUT... -o OUTPUT --strategies A,B,...

Sorts the INPUTs with each strategy in turn, several rounds in one job, and shows which was fastest and how the predicted
times fit. Every run is verified as any sort is, and replaces OUTPUT. The order of strategies changes from round to round.

)";

constexpr std::uint64_t kDefaultRounds = 5;
constexpr std::uint64_t kMaxRounds = 1000;

/// Stands for all strategies that apply.
constexpr std::string_view kAll = "all";

std::vector<std::string> parse_strategies(const std::string& list, const std::string& what) {
  std::vector<std::string> names;
  if (list == kAll) return {list};
  std::size_t begin = 0;
  for (std::size_t end = 0; end != std::string::npos; begin = end + 1) {
    end = list.find(',', begin);
    const std::string name = list.substr(begin, end - begin);
    if (name.empty()) throw UsageError(what + " wants names with commas between");
    if (std::find(names.begin(), names.end(), name) != names.end())
      throw UsageError(fmt::format("{} names '{}' twice", what, name));
    names.push_back(job::parse_strategy(name, what));
  }
  return names;
}

std::vector<std::string> strategy_words() {
  std::vector<std::string> words{std::string(kAll), std::string(job::kAuto)};
  for (const partition::Strategy* const strategy : partition::all_strategies()) words.emplace_back(strategy->name);
  return words;
}

enum class CompareForm : std::uint8_t { kTable, kJson, kCsv };

struct CompareRequest {
  std::vector<std::string> strategies{};
  std::uint64_t rounds = kDefaultRounds;
  CompareForm form = CompareForm::kTable;
  bool quiet = false;
  std::optional<ProgressStyle> progress{};
  job::SortRequest sort{};  ///< the sort that is repeated with each strategy
};

/// One of the sorts that are compared.
struct ComparedSort {
  job::SortRequest request;
  job::SortJob job;
};

job::Options options_of(CompareRequest& request) {
  job::Options options;
  options.add({.name = "strategies",
               .value = "A,B,...",
               .help = "strategies to compare, each as in 'hetsort sort --strategy'; all: those that apply",
               .fill = job::take(request.strategies, parse_strategies),
               .words = strategy_words()});
  options.add({.name = "rounds",
               .value = "R",
               .usual = "5",
               .help = "sorts with each strategy",
               .fill = job::take(request.rounds, job::count_from(1, kMaxRounds))});
  options.add(
      job::choice({.name = "format",
                   .value = "FORM",
                   .usual = "table",
                   .help = "table, csv, or json (hetsort.compare/1, for 'hetsort report')"},
                  request.form,
                  std::vector<std::pair<std::string, CompareForm>>{
                      {"table", CompareForm::kTable}, {"csv", CompareForm::kCsv}, {"json", CompareForm::kJson}}));
  job::add_sort_options(options, request.sort);
  add_progress_option(options, request.progress);
  add_quiet_option(options, request.quiet);
  options.add(help_option('\0'));
  return options;
}

/// One sort for each strategy. Throws: UsageError for what cannot be sorted several times.
std::list<ComparedSort> sorts_of(const CompareRequest& request) {
  if (request.strategies.empty())
    throw UsageError("compare wants --strategies A,B,...; 'hetsort compare --help' explains");
  const bool all = request.strategies.front() == kAll;
  if (!all && job::gives_shares(request.sort.shares) &&
      std::ranges::find(request.strategies, job::kGiven) == request.strategies.end())
    throw UsageError("--shares and --plan are for the strategy 'given', which --strategies does not name");
  std::list<ComparedSort> sorts;
  for (const std::string& strategy : request.strategies) {
    job::SortRequest sort = request.sort;
    sort.shares.strategy = all ? std::string(job::kAuto) : strategy;
    if (strategy != job::kGiven) sort.shares.shares.clear(), sort.shares.plan_path.clear();
    job::SortJob job = job::sort_job_of(sort);
    sorts.push_back({std::move(sort), std::move(job)});
  }
  const sort::SortOptions& options = sorts.front().job.options;
  if (job::reads_standard_input(options))
    throw UsageError("compare reads its INPUTs again for each run: it wants files, not standard input");
  if (options.output.paths.front() == "-")
    throw UsageError("compare wants -o OUTPUT: standard output is for what it finds");
  return sorts;
}

/// The files of all runs. Every run reads the same INPUTs, so that OUTPUT cannot be one of them.
job::NamedFiles files_of_runs(const ComparedSort& sort) {
  job::NamedFiles files;
  for (const std::string& output : sort.job.options.output.paths) files.write(io::field("output"), output);
  files.write("standard output", "-");
  files.read(io::field("cluster"), sort.request.shares.cluster_path);
  files.read(io::field("plan"), sort.request.shares.plan_path);
  files.read(io::field("learn"), sort.request.shares.learn_path);
  for (const std::string& input : sort.job.options.input.paths) files.read("INPUT", input);
  return files;
}

/// Every run must find the INPUTs as the first one found them. The sort reports what is missing. Throws: UsageError.
void keep_inputs(const ComparedSort& sort, const comm::Communicator& ranks) {
  check_files(files_of_runs(sort), ranks);
  const sort::SortOptions& options = sort.job.options;
  constexpr io::FileKind kRegular = io::FileKind::kRegular;
  for (const std::string& output : sort::rank_paths(options.output.paths, ranks))
    if (io::kind_at(output).value_or(kRegular) != kRegular)
      throw UsageError(fmt::format("{}: compare replaces its OUTPUT by each run: it wants a regular file", output));
  if (options.input.root_only && ranks.rank() != 0) return;
  for (const std::string& written : options.input.paths) {
    const std::string input = sort::rank_path(written, ranks);
    const io::FileKind kind = io::kind_at(input).value_or(kRegular);
    if (kind != kRegular && kind != io::FileKind::kBlockDevice)
      throw UsageError(
          fmt::format("{}: compare reads its INPUTs again for each run: it wants files, not pipes", input));
  }
}

/// A moment at which all ranks are ready. Collective.
sort::Monitor::Clock::time_point common_start(comm::Communicator& ranks) {
  ranks.barrier();
  const sort::Monitor::Clock::duration since = sort::Monitor::Clock::now() - ranks.job_start();
  return ranks.job_start() + ranks.all_gather(since).front();
}

/// The number of records in the INPUTs, which only decides which strategies apply. Collective.
std::int64_t records_of(const job::SortJob& job, comm::Communicator& ranks) {
  std::uint64_t bytes = 0;
  for (const std::string& path : sort::rank_paths(job.options.input.paths, ranks)) {
    std::error_code missing;  // the sort reports what is missing
    const std::uintmax_t size = std::filesystem::file_size(path, missing);
    if (!missing) bytes += size;
  }
  std::uint64_t sum = 0;
  for (const std::uint64_t of_rank : ranks.all_gather(bytes)) sum += of_rank;
  const bool own = sort::is_rank_path(job.options.input.paths.front());
  return static_cast<std::int64_t>((own ? sum : bytes) / job.options.layout.planned_bytes());
}

/// The strategies that apply to these ranks. Rank 0 decides, and notes why it leaves others out. Collective.
std::vector<std::string> all_that_apply(CompareRequest& request, comm::Communicator& ranks) {
  job::SortRequest sort = request.sort;
  sort.shares.strategy = job::kAuto;
  sort.shares.shares.clear();
  sort.shares.plan_path.clear();
  job::SortJob job = job::sort_job_of(sort);
  job::resolve(job, sort, ranks);
  const auto records = static_cast<std::uint64_t>(records_of(job, ranks));
  const std::string names = job::read_on_root(
      [&] {
        std::string list(job::kAuto);
        if (job::gives_shares(request.sort.shares)) list += fmt::format(",{}", job::kGiven);
        const partition::Comparison found = partition::compare_strategies(job.planner.problem({.records = records}));
        // Without curves, learned is the same as another strategy.
        for (const partition::TimedPlan& timed : found.plans)
          if (timed.plan.strategy != "learned" || !request.sort.shares.learn_path.empty())
            list += ',' + timed.plan.strategy;
        std::string left_out;
        for (const auto& [name, reason] : found.left_out) left_out += fmt::format("; {}: {}", name, reason);
        if (!request.quiet && !left_out.empty())
          print_note(fmt::format("strategies that do not apply are left out: {}", left_out.substr(2)));
        return list;
      },
      ranks);
  return parse_strategies(names, "strategies");
}

/// Resolves all sorts. Rank 0 prints notes on the plans and the input once, not for each sort. Collective.
void resolve_sorts(std::list<ComparedSort>& sorts, comm::Communicator& ranks, bool quiet) {
  for (ComparedSort& sort : sorts) job::resolve(sort.job, sort.request, ranks);
  const job::SortJob& first = sorts.front().job;
  if (quiet) return;
  if (!first.planner.note.empty()) print_note(first.planner.note);
  if (ranks.rank() != 0) return;
  if (!first.resources_note.empty()) print_note(first.resources_note);
  for (const auto note = print_one_note(); ComparedSort & sort : sorts) sort.job.options.input.content.note = note;
}

/// Sorts once; returns the report on rank 0. Collective.
std::string report_of_run(const ComparedSort& sort, const CompareRequest& request, comm::Communicator& ranks,
                          const std::vector<std::string>& words) {
  job::LoggedSort run(sort.job, ranks, {.command_line = words, .start = common_start(ranks)});
  if (!request.quiet) run.monitor().on_note(print_note);
  {
    const ProgressPrinter progress(run.monitor(), progress_form(request.progress, request.quiet, ranks));
    run.run();
  }
  return ranks.rank() == 0 ? run.report() : "";
}

/// Makes all runs; returns the reports on rank 0. Collective.
ComparedRounds compare(CompareRequest& request, std::list<ComparedSort>& sorts, comm::Communicator& ranks,
                       const std::vector<std::string>& words) {
  keep_inputs(sorts.front(), ranks);
  if (request.strategies.front() == kAll) {
    request.strategies = all_that_apply(request, ranks);
    sorts = sorts_of(request);
  }
  const std::size_t runs = request.rounds * sorts.size();
  if (runs > job::kMaxRuns || runs * static_cast<std::size_t>(ranks.size()) > job::kMaxRanks)
    throw UsageError(fmt::format("{} rounds of {} strategies on {} ranks are more than {} runs or {} reports of ranks",
                                 request.rounds, sorts.size(), ranks.size(), job::kMaxRuns, job::kMaxRanks));
  resolve_sorts(sorts, ranks, request.quiet);
  ComparedRounds rounds(request.rounds);
  for (std::size_t round = 0; round < rounds.size(); ++round) {
    std::vector<std::string> reports(sorts.size());
    for (std::size_t turn = 0; turn < sorts.size(); ++turn) {
      const std::size_t which = (round + turn) % sorts.size();
      const ComparedSort& sort = *std::next(sorts.begin(), static_cast<std::ptrdiff_t>(which));
      reports[which] = report_of_run(sort, request, ranks, words);
    }
    for (std::size_t i = 0; i < reports.size(); ++i) rounds[round].emplace_back(request.strategies[i], reports[i]);
  }
  return rounds;
}

}  // namespace

job::Options compare_options() {
  static CompareRequest unused;
  return options_of(unused);
}

int compare_command(Arguments arguments) {
  CompareRequest request;
  job::Options options = options_of(request);
  // With other options, -h is --human-numeric-sort.
  if (arguments.size() == 1 && arguments.front() == "-h")
    return print_once({{"command", "compare"}}, help_text(kCompareUsage, options));
  const CommandLine line = parse_command_line("compare", arguments, options);
  if (line.help) return print_once(line.shared, help_text(kCompareUsage, options));
  request.sort.phases.input.paths = line.operands;
  std::list<ComparedSort> sorts = sorts_of(request);
  end_cleanly_on_signals();
  allow_many_files();
  const std::unique_ptr<comm::Communicator> ranks = job::join_job(request.sort.ranks);
  std::vector<std::string> words{"hetsort", "compare"};
  words.insert(words.end(), arguments.begin(), arguments.end());
  ComparedRounds rounds;
  const job::Outcome outcome = run_everywhere(*ranks, line.shared, [&] {
    rounds = compare(request, sorts, *ranks, words);
    return 0;
  });
  if (!outcome.failure.empty() || ranks->rank() != 0) return report_outcome(outcome, *ranks);
  if (request.form == CompareForm::kTable)
    write_output(compare_table(rounds));
  else
    write_output(request.form == CompareForm::kJson ? compare_json(rounds) : compare_csv(rounds));
  return 0;
}

}  // namespace hetsort::cli
