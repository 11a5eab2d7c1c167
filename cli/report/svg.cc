// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
#include "cli/report/svg.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <string_view>

#include "cli/report/html.h"
#include "cli/report/script.h"
#include "cli/shared/gnuplot.h"

namespace hetsort::cli {
namespace {

std::string text_of(const Chart& chart, std::size_t mark) {
  if (mark < chart.rows.size()) return escaped(shortened(chart.rows[mark], kLabelCharacters));
  return escaped(mark == axis_mark(chart) ? chart.axis : chart.bars.at(mark - chart.rows.size()).text);
}

/// What opens a bar's group, tooltip included.
std::string group_of(const Bar& bar) {
  std::string tag = fmt::format("<g class=\"{}\"", bar.css_class);
  for (const auto& [name, value] : bar.attributes) tag += fmt::format(" {}=\"{}\"", name, escaped(value));
  return tag + "><title>" + escaped(bar.tip) + "</title>";
}

[[noreturn]] void surprised() { throw UsageError("gnuplot drew something unexpected"); }

void replace_all(std::string& text, std::string_view part, std::string_view replacement = "") {
  std::string result;
  std::size_t at = 0;
  for (std::size_t next = text.find(part); next != std::string::npos; next = text.find(part, at)) {
    result.append(text, at, next - at).append(replacement);
    at = next + part.size();
  }
  text = result.append(text, at);
}

/// Between the background's definitions and the end: what is drawn.
std::string_view drawn_part(std::string_view svg) {
  const std::size_t begin = svg.find("</defs>");
  const std::size_t end = svg.rfind("</g>\n</svg>");
  if (begin == std::string_view::npos || end == std::string_view::npos || end < begin) surprised();
  return svg.substr(begin + std::string_view("</defs>").size(), end - begin - std::string_view("</defs>").size());
}

/// The number in "~NUMBER~", whose first tilde stands at `at`; moves `at` behind the second.
std::size_t read_mark(std::string_view text, std::size_t& at) {
  std::size_t mark = 0;
  const char* begin = text.data() + at + 1;
  const auto [end, status] = std::from_chars(begin, text.data() + text.size(), mark);
  if (status != std::errc() || end == text.data() + text.size() || *end != '~') surprised();
  at = static_cast<std::size_t>(end - text.data()) + 1;
  return mark;
}

/// `drawing` with our texts in place of the marks.
std::string with_texts(std::string_view drawing, const Chart& chart) {
  std::string result;
  std::size_t at = 0;
  for (std::size_t tilde = drawing.find('~'); tilde != std::string_view::npos; tilde = drawing.find('~', at)) {
    result.append(drawing.substr(at, tilde - at));
    at = tilde;
    const std::size_t mark = read_mark(drawing, at);
    if (mark > axis_mark(chart)) surprised();
    result += text_of(chart, mark);
  }
  return result.append(drawing.substr(at));
}

/// gnuplot's drawing with our groups around the bars; its own stand in the order of the plot command.
std::string with_bars(std::string_view drawing, const Chart& chart, std::size_t number) {
  constexpr std::string_view kTitleEnd = "</title>";
  std::string result;
  std::size_t at = 0;
  for (std::size_t i = 0; i < chart.bars.size(); ++i) {
    const std::size_t begin = drawing.find(fmt::format("<g id=\"chart{}_plot_{}\"", number, i + 1), at);
    const std::size_t end = drawing.find(kTitleEnd, begin);
    if (begin == std::string_view::npos || end == std::string_view::npos) surprised();
    result += with_texts(drawing.substr(at, begin - at), chart) + group_of(chart.bars[i]);
    at = end + kTitleEnd.size();
  }
  return result + with_texts(drawing.substr(at), chart);
}

std::string finished(std::string_view svg, const Chart& chart, std::size_t number) {
  std::string drawing(drawn_part(svg));
  // Groups that only set a pen: most of what gnuplot writes.
  for (const char* colour : {"color=\"black\"", "color=\"gray\""}) {
    for (const char* width : {"0.50", "1.00", "2.00"})
      replace_all(drawing, fmt::format("<g fill=\"none\" {} stroke=\"currentColor\" stroke-width=\"{}\" "
                                       "stroke-linecap=\"butt\" stroke-linejoin=\"miter\">\n</g>\n",
                                       colour, width));
  }
  return fmt::format("<svg class=\"chart\" viewBox=\"0 0 {} {}\" role=\"img\" aria-label=\"{}\">{}</svg>\n",
                     chart.width, chart_height(chart), escaped(chart.title), with_bars(drawing, chart, number));
}

}  // namespace

std::vector<std::string> draw(const std::vector<Chart>& charts) {
  std::string script;
  for (std::size_t i = 0; i < charts.size(); ++i)
    if (drawable(charts[i])) script += chart_script(charts[i], i);
  std::vector<std::string> drawings(charts.size());
  if (script.empty()) return drawings;
  const std::string printed = run_gnuplot(script);
  std::size_t at = 0;
  for (std::size_t i = 0; i < charts.size(); ++i) {
    if (!drawable(charts[i])) continue;
    constexpr std::string_view kEnd = "</svg>";
    const std::size_t begin = printed.find("<svg", at);
    const std::size_t end = printed.find(kEnd, at);
    if (begin == std::string::npos || end == std::string::npos || end < begin) surprised();
    at = end + kEnd.size();
    drawings[i] = finished(std::string_view(printed).substr(begin, at - begin), charts[i], i);
  }
  return drawings;
}

}  // namespace hetsort::cli
