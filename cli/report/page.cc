// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
#include "cli/report/page.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "cli/report/html.h"
#include "cli/report/style.h"
#include "cli/terminal/columns.h"
#include "job/report/version.h"

namespace hetsort::cli {
namespace {

/// Up to this many runs are all shown open. With more runs, only the run nearest to the median of each group is.
constexpr std::size_t kMaxOpenRuns = 4;

/// Runs shorter than this fraction of the longest run get their own time axis; all others share one.
constexpr double kShortRun = 0.25;

double axis_of(const job::RunReport& run, double longest) {
  return run.last_event() < kShortRun * longest ? run.last_event() : longest;
}

std::set<const job::RunReport*> opened_runs(const Report& report) {
  std::set<const job::RunReport*> opened;
  for (const RunGroup& group : report.groups) {
    const auto distance = [&](const job::RunReport* run) { return std::abs(run->seconds - group.median_seconds); };
    const auto nearest = std::min_element(
        group.runs.begin(), group.runs.end(),
        [&](const job::RunReport* left, const job::RunReport* right) { return distance(left) < distance(right); });
    if (nearest != group.runs.end()) opened.insert(*nearest);
  }
  if (report.runs.size() <= kMaxOpenRuns || opened.empty())
    for (const job::RunReport& run : report.runs) opened.insert(&run);
  return opened;
}

std::string counted(std::size_t count, const char* one, const char* many) {
  return fmt::format("{} {}", count, count == 1 ? one : many);
}

std::string header(const Report& report) {
  std::set<std::string> files;
  std::set<std::string> strategies;
  for (const job::RunReport& run : report.runs) {
    files.insert(run.file);
    strategies.insert(run.strategy);
  }
  std::string names;
  for (const std::string& file : files) names += (names.empty() ? "" : ", ") + escaped(file);
  std::string contents = report.runs.size() == 1 ? "" : "<li><a href=\"#comparison\">Comparison</a></li>";
  for (std::size_t i = 0; i < report.runs.size(); ++i)
    contents += fmt::format("<li><a href=\"#run-{0}\">Run {0}: {1}</a></li>", i + 1,
                            escaped(shortened(report.runs[i].strategy, 24, kEllipsis)));
  contents += "<li><a href=\"#environment\">Environment</a></li>";
  const std::string explanation = report.runs.size() == 1 ? explanation_of(report.runs.front()) : "";
  return fmt::format(
      "<a class=\"skip\" href=\"#main\">Skip to the report</a>\n<header><h1>hetsort report</h1>\n"
      "<p>{}, {}, from {}</p>{}</header>\n<nav aria-label=\"Contents\"><ul>{}</ul></nav>\n",
      counted(report.runs.size(), "run", "runs"), counted(strategies.size(), "strategy", "strategies"), names,
      explanation, contents);
}

}  // namespace

std::string explanation_of(const job::RunReport& run) {
  if (run.explanation.empty()) return "";
  return fmt::format("<p class=\"note\">The plan: {}.</p>\n", escaped(run.explanation));
}

std::string figure(const std::string& svg, const std::string& caption_html) {
  if (svg.empty()) return "";
  return fmt::format("<figure>\n{}<figcaption>{}</figcaption></figure>\n", svg, caption_html);
}

std::string sample(const std::string& css_class, const std::string& name) {
  return fmt::format("<span class=\"entry\"><span class=\"sample {}\"></span>{}</span> ", css_class, escaped(name));
}

Pictures no_pictures(const Report& report) {
  Pictures pictures;
  pictures.omitted = true;
  pictures.runs.resize(report.runs.size());
  return pictures;
}

Pictures draw_pictures(const Report& report) {
  double longest = 0;
  for (const job::RunReport& run : report.runs) longest = std::max(longest, run.last_event());
  std::vector<Chart> charts{seconds_chart(report.groups), finishes_chart(report.groups)};
  for (std::size_t i = 0; i < report.runs.size(); ++i) {
    const job::RunReport& run = report.runs[i];
    charts.push_back(timeline_chart(run, i + 1, report.colours, axis_of(run, longest)));
    charts.push_back(shares_chart(run));
    charts.push_back(rates_chart(run));
  }
  std::vector<std::string> drawn;
  drawn.reserve(charts.size());
  for (const Chart& chart : charts) drawn.push_back(draw(chart));
  Pictures pictures{.seconds = drawn[0], .finishes = drawn[1], .runs = {}};
  for (std::size_t i = 2; i < drawn.size(); i += 3) {
    const bool left_out = drawn[i].empty() && !charts[i].bars.empty();
    pictures.runs.push_back({drawn[i], drawn[i + 1], drawn[i + 2], left_out ? "No timeline: too many bars." : ""});
  }
  return pictures;
}

std::string report_page(const Report& report, const Pictures& pictures) {
  const std::set<const job::RunReport*> opened = opened_runs(report);
  std::string page = fmt::format(
      "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
      "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'\">\n"
      "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
      "<meta name=\"color-scheme\" content=\"light dark\">\n<meta name=\"generator\" content=\"hetsort {}\">\n"
      "<title>hetsort report: {}{}</title>\n<style>\n{}</style>\n</head>\n<body>\n",
      job::kVersion, escaped(report.runs.front().file), report.runs.size() == 1 ? "" : " ...", kReportStyle);
  page += header(report) + "<main id=\"main\">\n";
  if (pictures.omitted) page += "<p class=\"note\">This page has tables only: --no-pictures was given.</p>\n";
  if (report.runs.size() > 1) page += comparison_section(report, pictures);
  for (std::size_t i = 0; i < report.runs.size(); ++i)
    page += run_section(report, i, pictures.runs[i], opened.contains(&report.runs[i]));
  page += environment_section(report);
  return page + fmt::format("</main>\n<footer>Made by hetsort {}</footer>\n</body>\n</html>\n", job::kVersion);
}

}  // namespace hetsort::cli
