// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
#include "cli/commands/compare_table.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "cli/report/csv.h"
#include "cli/report/groups.h"
#include "cli/terminal/columns.h"
#include "cli/terminal/messages.h"
#include "job/report/json.h"

namespace hetsort::cli {

namespace {

constexpr std::size_t kName = 20;

std::string predicted(const RunGroup& group) {
  if (!group.predicted_seconds) return fmt::format("{:>9} {:>8}", "-", "-");
  const double off = group.median_seconds > 0 ? *group.predicted_seconds / group.median_seconds - 1 : 0;
  return fmt::format("{:>9.3f} {:>+6.1f} %", *group.predicted_seconds, 100 * off);
}

/// The times at which the ranks were done with their work, as many to a line as fit.
std::string finishes(const RunGroup& group) {
  std::string text;
  std::string line = fmt::format("{:<{}}", shortened(group.label, kName), kName);
  for (std::size_t rank = 0; rank < group.finishes.size(); ++rank) {
    const std::string entry =
        fmt::format("  {} {:.3f}", shortened(terminal_safe(group.rank_names[rank]), kName), group.finishes[rank]);
    if (line.size() + entry.size() > kColumns) {
      text += line + "\n";
      line = std::string(kName, ' ');
    }
    line += entry;
  }
  return text + line + "\n";
}

}  // namespace

std::string compare_json(const ComparedRounds& rounds) {
  using Json = nlohmann::ordered_json;
  Json all{{"schema", "hetsort.compare/1"}, {"rounds", Json::array()}};
  for (const auto& round : rounds) {
    Json& runs = all["rounds"].emplace_back(Json::object());
    for (const auto& [strategy, report] : round) runs[strategy] = Json::parse(report);
  }
  return job::json_text(all) + "\n";
}

std::string compare_csv(const ComparedRounds& rounds) {
  return runs_csv(job::read_runs(compare_json(rounds), "comparison"));
}

std::string compare_table(const ComparedRounds& rounds) {
  const std::vector<job::RunReport> runs = job::read_runs(compare_json(rounds), "comparison");
  std::vector<RunGroup> groups = group_runs(runs);
  std::stable_sort(groups.begin(), groups.end(),
                   [](const RunGroup& a, const RunGroup& b) { return a.median_seconds < b.median_seconds; });
  const job::RunReport& first = runs.front();
  std::string text = fmt::format("{} records on {} rank{}, {} round{}; seconds\n\n", first.records, first.ranks.size(),
                                 first.ranks.size() == 1 ? "" : "s", rounds.size(), rounds.size() == 1 ? "" : "s");
  text += fmt::format("{:<{}} {:>9} {:>9} {:>7} {:>9} {:>8} {:>11}\n", "strategy", kName, "median", "+- half", "spread",
                      "predicted", "off", "finish gap");
  for (const RunGroup& group : groups)
    text += fmt::format("{:<{}} {:>9.3f} {:>9.3f} {:>5.1f} % {} {:>9.1f} %\n", shortened(group.label, kName), kName,
                        group.median_seconds, (group.max_seconds - group.min_seconds) / 2, 100 * group.spread(),
                        predicted(group), 100 * group.finish_spread());
  text += "\nspread: (most - least) / median. finish gap: (latest - earliest) / latest rank.\n";
  text += "\nwhen each rank was done with its work, median\n";
  for (const RunGroup& group : groups) text += finishes(group);
  return text;
}

}  // namespace hetsort::cli
