// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
#include "cli/report/svg.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "cli/report/html.h"
#include "cli/terminal/columns.h"

namespace hetsort::cli {
namespace {

constexpr std::size_t kMaxTallRows = 40;  ///< number of rows above which rows are half as high and bars carry no text
constexpr double kTallRowPixels = 30;
constexpr double kLowRowPixels = 15;
constexpr double kAxisPixels = 48;
constexpr double kTopPixels = 8;
constexpr double kRightPixels = 24;
constexpr double kCharacterPixels = 7;  ///< width of a character at font size 12, estimated generously
constexpr double kTextDrop = 4;         ///< distance from the middle of a line of text to its baseline
constexpr std::size_t kMinLabelCharacters = 4;
constexpr std::size_t kMaxLabelCharacters = 28;
constexpr std::size_t kNarrowLabelCharacters = 10;  ///< maximum length of a label on a screen as narrow as a phone's

/// Places of a chart's parts: percentages of the plot's width, so that it fits every screen while its text keeps its
/// size, and pixels from the top. Labels stand left of the plot, in its margin.
class Layout {
 public:
  explicit Layout(const Chart& chart) : chart_(chart) {}
  /// The pixels of the labels, of which at most so many characters are shown.
  double margin(std::size_t max_characters) const {
    std::size_t characters = kMinLabelCharacters;
    // Counts bytes: labels that are not ASCII get more room than they need.
    for (const std::string& row : chart_.rows) characters = std::max(characters, std::min(row.size(), max_characters));
    return static_cast<double>(characters) * kCharacterPixels + 16;
  }
  bool is_tall() const { return chart_.rows.size() <= kMaxTallRows; }
  /// The width of the plot in pixels, where the page is as wide as it gets.
  double width() const { return static_cast<double>(chart_.width) - kRightPixels - margin(kMaxLabelCharacters); }
  double bottom() const { return kTopPixels + static_cast<double>(chart_.rows.size()) * row_pixels(); }
  double height() const { return bottom() + kAxisPixels; }
  /// The column of a value of the axis, in percent.
  double x(double value) const { return 100 * value / chart_.end; }
  /// The line of a place in a row: -0.5 is the row's top, 0.5 its bottom.
  double y(std::size_t row, double place) const {
    return kTopPixels + (static_cast<double>(row) + 0.5 + place) * row_pixels();
  }

 private:
  double row_pixels() const { return is_tall() ? kTallRowPixels : kLowRowPixels; }

