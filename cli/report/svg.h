// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
//
// Charts of horizontal bars as SVG inside an HTML page. Texts are escaped here; colours come from the page's style
// sheet by class.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace hetsort::cli {

/// One bar. It becomes a group with its class, attributes and tooltip around one rectangle.
struct Bar {
  std::size_t row = 0;
  double left = 0;  ///< left end in units of the horizontal axis
  double right = 0;
  double top = -0.4;  ///< place within the row, from -0.5 to 0.5, downwards
  double bottom = 0.4;
  std::string css_class;                                             ///< trusted: not escaped
  std::vector<std::pair<std::string, std::string>> attributes = {};  ///< names are trusted; values are escaped
  std::string tip = {};
  std::string text = {};  ///< drawn inside the bar if it fits
};

struct Chart {
  std::string title;              ///< read aloud by screen readers
  std::vector<std::string> rows;  ///< labels, top to bottom; long ones are shortened
  std::vector<Bar> bars;
  std::string axis;  ///< name and unit of the horizontal axis
  double end = 0;    ///< value at the right end of the axis, which begins at 0
  std::size_t width = 1200;
};

/// Charts beyond these limits are unreadable and are not drawn.
constexpr std::size_t kMaxBars = 10'000;
constexpr std::size_t kMaxRows = 2'000;

/// Returns one `<svg>` element, or an empty string for a chart without bars or beyond the limits.
std::string draw(const Chart& chart);

/// Returns a file: the charts with their titles, below each other, and their style. Empty if one of them is not drawn.
std::string draw_alone(const std::string& title, std::span<const Chart> charts);

}  // namespace hetsort::cli
