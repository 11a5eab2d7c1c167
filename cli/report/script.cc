// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
#include "cli/report/script.h"

#include <fmt/format.h>

#include <algorithm>

namespace hetsort::cli {
namespace {

constexpr std::size_t kFewRows = 40;
constexpr std::size_t kRowPixels = 30;
constexpr std::size_t kManyRowsPixels = 15;
constexpr std::size_t kAxisPixels = 48;
constexpr std::size_t kTopPixels = 8;
constexpr std::size_t kRightPixels = 24;
constexpr double kCharacterPixels = 7.0;

std::size_t row_pixels(const Chart& chart) { return chart.rows.size() <= kFewRows ? kRowPixels : kManyRowsPixels; }

/// Bytes stand for characters here: more room than needed for what is not ASCII.
std::size_t left_pixels(const Chart& chart) {
  std::size_t longest = 4;
  for (const std::string& row : chart.rows) longest = std::max(longest, std::min(row.size(), kLabelCharacters));
  return static_cast<std::size_t>(static_cast<double>(longest) * kCharacterPixels) + 16;
}

double plot_pixels(const Chart& chart) { return static_cast<double>(chart.width - left_pixels(chart) - kRightPixels); }

/// The text goes inside when there is room for it, by a generous estimate.
bool has_room(const Chart& chart, const Bar& bar) {
  if (bar.text.empty() || chart.rows.size() > kFewRows) return false;
  const double pixels = (bar.right - bar.left) / chart.most * plot_pixels(chart);
  return static_cast<double>(bar.text.size() + 1) * kCharacterPixels < pixels;
}

std::string axes(const Chart& chart, std::size_t number) {
  const auto whole_height = static_cast<double>(chart_height(chart));
  std::string script = fmt::format(
      "reset\nset terminal svg size {},{} dynamic noenhanced font 'sans-serif,12' name 'chart{}'\n"
      "set style fill solid 1.0 noborder\nunset key\nset border 1\nset grid xtics\n"
      "set lmargin at screen {}\nset rmargin at screen {}\nset tmargin at screen {}\nset bmargin at screen {}\n"
      "set xrange [0:{}]\nset yrange [{}:-0.5]\nset xtics nomirror scale 0.5 offset 0,0.4\nset xlabel '~{}~' offset "
      "0,0.7\n",
      chart.width, chart_height(chart), number,
      static_cast<double>(left_pixels(chart)) / static_cast<double>(chart.width),
      1 - static_cast<double>(kRightPixels) / static_cast<double>(chart.width), 1 - kTopPixels / whole_height,
      kAxisPixels / whole_height, chart.most, static_cast<double>(chart.rows.size()) - 0.5, axis_mark(chart));
  std::string tics;
  for (std::size_t row = 0; row < chart.rows.size(); ++row)
    tics += fmt::format("{}'~{}~' {}", row == 0 ? "" : ", ", row, row);
  return script + fmt::format("set ytics nomirror scale 0 ({})\n", tics);
}

}  // namespace

std::size_t chart_height(const Chart& chart) {
  return chart.rows.size() * row_pixels(chart) + kAxisPixels + kTopPixels;
}

bool drawable(const Chart& chart) {
  return !chart.bars.empty() && chart.bars.size() <= kMostBars && chart.rows.size() <= kMostRows && chart.most > 0;
}

std::size_t bar_mark(const Chart& chart, std::size_t bar) { return chart.rows.size() + bar; }
std::size_t axis_mark(const Chart& chart) { return chart.rows.size() + chart.bars.size(); }

std::string chart_script(const Chart& chart, std::size_t number) {
  std::string labels;
  std::string plots;
  std::string data;
  const double pixel = chart.most / plot_pixels(chart);
  for (std::size_t i = 0; i < chart.bars.size(); ++i) {
    const Bar& bar = chart.bars[i];
    const auto row = static_cast<double>(bar.row);
    plots += fmt::format("{}'-' using 1:2:3:4:5:6 with boxxyerror linecolor rgb '#808080'", i == 0 ? "plot " : ", ");
    data += fmt::format("{} {} {} {} {} {}\ne\n", bar.left, row, bar.left, std::max(bar.right, bar.left + pixel),
                        row + bar.top, row + bar.bottom);
    if (has_room(chart, bar))
      labels += fmt::format("set label '~{}~' at {},{} center front textcolor rgb '#ffffff'\n", bar_mark(chart, i),
                            (bar.left + bar.right) / 2, row + (bar.top + bar.bottom) / 2);
  }
  return axes(chart, number) + labels + plots + "\n" + data;
}

}  // namespace hetsort::cli
