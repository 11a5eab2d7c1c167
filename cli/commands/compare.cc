// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
//
// hetsort compare: real sorts with several strategies, in turn, in one job.
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstring>
#include <filesystem>
#include <list>

#include "cli/commands.h"
#include "cli/commands/compare_table.h"
#include "cli/options/typed_options.h"
#include "cli/report/model.h"
#include "cli/shared/messages.h"
#include "cli/shared/named_files.h"
#include "cli/shared/signals.h"
#include "cli/shared/sort_run.h"
#include "sort/input/rank_path.h"

namespace hetsort::cli {

namespace {

namespace po = boost::program_options;

constexpr const char* kCompareUsage = R"(usage: hetsort compare [OPTION...] INPUT... -o OUTPUT --strategies A,B,...

Sorts the INPUTs with each strategy in turn, several rounds in one job, and shows which was fastest and how the predicted
times fit. Every run is verified as any sort is, and replaces OUTPUT. The order of strategies changes from round to round.

)";

constexpr std::uint64_t kDefaultRounds = 5;
constexpr std::uint64_t kMaxRounds = 1000;

std::vector<std::string> parse_strategies(const std::string& list) {
  std::vector<std::string> names;
  std::size_t begin = 0;
  for (std::size_t end = 0; end != std::string::npos; begin = end + 1) {
    end = list.find(',', begin);
    const std::string name = list.substr(begin, end - begin);
    if (name.empty()) throw UsageError("--strategies wants names with commas between");
    if (std::find(names.begin(), names.end(), name) != names.end())
      throw UsageError(fmt::format("--strategies names '{}' twice", name));
    check_strategy(name);
    names.push_back(name);
  }
  return names;
}

struct CompareRequest {
  std::vector<std::string> strategies;
  std::uint64_t rounds = kDefaultRounds;
  bool json = false;
  std::list<SortRequest> sorts;  ///< one for each strategy; runs refer to them
};

/// The request of a command line. Throws: UsageError for what cannot be sorted several times.
CompareRequest compare_request_of(const po::variables_map& values) {
  CompareRequest request;
  const auto strategies = optional_value<std::vector<std::string>>(values, "strategies");
  if (!strategies) throw UsageError("compare wants --strategies A,B,...; 'hetsort compare --help' explains");
  request.strategies = *strategies;
  request.rounds = value_of<std::uint64_t>(values, "rounds");
  request.json = value_of<bool>(values, "format");
  SortRequest sort = sort_request_of(values);
  if (reads_standard_input(sort.options))
    throw UsageError("compare reads its INPUTs again for each run: it wants files, not standard input");
  if (sort.options.output.paths.front() == "-")
    throw UsageError("compare wants -o OUTPUT: standard output is for what it finds");
  for (const std::string& strategy : request.strategies) {
    sort.shares.strategy = strategy;
    check_shares(sort.shares);
    request.sorts.push_back(sort);
  }
  return request;
}

/// The files of all runs. Every run reads the same INPUTs, so that OUTPUT cannot be one of them.
NamedFiles files_of_runs(const SortRequest& request) {
  NamedFiles files;
  for (const std::string& output : request.options.output.paths) files.write("-o", output);
  files.write("standard output", "-");
  files.read("--cluster", request.shares.cluster_path);
  files.read("--learn", request.shares.learn_path);
  for (const std::string& input : request.options.input.paths) files.read("INPUT", input);
  return files;
}

/// Every run must find the INPUTs as the first one found them. The sort reports what is missing. Throws: UsageError.
void keep_inputs(const SortRequest& request, const comm::Communicator& ranks) {
  files_of_runs(request).check(ranks);
  const sort::SortOptions& options = request.options;
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
  using Clock = sort::Monitor::Clock;
  Clock::duration since = Clock::now() - ranks.job_start();
  comm::Bytes bytes(sizeof since);
  std::memcpy(bytes.data(), &since, sizeof since);
  bytes = ranks.broadcast(std::move(bytes));
  std::memcpy(&since, bytes.data(), sizeof since);
  return ranks.job_start() + since;
}

/// Resolves the requests of all sorts. Rank 0 prints notes on the plans and the input once, not for each sort.
/// Collective.
void resolve_sorts(std::list<SortRequest>& sorts, comm::Communicator& ranks) {
  for (SortRequest& sort : sorts) resolve_for_job(sort, ranks);
  const SortRequest& first = sorts.front();
  if (first.quiet) return;
  if (!first.planner.note.empty()) print_note(first.planner.note);
  if (ranks.rank() != 0) return;
  if (!first.resources.note.empty()) print_note(first.resources.note);
  for (const auto note = print_one_note(); SortRequest & sort : sorts) sort.options.input.content.note = note;
}

/// Makes all runs; returns the reports on rank 0. Collective.
ComparedRounds compare(CompareRequest& request, comm::Communicator& ranks, const std::vector<std::string>& words) {
  std::list<SortRequest>& sorts = request.sorts;
  keep_inputs(sorts.front(), ranks);
  const std::size_t runs = request.rounds * sorts.size();
  if (runs > kMaxRuns || runs * static_cast<std::size_t>(ranks.size()) > kMaxRanks)
    throw UsageError(fmt::format("{} rounds of {} strategies on {} ranks are more than {} runs or {} reports of ranks",
                                 request.rounds, sorts.size(), ranks.size(), kMaxRuns, kMaxRanks));
  resolve_sorts(sorts, ranks);
  ComparedRounds rounds(request.rounds);
  for (std::size_t round = 0; round < rounds.size(); ++round) {
    std::vector<std::string> reports(sorts.size());
    for (std::size_t turn = 0; turn < sorts.size(); ++turn) {
      const std::size_t which = (round + turn) % sorts.size();
      const SortRequest& sort = *std::next(sorts.begin(), static_cast<std::ptrdiff_t>(which));
      SortRun run(sort, ranks, words, common_start(ranks));
      run.run();
      if (ranks.rank() == 0) reports[which] = run.report();
    }
    for (std::size_t i = 0; i < reports.size(); ++i) rounds[round].emplace_back(request.strategies[i], reports[i]);
  }
  return rounds;
}

}  // namespace

