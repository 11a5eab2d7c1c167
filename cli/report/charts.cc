// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
#include "cli/report/charts.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "cli/report/html.h"

namespace hetsort::cli {
namespace {

/// Half the width of the page, for two charts side by side.
constexpr std::size_t kHalfWidth = 600;

std::vector<std::string> rank_labels(const job::RunReport& run) {
  std::vector<std::string> labels;
  for (const job::RankReport& rank : run.ranks) labels.push_back(job::rank_label(rank));
  return labels;
}

std::string phase_tip(const job::RunReport& run, const job::RankReport& rank, const job::PhaseSpan& phase) {
  std::string tip = fmt::format("rank {}: {}, {} s ({} to {})", job::rank_label(rank), phase.name,
                                seconds_text(phase.seconds()), seconds_text(phase.begin), seconds_text(phase.end));
  if (!(phase.waited() > 0)) return tip;
  tip += fmt::format("; worked {} s, waited {} s", seconds_text(phase.worked()), seconds_text(phase.waited()));
  const std::string longest = waited_for_text(run, phase);
  return longest.empty() ? tip : tip + ", for blocks: " + longest;
}

Bar wait_bar(const job::RankReport& rank, const job::PhaseSpan& phase, const job::WaitReport& wait) {
  constexpr double kTop = -0.4;
  return {.left = wait.begin,
          .right = wait.end,
          .top = kTop,
          .bottom = kTop + 0.8 * wait.part,
          .css_class = "waits",
          .tip = fmt::format("rank {}: {} of its threads wait in {} ({} to {})", job::rank_label(rank),
                             percent_text(wait.part), phase.name, seconds_text(wait.begin), seconds_text(wait.end))};
}

/// Adds the waits of all ranks, unless the chart would have too many bars then.
void add_waits(Chart& chart, const job::RunReport& run) {
  std::vector<Bar> waits;
  for (std::size_t row = 0; row < run.ranks.size(); ++row)
    for (const job::PhaseSpan& phase : run.ranks[row].phases)
      for (const job::WaitReport& wait : phase.waits) {
        waits.push_back(wait_bar(run.ranks[row], phase, wait));
        waits.back().row = row;
      }
  if (chart.bars.size() + waits.size() <= kMaxBars) chart.bars.insert(chart.bars.end(), waits.begin(), waits.end());
}

Bar phase_bar(const job::RunReport& run, const job::RankReport& rank, std::size_t index, std::size_t run_number,
              const std::string& css_class) {
  const job::PhaseSpan& phase = rank.phases[index];
  return {.left = phase.begin,
          .right = phase.end,
          .css_class = "bar " + css_class,
          .attributes = {{"id", fmt::format("run{}-rank{}-phase{}", run_number, rank.rank, index)},
                         {"data-run", std::to_string(run_number)},
                         {"data-rank", std::to_string(rank.rank)},
                         {"data-phase", phase.name},
                         {"data-begin", fmt::format("{}", phase.begin)},
                         {"data-end", fmt::format("{}", phase.end)}},
          .tip = phase_tip(run, rank, phase),
          .text = phase.name};
}

}  // namespace

RecordScale record_scale(std::uint64_t end) {
  constexpr std::array kScales{RecordScale{1e9, "billion records"}, RecordScale{1e6, "million records"},
                               RecordScale{1e3, "thousand records"}};
  for (const RecordScale& scale : kScales)
    if (static_cast<double>(end) >= 2 * scale.divisor) return scale;
  return {1, "records"};
}

PhaseColours::PhaseColours(const std::vector<job::RunReport>& runs) {
  for (const job::RunReport& run : runs)
    for (const job::RankReport& rank : run.ranks)
      for (const job::PhaseSpan& phase : rank.phases)
        if (places_.emplace(phase.name, names_.size()).second) names_.push_back(phase.name);
}

std::string PhaseColours::css_class(const std::string& name) const {
  return fmt::format("phase{}", places_.at(name) % kPhaseColours);
}

Chart timeline_chart(const job::RunReport& run, std::size_t number, const PhaseColours& colours, double end) {
  Chart chart{.title = fmt::format("Timeline of run {}: phases of each rank", number),
              .rows = rank_labels(run),
              .bars = {},
              .axis = "seconds since the start",
              .end = std::max(end, kMinAxisSeconds) * kHeadroom};
  for (std::size_t row = 0; row < run.ranks.size(); ++row) {
    for (std::size_t i = 0; i < run.ranks[row].phases.size(); ++i) {
      chart.bars.push_back(phase_bar(run, run.ranks[row], i, number, colours.css_class(run.ranks[row].phases[i].name)));
      chart.bars.back().row = row;
    }
  }
  add_waits(chart, run);
  return chart;
}

std::string waited_for_text(const job::RunReport& run, const job::PhaseSpan& phase) {
  std::string text;
  for (const job::WaitedFor& waited : phase.waited_for) {
    text += fmt::format("{}{} s rank {}", text.empty() ? "" : ", ", seconds_text(waited.seconds),
                        run.label_of_rank(waited.rank));
  }
  return text;
}

Chart shares_chart(const job::RunReport& run) {
  std::uint64_t end = 1;
  for (const job::RankReport& rank : run.ranks) end = std::max({end, rank.planned_output_records, rank.output_records});
  const RecordScale scale = record_scale(end);
  Chart chart{.title = "Output share of each rank, planned and actual",
              .rows = rank_labels(run),
              .bars = {},
              .axis = scale.words,
              .end = static_cast<double>(end) / scale.divisor * kHeadroom,
              .width = kHalfWidth};
  for (std::size_t row = 0; row < run.ranks.size(); ++row) {
    const auto add = [&](std::uint64_t records, double half_height, const char* name) {
      chart.bars.push_back({.row = row,
                            .right = static_cast<double>(records) / scale.divisor,
                            .top = -half_height,
                            .bottom = half_height,
                            .css_class = name,
                            .tip = fmt::format("rank {}: {} records {}", chart.rows[row], count_text(records), name)});
    };
    add(run.ranks[row].planned_output_records, 0.4, "planned");
    add(run.ranks[row].output_records, 0.2, "actual");
  }
  return chart;
}

Chart rates_chart(const job::RunReport& run) {
  Chart chart{.title = "MB/s read, written and sent by each rank",
              .rows = rank_labels(run),
              .bars = {},
              .axis = "MB/s",
              .width = kHalfWidth};
  for (std::size_t row = 0; row < run.ranks.size(); ++row) {
    const job::RankReport& rank = run.ranks[row];
    const double seconds = rank.busy_seconds();
    if (seconds == 0) continue;
    const auto add = [&](std::uint64_t bytes, double top, const char* name) {
      if (bytes == 0) return;
      const double rate = static_cast<double>(bytes) / seconds / 1e6;
      chart.end = std::max(chart.end, rate * kHeadroom);
      chart.bars.push_back(
          {.row = row,
           .right = rate,
           .top = top,
           .bottom = top + 0.25,
           .css_class = name,
           .tip = fmt::format("rank {}: {} MB/s {}", chart.rows[row], rate_text(bytes, seconds), name)});
    };
    add(rank.bytes_read, -0.4, "read");
    add(rank.bytes_written, -0.13, "written");
    add(rank.bytes_sent, 0.14, "sent");
  }
  return chart;
}

}  // namespace hetsort::cli