  const Chart& chart_;
};

std::string text_at(double percent, double y, const std::string& text, const char* attributes = "") {
  return fmt::format("<text x=\"{:.2f}%\" y=\"{:.1f}\" text-anchor=\"middle\"{}>{}</text>\n", percent, y, attributes,
                     escaped(text));
}

/// Distance between two ticks: 1, 2 or 5 times a power of ten, so that an axis has four to ten ticks.
double tick_step(double end) {
  const double power = std::pow(10, std::floor(std::log10(end)) - 1);
  for (const double step : {1.0, 2.0, 5.0, 10.0, 20.0})
    if (end / (step * power) <= 10) return step * power;
  return 50 * power;
}

std::string axis(const Chart& chart, const Layout& layout) {
  std::string svg =
      fmt::format("<line class=\"axis\" x1=\"0\" x2=\"100%\" y1=\"{0:.1f}\" y2=\"{0:.1f}\"/>\n", layout.bottom());
  const double step = tick_step(chart.end);
  for (int tick = 0; tick * step <= chart.end * (1 + 1e-9); ++tick) {
    const double x = layout.x(tick * step);
    svg += fmt::format("<line class=\"gridline\" x1=\"{0:.2f}%\" x2=\"{0:.2f}%\" y1=\"{1:.1f}\" y2=\"{2:.1f}\"/>\n", x,
                       kTopPixels, layout.bottom());
    svg += text_at(x, layout.bottom() + 16, fmt::format("{:.6g}", tick * step), tick % 2 == 0 ? "" : " class=\"odd\"");
  }
  return svg + text_at(50, layout.bottom() + 38, chart.axis);
}

std::string row_labels(const Chart& chart, const Layout& layout) {
  std::string svg;
  const auto add = [&](std::size_t row, std::size_t max_characters, const char* css_class) {
    svg += fmt::format("<text x=\"-8\" y=\"{:.1f}\" text-anchor=\"end\" class=\"{}\">{}</text>\n",
                       layout.y(row, 0) + kTextDrop, css_class,
                       escaped(shortened(chart.rows[row], max_characters, kEllipsis)));
  };
  for (std::size_t row = 0; row < chart.rows.size(); ++row) {
    const bool is_long = chart.rows[row].size() > kNarrowLabelCharacters;
    add(row, kMaxLabelCharacters, is_long ? "roomy" : "label");
    if (is_long) add(row, kNarrowLabelCharacters, "tight");
  }
  return svg;
}

std::string rectangle(const Bar& bar, const Layout& layout) {
  constexpr double kMinPixels = 1;  // a bar of length 0 stays visible
  const double left = layout.x(bar.left);
  const double top = layout.y(bar.row, bar.top);
  const double width = layout.x(bar.right) - left;
  const bool seen = width / 100 * layout.width() >= kMinPixels;
  return fmt::format("<rect x=\"{:.3f}%\" y=\"{:.1f}\" width=\"{}\" height=\"{:.1f}\"/>", left, top,
                     seen ? fmt::format("{:.3f}%", width) : fmt::format("{}", kMinPixels),
                     layout.y(bar.row, bar.bottom) - top);
}

std::string bar_group(const Bar& bar, const Layout& layout) {
  std::string svg = fmt::format("<g class=\"{}\"", bar.css_class);
  for (const auto& [name, value] : bar.attributes) svg += fmt::format(" {}=\"{}\"", name, escaped(value));
  return svg + "><title>" + escaped(bar.tip) + "</title>" + rectangle(bar, layout) + "</g>\n";
}

/// The bar's text, if there is room for it.
std::string bar_text(const Bar& bar, const Layout& layout) {
  const double left = layout.x(bar.left);
  const double right = layout.x(bar.right);
  const double needed = static_cast<double>(bar.text.size() + 1) * kCharacterPixels;
  if (bar.text.empty() || !layout.is_tall() || needed >= (right - left) / 100 * layout.width()) return "";
  return text_at((left + right) / 2, layout.y(bar.row, (bar.top + bar.bottom) / 2) + kTextDrop, bar.text);
}

bool is_drawable(const Chart& chart) {
  return !chart.bars.empty() && chart.bars.size() <= kMaxBars && chart.rows.size() <= kMaxRows && chart.end > 0;
}

/// Everything inside the plot and its margins.
std::string chart_body(const Chart& chart, const Layout& layout) {
  std::string bars;
  std::string texts;
  for (const Bar& bar : chart.bars) {
    bars += bar_group(bar, layout);
    texts += bar_text(bar, layout);
  }
  return axis(chart, layout) + row_labels(chart, layout) + bars + "<g class=\"inside\">\n" + texts + "</g>";
}

}  // namespace

std::string draw(const Chart& chart) {
  if (!is_drawable(chart)) return "";
  const Layout layout(chart);
  return fmt::format(
      "<svg class=\"chart\" style=\"--roomy: {:.0f}px; --tight: {:.0f}px\" height=\"{:.0f}\" role=\"img\" "
      "aria-label=\"{}\">\n{}</svg>\n",
      layout.margin(kMaxLabelCharacters), layout.margin(kNarrowLabelCharacters), layout.height(), escaped(chart.title),
      chart_body(chart, layout));
}

std::string draw_alone(const std::string& title, std::span<const Chart> charts) {
  constexpr std::string_view kStyle =
      "text { font: 12px system-ui, sans-serif; fill: #1c2126; } .inside text { fill: #fff; } "
      ".title { font-size: 16px; font-weight: 600; }\n"
      ".axis { stroke: #5d6873; } .gridline { stroke: #d5dbe1; } .actual rect { fill: #2f6db3; } .tight { display: "
      "none; }\n"
      ".phase0 rect { fill: #2f6db3; } .phase1 rect { fill: #b4521a; } .phase2 rect { fill: #2c7d4c; }\n"
      ".phase3 rect { fill: #8a4a9e; } .phase4 rect { fill: #b0304a; } .phase5 rect { fill: #0f7a82; }\n"
      ".phase6 rect { fill: #7a6712; } .phase7 rect { fill: #5d6873; }\n";
  constexpr double kTitlePixels = 36;
  constexpr double kCaptionPixels = 24;
  double y = kTitlePixels;
  std::string parts;
  for (const Chart& chart : charts) {
    if (!is_drawable(chart)) return "";
    const Layout layout(chart);
    parts += fmt::format("<text x=\"12\" y=\"{:.0f}\">{}</text>\n", y + kCaptionPixels - 8, escaped(chart.title));
    parts += fmt::format(
        "<svg x=\"{:.0f}\" y=\"{:.0f}\" width=\"{:.0f}\" height=\"{:.0f}\" overflow=\"visible\">\n{}</svg>\n",
        layout.margin(kMaxLabelCharacters), y + kCaptionPixels, layout.width(), layout.height(),
        chart_body(chart, layout));
    y += kCaptionPixels + layout.height();
  }
  const std::size_t width = charts.empty() ? 0 : charts.front().width;
  return fmt::format(
      "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {0} {1:.0f}\" width=\"{0}\" height=\"{1:.0f}\">\n"
      "<style>{2}</style>\n<rect width=\"100%\" height=\"100%\" fill=\"#fff\"/>\n"
      "<text class=\"title\" x=\"12\" y=\"24\">{3}</text>\n{4}</svg>\n",
      width, y, kStyle, escaped(title), parts);
}

}  // namespace hetsort::cli