po::options_description compare_options() {
  po::options_description options("Options");
  auto add = options.add_options();
  add("strategies", parsed<std::vector<std::string>>("A,B,...", parse_strategies),
      "strategies to compare, each as in 'hetsort sort --strategy'");
  add("rounds", count("R", "--rounds", 1, kMaxRounds)->default_value(kDefaultRounds, "5"), "sorts with each strategy");
  add("format", choice<bool>("FORM", "--format", {{"table", false}, {"json", true}})->default_value(false, "table"),
      "table or json (hetsort.compare/1, for 'hetsort report')");
  add_sort_options(options);
  add("help", po::bool_switch(), "this text");
  return options;
}

int compare_command(Arguments arguments) {
  const po::options_description options = compare_options();
  // With other options, -h is --human-numeric-sort.
  if (arguments.size() == 1 && arguments.front() == "-h")
    return print_once({{"command", "compare"}}, help_text(kCompareUsage, options));
  const CommandLine line = parse_options("compare", arguments, options);
  if (value_of<bool>(line.values, "help")) return print_once(line.shared, help_text(kCompareUsage, options));
  CompareRequest request = compare_request_of(line.values);
  end_cleanly_on_signals();
  allow_many_files();
  const std::unique_ptr<comm::Communicator> ranks = join_job(request.sorts.front().job);
  std::vector<std::string> words{"hetsort", "compare"};
  words.insert(words.end(), arguments.begin(), arguments.end());
  ComparedRounds rounds;
  const Outcome outcome = run_job(*ranks, line.shared, [&] {
    rounds = compare(request, *ranks, words);
    return 0;
  });
  if (!outcome.failure.empty() || ranks->rank() != 0) return report_outcome(outcome, *ranks);
  write_output(request.json ? compare_json(rounds) : compare_table(rounds));
  return 0;
}

}  // namespace hetsort::cli
