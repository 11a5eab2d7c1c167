// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
#include "cli/report/text.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <string_view>

#include "cli/report/html.h"
#include "cli/terminal/columns.h"
#include "order/lines/characters.h"

namespace hetsort::cli {
namespace {

constexpr std::size_t kMaxNameCharacters = 20;  ///< maximum characters of a rank's name
constexpr std::size_t kFrameColumns = 5;        ///< number of characters around a timeline and its seconds
constexpr std::size_t kMinSecondsColumns = 6;
constexpr char kNoLetterLeft = '#';
constexpr char kWaiting = '.';
constexpr double kMinWaitingPart = 0.5;  ///< smallest part of its threads that shows a rank as waiting

/// Replaces control characters and bytes beyond ASCII by '?', so that the text cannot control a terminal.
std::string harmless(std::string text) {
  for (char& c : text)
    if (c < ' ' || c == '\x7f' || static_cast<unsigned char>(c) > '\x7f') c = '?';
  return text;
}

std::string label_of(const job::RankReport& rank) {
  return harmless(job::rank_label(rank)).substr(0, kMaxNameCharacters);
}

bool is_shown(const job::WaitReport& wait) { return wait.part >= kMinWaitingPart; }

/// A letter for each phase, in order of first appearance: the first letter of its name that no earlier phase has.
class Letters {
 public:
  explicit Letters(const std::vector<job::RunReport>& runs) {
    for (const job::RunReport& run : runs)
      for (const job::RankReport& rank : run.ranks)
        for (const job::PhaseSpan& phase : rank.phases) add(phase);
  }
  char of(const std::string& phase) const { return find(phase)->second; }
  /// The legend, broken into lines of at most kColumns characters.
  std::string legend() const {
    const std::string begin = "Phases: ";
    std::string text;
    std::string line = begin;
    std::vector<Entry> entries = letters_;
    if (has_waits_) entries.emplace_back("waiting", kWaiting);
    for (std::size_t i = 0; i < entries.size(); ++i) {
      std::string entry =
          fmt::format("{} {}", entries[i].second, harmless(entries[i].first).substr(0, kMaxNameCharacters));
      if (i + 1 < entries.size()) entry += ",";
      if (line.size() + entry.size() > kColumns) {
        text += line.substr(0, line.size() - 1) + "\n";
        line = std::string(begin.size(), ' ');
      }
      line += entry + " ";
    }
    return text + line.substr(0, line.size() - 1);
  }

 private:
  using Entry = std::pair<std::string, char>;

  std::vector<Entry>::const_iterator find(const std::string& phase) const {
    return std::find_if(letters_.begin(), letters_.end(), [&](const Entry& entry) { return entry.first == phase; });
  }
  void add(const job::PhaseSpan& span) {
    const std::string& phase = span.name;
    has_waits_ = has_waits_ || std::ranges::any_of(span.waits, is_shown);
    if (find(phase) != letters_.end()) return;
    const auto is_free = [&](char c) {
      return order::is_letter(c) &&
             std::none_of(letters_.begin(), letters_.end(), [c](const Entry& entry) { return entry.second == c; });
    };
    const auto found = std::find_if(phase.begin(), phase.end(), is_free);
    letters_.emplace_back(phase, found == phase.end() ? kNoLetterLeft : *found);
  }

