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
#include "cli/report/model.h"
#include "cli/shared/options.h"
#include "cli/shared/signals.h"
#include "cli/shared/sort_run.h"
#include "io/file.h"
#include "sort/input/rank_path.h"

namespace hetsort::cli {

namespace {

constexpr const char* kHelp =
    R"(usage: hetsort compare [OPTION...] [INPUT...] -o OUTPUT --strategies A,B,...

Sorts INPUT with each strategy in turn, several rounds in one job, and tells which was fastest and how the predicted
times fit. Each run is proven as any sort; each replaces OUTPUT. The order of strategies changes from round to round.

  --strategies A,B,...   what 'hetsort sort --strategy' takes, each
  --rounds R             how often each, from 1 to 1000 (5)
  --format FORM          table or json (hetsort.compare/1, for 'hetsort report')

and the options of 'hetsort sort', but for --strategy, --report, --trace, --dry-run, --explain and -v.
)";

constexpr std::uint64_t kDefaultRounds = 5;
constexpr std::uint64_t kMostRounds = 1000;

struct CompareRequest {
  std::vector<std::string> strategies;
  std::uint64_t rounds = kDefaultRounds;
  bool json = false;
  std::vector<std::string> sort_arguments;  ///< what is not compare's own
};

std::vector<std::string> requested_strategies(const std::string& list) {
  std::vector<std::string> names;
  std::size_t begin = 0;
  for (std::size_t end = 0; end != std::string::npos; begin = end + 1) {
    end = list.find(',', begin);
    const std::string name = list.substr(begin, end - begin);
    if (name.empty()) throw UsageError("--strategies wants names with commas between");
    if (std::find(names.begin(), names.end(), name) != names.end())
      throw UsageError(fmt::format("--strategies names '{}' twice", name));
    names.push_back(name);
  }
  return names;
}

void set_own_option(const std::string& name, const std::string& value, CompareRequest& request) {
  if (name == "--strategies") {
    request.strategies = requested_strategies(value);
  } else if (name == "--rounds") {
    request.rounds = parse_count(value, "--rounds");
    if (request.rounds == 0 || request.rounds > kMostRounds)
      throw UsageError(fmt::format("--rounds wants 1 to {}", kMostRounds));
  } else {
    if (value != "table" && value != "json")
      throw UsageError(fmt::format("--format '{}' is none of table, json", value));
    request.json = value == "json";
  }
}

/// Takes compare's own options out; all else is for the sort to understand.
CompareRequest compare_request_of(Arguments arguments) {
  CompareRequest request;
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    const std::string& argument = arguments[i];
    if (argument == "--") {
      request.sort_arguments.insert(request.sort_arguments.end(), arguments.begin() + static_cast<std::ptrdiff_t>(i),
                                    arguments.end());
      break;
    }
    const std::size_t sign = argument.find('=');
    const std::string name = argument.substr(0, sign);
    if (name == "--strategy") throw UsageError("compare takes --strategies, a list, instead of --strategy");
    if (name != "--strategies" && name != "--rounds" && name != "--format") {
      request.sort_arguments.push_back(argument);
      continue;
    }
    if (sign == std::string::npos && i + 1 == arguments.size())
      throw UsageError(fmt::format("the required argument for option '{}' is missing", name));
    set_own_option(name, sign == std::string::npos ? arguments[++i] : argument.substr(sign + 1), request);
  }
  return request;
}

/// The sort that this strategy is. Throws: UsageError for what makes no sense many times over.
SortRequest sort_with(const std::string& strategy, const CompareRequest& request) {
  std::vector<std::string> arguments{"--strategy", strategy};
  arguments.insert(arguments.end(), request.sort_arguments.begin(), request.sort_arguments.end());
  SortRequest sort = parse_sort_request(arguments);
  if (!sort.report_path.empty() || !sort.trace_path.empty() || sort.dry_run || sort.explain || sort.verbose)
    throw UsageError("compare has no --report, --trace, --dry-run, --explain and -v: --format json tells of each run");
  if (reads_standard_input(sort.options))
    throw UsageError("compare reads its INPUTs again for each run: it wants files, not standard input");
  if (sort.options.output == "-") throw UsageError("compare wants -o OUTPUT: standard output is for what it finds");
  return sort;
}

