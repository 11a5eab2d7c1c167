// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
#include "cli/report/svg.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "cli/report/html.h"
#include "cli/shared/columns.h"

namespace hetsort::cli {
namespace {

constexpr std::size_t kMaxTallRows = 40;  ///< with more rows, rows are half as high and bars carry no text
constexpr double kTallRowPixels = 30;
constexpr double kLowRowPixels = 15;
constexpr double kAxisPixels = 48;
constexpr double kTopPixels = 8;
constexpr double kRightPixels = 24;
constexpr double kCharacterPixels = 7;  ///< a generous estimate at font size 12
constexpr double kTextDrop = 4;         ///< from the middle of a line of text to its baseline
constexpr std::size_t kMinLabelCharacters = 4;
constexpr std::size_t kMaxLabelCharacters = 28;

/// Pixel positions of a chart's parts.
class Layout {
 public:
  explicit Layout(const Chart& chart) : chart_(chart) {
    std::size_t characters = kMinLabelCharacters;
    // Counts bytes: labels that are not ASCII get more room than they need.
    for (const std::string& row : chart.rows)
      characters = std::max(characters, std::min(row.size(), kMaxLabelCharacters));
    left_ = static_cast<double>(characters) * kCharacterPixels + 16;
  }
  bool is_tall() const { return chart_.rows.size() <= kMaxTallRows; }
  double left() const { return left_; }
  double right() const { return static_cast<double>(chart_.width) - kRightPixels; }
  double bottom() const { return kTopPixels + static_cast<double>(chart_.rows.size()) * row_pixels(); }
  double height() const { return bottom() + kAxisPixels; }
  /// Column of a value of the axis.
  double x(double value) const { return left_ + value / chart_.end * (right() - left_); }
  /// Line of a place in a row: -0.5 is the row's top, 0.5 its bottom.
  double y(std::size_t row, double place) const {
    return kTopPixels + (static_cast<double>(row) + 0.5 + place) * row_pixels();
  }

 private:
  double row_pixels() const { return is_tall() ? kTallRowPixels : kLowRowPixels; }

  const Chart& chart_;
  double left_;
};

std::string text_at(double x, double y, const char* anchor, const std::string& text) {
  return fmt::format("<text x=\"{:.1f}\" y=\"{:.1f}\" text-anchor=\"{}\">{}</text>\n", x, y, anchor, escaped(text));
}

/// Distance between two ticks: 1, 2 or 5 times a power of ten, so that an axis has four to ten ticks.
double tick_step(double end) {
  const double power = std::pow(10, std::floor(std::log10(end)) - 1);
  for (const double step : {1.0, 2.0, 5.0, 10.0, 20.0})
    if (end / (step * power) <= 10) return step * power;
  return 50 * power;
}

std::string axis(const Chart& chart, const Layout& layout) {
  std::string svg = fmt::format("<path class=\"axis\" d=\"M{:.1f} {:.1f}H{:.1f}\"/>\n", layout.left(), layout.bottom(),
                                layout.right());
  const double step = tick_step(chart.end);
  for (int tick = 0; tick * step <= chart.end * (1 + 1e-9); ++tick) {
    const double x = layout.x(tick * step);
    svg += fmt::format("<path class=\"gridline\" d=\"M{:.1f} {:.1f}V{:.1f}\"/>\n", x, kTopPixels, layout.bottom());
    svg += text_at(x, layout.bottom() + 16, "middle", fmt::format("{:.6g}", tick * step));
  }
  return svg + text_at((layout.left() + layout.right()) / 2, layout.bottom() + 38, "middle", chart.axis);
}

std::string row_labels(const Chart& chart, const Layout& layout) {
  std::string svg;
  for (std::size_t row = 0; row < chart.rows.size(); ++row)
    svg += text_at(layout.left() - 8, layout.y(row, 0) + kTextDrop, "end",
                   shortened(chart.rows[row], kMaxLabelCharacters, kEllipsis));
  return svg;
}

std::string rectangle(const Bar& bar, const Layout& layout) {
  constexpr double kMinWidth = 1;  // a bar of no length is still seen
  const double left = layout.x(bar.left);
  const double top = layout.y(bar.row, bar.top);
  return fmt::format("<rect x=\"{:.2f}\" y=\"{:.1f}\" width=\"{:.2f}\" height=\"{:.1f}\"/>", left, top,
                     std::max(layout.x(bar.right) - left, kMinWidth), layout.y(bar.row, bar.bottom) - top);
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
  if (bar.text.empty() || !layout.is_tall() || needed >= right - left) return "";
  return text_at((left + right) / 2, layout.y(bar.row, (bar.top + bar.bottom) / 2) + kTextDrop, "middle", bar.text);
}

bool is_drawable(const Chart& chart) {
  return !chart.bars.empty() && chart.bars.size() <= kMaxBars && chart.rows.size() <= kMaxRows && chart.end > 0;
}

}  // namespace

std::string draw(const Chart& chart) {
  if (!is_drawable(chart)) return "";
  const Layout layout(chart);
  std::string bars;
  std::string texts;
  for (const Bar& bar : chart.bars) {
    bars += bar_group(bar, layout);
    texts += bar_text(bar, layout);
  }
  return fmt::format(
      "<svg class=\"chart\" viewBox=\"0 0 {} {:.0f}\" role=\"img\" aria-label=\"{}\">\n{}{}{}<g class=\"inside\">\n"
      "{}</g></svg>\n",
      chart.width, layout.height(), escaped(chart.title), axis(chart, layout), row_labels(chart, layout), bars, texts);
}

}  // namespace hetsort::cli
