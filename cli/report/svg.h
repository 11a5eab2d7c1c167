// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
//
// Charts of horizontal bars, drawn by gnuplot and made part of an HTML page.
//
// gnuplot sees numbers and marks of our own ("~7~"), never a text from a file: nothing can be injected into its script.
// The texts take the marks' places afterwards, escaped for HTML, and every bar becomes a group of its own with its
// class, attributes and tooltip. Colours are left to the page's style sheet.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace hetsort::cli {

struct Bar {
  std::size_t row = 0;
  double left = 0;
  double right = 0;
  double top = -0.4;  ///< within the row, from -0.5 to 0.5, downwards
  double bottom = 0.4;
  std::string css_class;                                             ///< ours
  std::vector<std::pair<std::string, std::string>> attributes = {};  ///< names ours; values are escaped here
  std::string tip = {};                                              ///< escaped here
  std::string text = {};                                             ///< stands inside where there is room
};

struct Chart {
  std::string title;              ///< for those who cannot see it
  std::vector<std::string> rows;  ///< labels, top to bottom; long ones are cut
  std::vector<Bar> bars;
  std::string axis;  ///< what the horizontal axis counts
  double most = 0;   ///< its end
  std::size_t width = 1200;
};

/// More than this says nothing to the eye; such a chart is left out.
constexpr std::size_t kMostBars = 10'000;
constexpr std::size_t kMostRows = 2'000;

/// One `<svg>` a chart, in order, by one run of gnuplot; empty for a chart without bars or with too many.
/// Throws: GnuplotMissing; UsageError when gnuplot fails or draws something unexpected.
std::vector<std::string> draw(const std::vector<Chart>& charts);

}  // namespace hetsort::cli