/// Each run must find what the first one found, and what one run wrote must not be what the next one sorts. What is
/// missing is for the sort to tell. Throws: UsageError.
void keep_inputs(const sort::SortOptions& options, const comm::Communicator& ranks) {
  namespace fs = std::filesystem;
  std::error_code missing;
  const std::string output = sort::rank_path(options.output, ranks);
  if (const fs::file_status status = fs::status(output, missing); fs::exists(status) && !fs::is_regular_file(status))
    throw UsageError(fmt::format("{}: compare replaces its OUTPUT by each run: it wants a regular file", output));
  if (options.root_input && ranks.rank() != 0) return;
  for (const std::string& written : options.inputs) {
    const std::string input = sort::rank_path(written, ranks);
    const fs::file_status status = fs::status(input, missing);
    if (fs::exists(status) && !fs::is_regular_file(status) && !fs::is_block_file(status))
      throw UsageError(
          fmt::format("{}: compare reads its INPUTs again for each run: it wants files, not pipes", input));
    if (fs::equivalent(input, output, missing))
      throw UsageError(fmt::format("{}: compare sorts its INPUTs several times, OUTPUT cannot be one of them", input));
  }
}

/// A moment at which all ranks are ready. Collective.
sort::Monitor::Clock::time_point common_start(comm::Communicator& ranks) {
  std::vector<std::uint64_t> ready{1};
  ranks.all_reduce_sum(ready);
  using Clock = sort::Monitor::Clock;
  Clock::duration since = Clock::now() - ranks.job_start();
  comm::Bytes bytes(sizeof since);
  std::memcpy(bytes.data(), &since, sizeof since);
  bytes = ranks.broadcast(std::move(bytes));
  std::memcpy(&since, bytes.data(), sizeof since);
  return ranks.job_start() + since;
}

/// All runs; the reports are rank 0's. Collective.
ComparedRounds compare(const CompareRequest& request, std::list<SortRequest>& sorts, comm::Communicator& ranks,
                       const std::vector<std::string>& command_line) {
  keep_inputs(sorts.front().options, ranks);
  const std::size_t runs = request.rounds * sorts.size();
  if (runs > kMaxRuns || runs * static_cast<std::size_t>(ranks.size()) > kMaxRanks)
    throw UsageError(fmt::format("{} rounds of {} strategies on {} ranks are more than {} runs or {} reports of ranks",
                                 request.rounds, sorts.size(), ranks.size(), kMaxRuns, kMaxRanks));
  for (SortRequest& sort : sorts) settle_for_job(sort, ranks);
  ComparedRounds rounds(request.rounds);
  for (std::size_t round = 0; round < rounds.size(); ++round) {
    std::vector<std::string> reports(sorts.size());
    for (std::size_t turn = 0; turn < sorts.size(); ++turn) {
      const std::size_t which = (round + turn) % sorts.size();
      const SortRequest& sort = *std::next(sorts.begin(), static_cast<std::ptrdiff_t>(which));
      SortRun run(sort, ranks, command_line, common_start(ranks));
      run.run();
      if (ranks.rank() == 0) reports[which] = run.report();
    }
    for (std::size_t i = 0; i < reports.size(); ++i) rounds[round].emplace_back(request.strategies[i], reports[i]);
  }
  return rounds;
}

}  // namespace

int compare_command(Arguments arguments) {
  if (std::any_of(arguments.begin(), arguments.end(),
                  [](const std::string& argument) { return argument == "--help" || argument == "-h"; })) {
    fmt::print("{}", kHelp);
    return 0;
  }
  const CompareRequest request = compare_request_of(arguments);
  if (request.strategies.empty())
    throw UsageError("compare wants --strategies A,B,...; 'hetsort compare --help' explains");
  std::list<SortRequest> sorts;  // runs refer to them
  for (const std::string& strategy : request.strategies) sorts.push_back(sort_with(strategy, request));
  end_cleanly_on_signals();
  allow_many_files();
  const std::unique_ptr<comm::Communicator> ranks = join_job(sorts.front().job);
  std::vector<std::string> command_line{"hetsort", "compare"};
  command_line.insert(command_line.end(), arguments.begin(), arguments.end());
  ComparedRounds rounds;
  const Outcome outcome = run_job(*ranks, [&] {
    rounds = compare(request, sorts, *ranks, command_line);
    return 0;
  });
  if (!outcome.failure.empty() || ranks->rank() != 0) return report_outcome(outcome, *ranks);
  const std::string text = request.json ? compare_json(rounds) : compare_table(rounds);
  io::standard_output().write(std::as_bytes(std::span(text)));
  return 0;
}

}  // namespace hetsort::cli
