// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
//
// hetsort report: a page, or timelines for the terminal, from reports of runs.
#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "cli/commands.h"
#include "cli/options/command_line.h"
#include "cli/process/outcome.h"
#include "cli/report/csv.h"
#include "cli/report/page.h"
#include "cli/report/text.h"
#include "cli/terminal/messages.h"
#include "io/file.h"
#include "job/options/parse.h"
#include "job/report/json.h"
#include "job/report/run_report.h"
#include "job/request/named_files.h"

namespace hetsort::cli {
namespace {

constexpr const char* kReportUsage = R"(usage: hetsort report RUN.json... -o REPORT.html
       hetsort report RUN.json... --format text|csv

Makes one HTML page, which needs nothing else to be read, of reports that 'sort --report' wrote (hetsort.run/1) and
of comparisons (hetsort.compare/1): timelines, shares and rates of the ranks, runs and strategies side by side.
As text: one line a rank, its phases over time as letters, for a terminal of 80 columns. As CSV: one line a rank.

)";

enum class ReportForm : std::uint8_t { kPage, kText, kCsv };

struct ReportRequest {
  std::vector<std::string> inputs;
  std::string output;
  ReportForm form = ReportForm::kPage;
  bool pictures = true;
};

/// Throws: UsageError.
void finish(ReportRequest& request, const CommandLine& line) {
  request.inputs = line.operands;
  if (request.inputs.empty()) throw UsageError("report wants a RUN.json; 'hetsort report --help' explains");
  if (request.output.empty() && request.form == ReportForm::kPage)
    throw UsageError("report wants -o FILE, or --format text or csv; 'hetsort report --help' explains");
  if (request.output.empty()) request.output = "-";
}

job::Options options_of(ReportRequest& request) {
  job::Options options;
  options.add({.name = "output",
               .letter = 'o',
               .value = "FILE",
               .help = "the page; \"-\" is standard output",
               .fill = job::take_path(request.output, true)});
  options.add(job::choice({.name = "format",
                           .value = "FORM",
                           .usual = "html",
                           .help = "html, or text or csv, without -o on standard output"},
                          request.form,
                          std::vector<std::pair<std::string, ReportForm>>{
                              {"html", ReportForm::kPage}, {"text", ReportForm::kText}, {"csv", ReportForm::kCsv}}));
  options.add({.name = "no-pictures", .help = "tables only, no charts", .fill = job::turn_off(request.pictures)});
  options.add(help_option());
  return options;
}

job::NamedFiles files_of(const ReportRequest& request) {
  job::NamedFiles files;
  files.write("-o", request.output);
  for (const std::string& input : request.inputs) files.read("RUN.json", input);
  return files;
}

/// Reads at most one byte more than the limit, which the parser then refuses.
std::string read_text(const io::File& file) {
  constexpr std::size_t kPieceBytes = 1 << 20;
  std::string text;
  while (text.size() <= job::kMaxReportBytes) {
    const std::size_t before = text.size();
    text.resize(before + kPieceBytes);
    const std::size_t bytes = file.read(std::as_writable_bytes(std::span(text).subspan(before)));
    text.resize(before + bytes);
    if (bytes < kPieceBytes) break;
  }
  return text;
}

/// The number of runs, ranks and phases on the page, over all files so far.
struct Extent {
  std::size_t runs = 0;
  std::size_t ranks = 0;
  std::size_t phases = 0;

  void add(const job::RunReport& run) {
    ++runs;
    ranks += run.ranks.size();
    for (const job::RankReport& rank : run.ranks) phases += rank.phases.size();
    const auto check = [&](std::size_t count, std::size_t most, const char* what) {
      if (count > most) throw job::ReportError(run.file, "/", fmt::format("more than {} {} in all files", most, what));
    };
    check(runs, job::kMaxRuns, "runs");
    check(ranks, job::kMaxRanks, "ranks");
    check(phases, job::kMaxPhases, "phases");
  }
};

std::vector<job::RunReport> read_all(const std::vector<std::string>& inputs) {
  // Opening a FIFO waits for its writer: report other files that are missing before.
  for (const std::string& input : inputs)
    if (input != "-") io::File::check_readable(input);
  std::vector<job::RunReport> runs;
  Extent extent;
  for (const std::string& input : inputs) {
    const bool is_stdin = input == "-";
    const std::string text = read_text(is_stdin ? io::standard_input() : io::File::open_read(input));
    for (job::RunReport& run : job::read_runs(text, is_stdin ? "standard input" : input)) {
      extent.add(run);
      runs.push_back(std::move(run));
    }
  }
  return runs;
}

/// Returns the page, the timelines as text, or the table.
std::string rendered(std::vector<job::RunReport> runs, const ReportRequest& request) {
  if (request.form == ReportForm::kText) return text_timelines(runs);
  if (request.form == ReportForm::kCsv) return runs_csv(runs);
  const Report report(std::move(runs));
  return report_page(report, request.pictures ? draw_pictures(report) : no_pictures(report));
}

int make_report(const ReportRequest& request) {
  files_of(request).check(comm::Communicator());
  std::optional<io::OutputFile> output;
  if (request.output != "-") output.emplace(request.output);
  const std::string page = rendered(read_all(request.inputs), request);
  if (output)
    job::write_text(*output, page);
  else
    write_output(page);
  return 0;
}

}  // namespace

job::Options report_options() {
  static ReportRequest unused;
  return options_of(unused);
}

int report_command(Arguments arguments) {
  ReportRequest request;
  job::Options options = options_of(request);
  const CommandLine line = parse_command_line("report", arguments, options);
  if (line.help) return print_once(line.shared, help_text(kReportUsage, options));
  finish(request, line);
  return run_once(line.shared, [&] { return make_report(request); });
}

}  // namespace hetsort::cli
