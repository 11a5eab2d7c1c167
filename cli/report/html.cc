// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
#include "cli/report/html.h"

#include <fmt/format.h>

#include <array>
#include <cassert>

#include "cli/terminal/messages.h"
#include "job/report/printable.h"

namespace hetsort::cli {

std::string escaped(std::string_view text) {
  std::string html;
  html.reserve(text.size());
  while (!text.empty()) {
    switch (text.front()) {
      case '&':
        html += "&amp;";
        break;
      case '<':
        html += "&lt;";
        break;
      case '>':
        html += "&gt;";
        break;
      case '"':
        html += "&quot;";
        break;
      case '\'':
        html += "&#39;";
        break;
      case '\n':
      case '\t':
        html += text.front();
        break;
      default:
        html += job::with_replacements(text.substr(0, job::character_bytes(text)), "\uFFFD");
    }
    text.remove_prefix(job::character_bytes(text));
  }
  return html;
}

std::string count_text(std::uint64_t count) {
  std::string digits = std::to_string(count);
  for (std::size_t i = digits.size(); i > 3; i -= 3) digits.insert(i - 3, ",");
  return digits;
}

std::string seconds_text(double seconds) {
  if (seconds == 0) return "0";
  if (seconds < 1e-3) return fmt::format("{:.2g}", seconds);
  return seconds < 10 ? fmt::format("{:.3f}", seconds) : fmt::format("{:.2f}", seconds);
}

std::string bytes_text(std::uint64_t bytes) {
  constexpr std::array kUnits{"kB", "MB", "GB", "TB", "PB", "EB"};
  if (bytes < 1000) return fmt::format("{} B", bytes);
  double value = static_cast<double>(bytes) / 1000;
  std::size_t unit = 0;
  constexpr double kRoundsTo1000 = 999.995;
  for (; value >= kRoundsTo1000 && unit + 1 < kUnits.size(); ++unit) value /= 1000;
  return fmt::format("{:.2f} {}", value, kUnits.at(unit));
}

std::string percent_text(double fraction) { return fmt::format("{:.1f} %", 100 * fraction); }

std::string rate_text(std::uint64_t bytes, double seconds) {
  constexpr double kShortest = 1e-6;
  if (!(seconds >= kShortest)) return std::string(kNothing);
  const double rate = static_cast<double>(bytes) / seconds / 1e6;
  return rate == 0 ? "0" : rate < 10 ? fmt::format("{:.3g}", rate) : fmt::format("{:.0f}", rate);
}

Table::Table(std::string_view caption, const std::vector<std::string_view>& columns) : caption_(escaped(caption)) {
  for (std::string_view name : columns) {
    const bool figure = name.starts_with('#');
    if (figure) name.remove_prefix(1);
    figures_.push_back(figure);
    head_ += fmt::format("<th scope=\"col\"{}>{}</th>", figure ? " class=\"n\"" : "", escaped(name));
  }
}

void Table::add(const std::vector<std::string>& cells) {
  assert(cells.size() == figures_.size());
  body_ += "<tr>";
  for (std::size_t i = 0; i < cells.size(); ++i) {
    const char* attributes = figures_[i] ? " class=\"n\"" : "";
    body_ += i == 0 ? fmt::format("<th scope=\"row\"{}>{}</th>", attributes, escaped(cells[i]))
                    : fmt::format("<td{}>{}</td>", attributes, escaped(cells[i]));
  }
  body_ += "</tr>\n";
}

std::string Table::html() const {
  return fmt::format(
      "<div class=\"wide\" role=\"region\" tabindex=\"0\" aria-label=\"{0}\"><table>\n<caption>{0}</caption>\n"
      "<thead><tr>{1}</tr></thead>\n<tbody>\n{2}</tbody></table></div>\n",
      caption_, head_, body_);
}

}  // namespace hetsort::cli
