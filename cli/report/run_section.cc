// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
//
// The section about one run: its figures, timeline, shares and rates.
#include <fmt/format.h>

#include <algorithm>

#include "cli/report/html.h"
#include "cli/report/page.h"
#include "cli/terminal/columns.h"

namespace hetsort::cli {
namespace {

/// A legend names at most this many phases; tooltips and the table name all.
constexpr std::size_t kMaxSamples = 24;
constexpr std::size_t kMaxPhaseCharacters = 24;

std::string fact(const std::string& name, const std::string& value) {
  constexpr std::size_t kNarrow = 24;  // characters that fit one column of the grid
  if (value.empty()) return "";
  return fmt::format("<div{}><dt>{}</dt><dd>{}</dd></div>\n", value.size() > kNarrow ? " class=\"long\"" : "",
                     escaped(name), escaped(value));
}

std::string facts(const Report& report, const job::RunReport& run) {
  std::string list =
      fact("file", run.file) + fact("strategy", run.strategy) + fact("exchange", run.exchange) +
      fact("records", count_text(run.records)) + fact("bytes", bytes_text(run.bytes)) +
      fact("seconds", seconds_text(run.seconds)) +
      fact("predicted seconds", run.predicted_seconds ? seconds_text(*run.predicted_seconds) : "") +
      fact("seconds since the process began", run.process_seconds ? seconds_text(*run.process_seconds) : "") +
      fact("joules", run.joules ? fmt::format("{:.0f}", *run.joules) : "") +
      fact("MB/s", rate_text(run.bytes, run.seconds)) + fact("fingerprint", run.fingerprint) +
      fact("checksum", run.checksum);
  if (report.runs.size() > 1)
    for (const auto& entry : run.context)
      if (!report.common.contains(entry)) list += fact(entry.first, entry.second);
  return "<dl>\n" + list + "</dl>\n";
}

std::string shares_table(const job::RunReport& run) {
  Table table("Shares, records",
              {"rank", "#planned input", "#input", "#planned output", "#output", "#of all", "#output \u2212 planned"});
  for (const job::RankReport& rank : run.ranks) {
    const bool more = rank.output_records >= rank.planned_output_records;
    const std::uint64_t difference =
        more ? rank.output_records - rank.planned_output_records : rank.planned_output_records - rank.output_records;
    table.add({job::rank_label(rank), count_text(rank.planned_input_records), count_text(rank.input_records),
               count_text(rank.planned_output_records), count_text(rank.output_records),
               run.records == 0
                   ? std::string(kNothing)
                   : percent_text(static_cast<double>(rank.output_records) / static_cast<double>(run.records)),
               (difference == 0 ? ""
                : more          ? "+"
                                : "\u2212") +
                   count_text(difference)});
  }
  return table.html();
}

std::string rates_table(const job::RunReport& run) {
  Table table("Rates, MB/s from a rank's begin to its finish",
              {"rank", "#worked s", "#waited s", "#read", "#written", "#of it spilled", "#sent", "#received"});
  for (const job::RankReport& rank : run.ranks) {
    const double busy = rank.busy_seconds();
    const double waited = rank.waited_seconds();
    std::vector<std::string> cells{job::rank_label(rank), seconds_text(std::max(0.0, busy - waited)),
                                   seconds_text(waited)};
    for (const std::uint64_t bytes :
         {rank.bytes_read, rank.bytes_written, rank.bytes_spilled, rank.bytes_sent, rank.bytes_received})
      cells.push_back(rate_text(bytes, busy));
    table.add(cells);
  }
  return table.html();
}

std::string predictions_table(const job::RunReport& run) {
  if (!run.has_predictions()) return "";
  const std::string nothing(kNothing);
  Table table("Measured and predicted seconds", {"rank", "#form_runs, measured", "#predicted", "#ratio", "bound by",
                                                 "#exchange, measured", "#predicted", "#ratio", "bound by"});
  const auto add = [&](std::vector<std::string>& cells, const std::optional<job::PhaseComparison>& of) {
    if (!of) return cells.insert(cells.end(), 4, nothing);
    cells.push_back(of->measured ? seconds_text(*of->measured) : nothing);
    cells.push_back(seconds_text(of->predicted));
    cells.push_back(of->ratio() ? fmt::format("{:.2f}", *of->ratio()) : nothing);
    return cells.insert(cells.end(), of->bound);
  };
  for (const job::RankReport& rank : run.ranks) {
    std::vector<std::string> cells{job::rank_label(rank)};
    add(cells, job::compare_form(rank));
    add(cells, job::compare_exchange(run, rank));
    table.add(cells);
  }
  return table.html() +
         "<p class=\"small\">Measured: the time that the rank worked, without waits for others. If a link bounds the "
         "rank: its whole exchange; none if another rank took longer.</p>\n";
}

/// What `auto` measured, in millions of records or of bytes.
std::string measured_table(const job::RunReport& run) {
  if (std::ranges::none_of(run.ranks, [](const job::RankReport& rank) { return rank.measured.has_value(); })) return "";
  constexpr double kMega = 1e6;
  const auto rate = [](std::optional<double> each_second) {
    return each_second ? fmt::format("{:.1f}", *each_second / kMega) : std::string(kNothing);
  };
  const auto records = [&](const job::MeasuredRank& of, double seconds) {
    return rate(seconds > 0 ? std::optional(of.processors / seconds) : std::nullopt);
  };
  Table table("Measured before the plan", {"rank", "#million records/s formed", "#merged", "#link in, MB/s",
                                           "#link out, MB/s", "#disk write, MB/s", "#ns to send a byte"});
  for (const job::RankReport& rank : run.ranks) {
    const job::MeasuredRank found = rank.measured.value_or(job::MeasuredRank{});
    table.add({job::rank_label(rank), records(found, found.form_seconds), records(found, found.merge_seconds),
               rate(found.link_in), rate(found.link_out), rate(found.disk_write),
               found.message_seconds ? fmt::format("{:.2f}", *found.message_seconds * 1e9) : std::string(kNothing)});
  }
  return table.html();
}

std::string machine_table(const job::RunReport& run) {
  Table table("Bytes, memory and threads", {"rank", "#threads", "#runs", "#read", "#written", "#of it spilled", "#sent",
                                            "#received", "#memory limit", "#peak memory", "#processor s on messages"});
  for (const job::RankReport& rank : run.ranks)
    table.add({job::rank_label(rank), count_text(rank.threads), count_text(rank.runs), bytes_text(rank.bytes_read),
               bytes_text(rank.bytes_written), bytes_text(rank.bytes_spilled), bytes_text(rank.bytes_sent),
               bytes_text(rank.bytes_received), bytes_text(rank.memory_limit_bytes), bytes_text(rank.peak_rss_bytes),
               seconds_text(rank.communication_cpu_seconds)});
  return table.html();
}

/// What ranks did in place of others that fell behind.
std::string moved_table(const job::RunReport& run) {
  const auto is_usual = [](const job::RankReport& rank) { return rank.taken.empty() && rank.copied.empty(); };
  if (std::ranges::all_of(run.ranks, is_usual)) return "";
  const std::string nothing(kNothing);
  Table table("Work in place of ranks that fell behind",
              {"rank", "in place of", "#ranges merged", "#bytes", "#records formed again"});
  for (const job::RankReport& rank : run.ranks) {
    for (const job::TakenPart& taken : rank.taken)
      table.add({job::rank_label(rank), run.label_of_rank(taken.from), count_text(taken.ranges),
                 bytes_text(taken.bytes), nothing});
    for (const job::CopiedPart& copied : rank.copied)
      table.add({job::rank_label(rank), run.label_of_rank(copied.from), nothing, nothing, count_text(copied.records)});
  }
  return table.html();
}

std::string outputs_table(const job::RunReport& run) {
  if (!run.has_several_outputs()) return "";
  Table table("Files of the output", {"rank", "file", "#bytes of records"});
  for (const job::RankReport& rank : run.ranks)
    for (const job::OutputPart& output : rank.outputs)
      table.add({job::rank_label(rank), output.path, bytes_text(output.bytes)});
  return table.html();
}

/// The timeline as a table with one row for each bar.
std::string phases_table(const job::RunReport& run, bool open) {
  Table table("Phases, seconds since the start",
              {"rank", "phase", "#begin", "#end", "#seconds", "#worked", "#waited", "longest for"});
  for (const job::RankReport& rank : run.ranks)
    for (const job::PhaseSpan& phase : rank.phases)
      table.add({job::rank_label(rank), phase.name, seconds_text(phase.begin), seconds_text(phase.end),
                 seconds_text(phase.seconds()), seconds_text(phase.worked()), seconds_text(phase.waited()),
                 waited_for_text(run, phase)});
  return fmt::format("<details{}><summary>The timeline in figures</summary>\n{}</details>\n", open ? " open" : "",
                     table.html());
}

std::string legend(const Report& report) {
  const std::vector<std::string>& names = report.colours.names();
  std::string html;
  for (std::size_t i = 0; i < names.size() && i < kMaxSamples; ++i)
    html += sample(report.colours.css_class(names[i]), shortened(names[i], kMaxPhaseCharacters, kEllipsis));
  return html + (names.size() > kMaxSamples ? "and more" : "");
}

std::string title(const job::RunReport& run, std::size_t number) {
  std::string text = fmt::format("Run {}: {}", number, run.strategy);
  if (!run.exchange.empty()) text += ", exchange " + run.exchange;
  if (run.round) text += fmt::format(", round {}", *run.round);
  return text + fmt::format(", {} s", seconds_text(run.seconds)) + (run.error.empty() ? "" : " (failed)");
}

}  // namespace

std::string run_section(const Report& report, std::size_t index, const Pictures::OfRun& pictures, bool open) {
  const job::RunReport& run = report.runs[index];
  std::string html = fmt::format("<section id=\"run-{}\"><details class=\"run\"{}><summary><h2>{}</h2></summary>\n",
                                 index + 1, open ? " open" : "", escaped(title(run, index + 1)));
  if (!run.error.empty()) html += fmt::format("<p class=\"error\">Failed: {}</p>\n", escaped(run.error));
  if (report.runs.size() > 1) html += explanation_of(run);
  html += facts(report, run);
  html +=
      figure(pictures.timeline, "Phases of each rank: " + legend(report) + sample("waits", "waiting for other ranks"));
  if (!pictures.note.empty()) html += fmt::format("<p class=\"note\">{}</p>\n", escaped(pictures.note));
  html += phases_table(run, pictures.timeline.empty());
  const std::string shares =
      figure(pictures.shares, "Output shares: " + sample("planned", "planned") + sample("actual", "actual"));
  const std::string rates =
      figure(pictures.rates, "MB/s: " + sample("read", "read") + sample("written", "written") + sample("sent", "sent"));
  html += "<div class=\"pair\">" + shares + rates + "</div>\n";
  html += "<div class=\"tables\">" + shares_table(run) + rates_table(run) + "</div>\n" + predictions_table(run) +
          measured_table(run) + moved_table(run) + machine_table(run) + outputs_table(run);
  return html + "</details></section>\n";
}

}  // namespace hetsort::cli
