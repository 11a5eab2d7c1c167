// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
//
// hetsort report: a page, or timelines for the terminal, from reports of runs.
#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <span>
#include <string>
#include <vector>

#include "cli/commands.h"
#include "cli/report/json.h"
#include "cli/report/page.h"
#include "cli/report/text.h"
#include "cli/shared/options.h"
#include "cli/shared/run_report.h"
#include "io/file.h"

namespace hetsort::cli {
namespace {

namespace po = boost::program_options;

constexpr const char* kReportUsage = R"(usage: hetsort report RUN.json... -o REPORT.html
       hetsort report RUN.json... --format text

Makes one HTML page, which needs nothing else to be read, of reports that 'sort --report' wrote (hetsort.run/1) and
of comparisons (hetsort.compare/1): timelines, shares and rates of the ranks, runs and strategies side by side.
As text: one line a rank, its phases over time as letters, for a terminal of 80 columns.

)";

struct ReportRequest {
  std::vector<std::string> inputs;
  std::string output;
  bool as_text = false;
  bool pictures = true;
};

po::options_description report_options() {
  po::options_description options("Options");
  auto add = options.add_options();
  add("output,o", po::value<std::string>()->value_name("FILE"), "the page; \"-\" is standard output");
  add("format", po::value<std::string>()->value_name("FORM"), "html (default), or text, without -o on standard output");
  add("no-pictures", po::bool_switch(), "tables only, no charts");
  add("help,h", po::bool_switch(), "this text");
  return options;
}

ReportRequest report_request_of(const po::variables_map& values) {
  if (values.count("operand") == 0) throw UsageError("report wants a RUN.json; 'hetsort report --help' explains");
  const std::string format = values.count("format") == 0 ? "html" : values["format"].as<std::string>();
  if (format != "html" && format != "text")
    throw UsageError(fmt::format("--format wants html or text, not '{}'", format));
  if (values.count("output") == 0 && format == "html")
    throw UsageError("report wants -o FILE, or --format text; 'hetsort report --help' explains");
  ReportRequest request{.inputs = values["operand"].as<std::vector<std::string>>(),
                        .output = values.count("output") == 0 ? "-" : values["output"].as<std::string>(),
                        .as_text = format == "text",
                        .pictures = !values["no-pictures"].as<bool>()};
  for (const std::string& input : request.inputs) {
    std::error_code unreachable;  // the same error comes again, told better, where the file is opened
    if (std::filesystem::is_regular_file(request.output, unreachable) &&
        std::filesystem::equivalent(input, request.output, unreachable))
      throw UsageError(fmt::format("report -o {}: the page would take the place of a report", request.output));
  }
  return request;
}

/// One byte more than the limit at most, for the parser to refuse.
std::string read_text(const io::File& file) {
  constexpr std::size_t kPieceBytes = 1 << 20;
  std::string text;
  while (text.size() <= kMaxReportBytes) {
    const std::size_t before = text.size();
    text.resize(before + kPieceBytes);
    const std::size_t bytes = file.read(std::as_writable_bytes(std::span(text).subspan(before)));
    text.resize(before + bytes);
    if (bytes < kPieceBytes) break;
  }
  return text;
}

/// What the page will have of each, over all files so far.
struct Extent {
  std::size_t runs = 0;
  std::size_t ranks = 0;
  std::size_t phases = 0;

  void add(const RunReport& run) {
    ++runs;
    ranks += run.ranks.size();
    for (const RankReport& rank : run.ranks) phases += rank.phases.size();
    const auto check = [&](std::size_t count, std::size_t most, const char* what) {
      if (count > most) throw ReportError(run.file, "/", fmt::format("more than {} {} in all files", most, what));
    };
    check(runs, kMaxRuns, "runs");
    check(ranks, kMaxRanks, "ranks");
    check(phases, kMaxPhases, "phases");
  }
};

std::vector<RunReport> read_all(const std::vector<std::string>& inputs) {
  std::vector<RunReport> runs;
  Extent extent;
  for (const std::string& input : inputs) {
    const bool is_stdin = input == "-";
    const std::string text = read_text(is_stdin ? io::standard_input() : io::File::open_read(input));
    for (RunReport& run : read_runs(text, is_stdin ? "standard input" : input)) {
      extent.add(run);
      runs.push_back(std::move(run));
    }
  }
  return runs;
}

/// What is written.
std::string made_of(std::vector<RunReport> runs, const ReportRequest& request) {
  if (request.as_text) return text_timelines(runs);
  const Report report(std::move(runs));
  return report_page(report, request.pictures ? draw_pictures(report) : no_pictures(report));
}

}  // namespace

int report_command(Arguments arguments) {
  const po::options_description options = report_options();
  const po::variables_map values = parse_options(arguments, options);
  if (answers_help(values, kReportUsage, options)) return 0;
  const ReportRequest request = report_request_of(values);
  const std::string page = made_of(read_all(request.inputs), request);
  if (request.output == "-") {
    io::standard_output().write(std::as_bytes(std::span(page)));
  } else {
    io::OutputFile output(request.output);
    write_text(output, page);
  }
  return 0;
}

}  // namespace hetsort::cli