  std::vector<Entry> letters_;
  bool has_waits_ = false;
};

/// The sign of a phase at a moment inside it.
char sign_at(const job::PhaseSpan& phase, double moment, const Letters& letters) {
  const auto waits = [moment](const job::WaitReport& wait) {
    return is_shown(wait) && wait.begin <= moment && moment < wait.end;
  };
  return std::ranges::any_of(phase.waits, waits) ? kWaiting : letters.of(phase.name);
}

/// One sign a column: the phase of the rank at the middle of the column's time, or that it waits. Of two overlapping
/// phases it is the later one.
std::string timeline(const job::RankReport& rank, const Letters& letters, std::size_t columns, double most_seconds) {
  std::string line(columns, ' ');
  for (std::size_t column = 0; column < columns; ++column) {
    const double moment = (static_cast<double>(column) + 0.5) * most_seconds / static_cast<double>(columns);
    for (const job::PhaseSpan& phase : rank.phases)
      if (phase.begin <= moment && moment < phase.end) line[column] = sign_at(phase, moment, letters);
  }
  return line;
}

std::string heading(const job::RunReport& run, std::size_t number, const job::RunReport& first) {
  std::string text = fmt::format("Run {}: {}", number, harmless(run.strategy));
  if (!run.exchange.empty()) text += ", " + harmless(run.exchange);
  if (run.round) text += fmt::format(", round {}", *run.round);
  text += fmt::format(", {} records, {:.2f} s", count_text(run.records), run.seconds);
  if (!run.error.empty()) return text + ", failed: " + harmless(run.error);
  const bool is_comparable = number > 1 && first.error.empty() && first.seconds > 0 && first.records == run.records;
  return is_comparable ? text + fmt::format(", {:.2f} of run 1", run.seconds / first.seconds) : text;
}

constexpr std::size_t kNameColumns = 12;

/// Measured and predicted seconds, their ratio and what bounds the rank.
std::string comparison_text(const std::optional<job::PhaseComparison>& of) {
  constexpr std::size_t kBoundColumns = 11;
  const auto number = [](std::optional<double> value) { return value ? fmt::format("{:.2f}", *value) : "-"; };
  if (!of) return fmt::format("{:>8} {:>6} {:>5} {:<{}}", "-", "-", "-", "-", kBoundColumns);
  return fmt::format("{:>8} {:>6} {:>5} {:<{}}", number(of->measured), number(of->predicted), number(of->ratio()),
                     harmless(of->bound).substr(0, kBoundColumns), kBoundColumns);
}

/// The part of all input that was in the page cache, 0 to 1.
double input_cached(const job::RunReport& run) {
  double cached = 0;
  double all = 0;
  for (const job::RankReport& rank : run.ranks) {
    cached += rank.input_cached.value_or(0) * static_cast<double>(rank.input_records);
    all += static_cast<double>(rank.input_records);
  }
  return all > 0 ? cached / all : 0;
}

/// Without the spaces at its end, as a line.
std::string line_of(std::string text) {
  text.resize(text.find_last_not_of(' ') + 1);
  return text + "\n";
}

}  // namespace

std::string text_predictions(const job::RunReport& run) {
  if (!run.has_predictions()) return "";
  constexpr std::string_view kColumnNames = "measured   plan ratio bound by   ";
  std::string text = fmt::format("{:<{}} {:<33} exchange\n", "seconds", kNameColumns, "form_runs");
  text += line_of(fmt::format("{:<{}} {} {}", "rank", kNameColumns, kColumnNames, kColumnNames));
  for (const job::RankReport& rank : run.ranks)
    if (rank.predicted_form || rank.predicted_exchange)
      text += line_of(fmt::format("{:<{}} {} {}", label_of(rank).substr(0, kNameColumns), kNameColumns,
                                  comparison_text(job::compare_form(rank)),
                                  comparison_text(job::compare_exchange(run, rank))));
  if (run.predicted_seconds)
    text += fmt::format(
        "whole run {:.2f} s, predicted {:.2f} s{}\n", run.seconds, *run.predicted_seconds,
        *run.predicted_seconds > 0 ? fmt::format(", ratio {:.2f}", run.seconds / *run.predicted_seconds) : "");
  if (const double cached = input_cached(run); cached > 0)
    text += fmt::format("{:.0f} % of the input was in the page cache: no disk had to read that\n", 100 * cached);
  return text;
}

std::string text_moved_work(const job::RunReport& run) {
  std::string text;
  const auto name = [&](std::uint64_t rank) { return harmless(run.label_of_rank(rank)).substr(0, kNameColumns); };
  for (const job::RankReport& rank : run.ranks) {
    for (const job::TakenPart& taken : rank.taken)
      text += fmt::format("{} merged {} ranges ({:.1f} MB) in place of {}\n", name(rank.rank), taken.ranges,
                          static_cast<double>(taken.bytes) / 1e6, name(taken.from));
    for (const job::CopiedPart& copied : rank.copied)
      text += fmt::format("{} formed {} records again in place of {}\n", name(rank.rank), count_text(copied.records),
                          name(copied.from));
  }
  return text;
}

std::string text_timelines(const std::vector<job::RunReport>& runs) {
  const Letters letters(runs);
  std::size_t label_columns = 0;
  double most_seconds = 0;
  std::size_t seconds_columns = kMinSecondsColumns;
  for (const job::RunReport& run : runs) {
    most_seconds = std::max(most_seconds, run.last_event());
    for (const job::RankReport& rank : run.ranks) {
      label_columns = std::max(label_columns, label_of(rank).size());
      seconds_columns = std::max(seconds_columns, fmt::formatted_size("{:.2f}", rank.finish()));
    }
  }
  const std::size_t columns = kColumns - label_columns - kFrameColumns - seconds_columns;
  std::string text;
  for (std::size_t i = 0; i < runs.size(); ++i) {
    text += heading(runs[i], i + 1, runs.front()) + "\n";
    for (const job::RankReport& rank : runs[i].ranks) {
      text += fmt::format("{:<{}} |{}|{:>{}.2f} s\n", label_of(rank), label_columns,
                          timeline(rank, letters, columns, most_seconds), rank.finish(), seconds_columns);
    }
    text += text_predictions(runs[i]) + text_moved_work(runs[i]);
    if (!runs[i].explanation.empty()) text += "plan: " + harmless(runs[i].explanation) + "\n";
    text += "\n";
  }
  return text + letters.legend() + "\n";
}

}  // namespace hetsort::cli
