// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
//
// Charts as gnuplot is told of them: numbers, and marks where texts belong.
#pragma once

#include <cstddef>
#include <string>

#include "cli/report/svg.h"

namespace hetsort::cli {

/// Longer labels of rows are cut; the room for them is known before gnuplot draws.
constexpr std::size_t kLabelCharacters = 24;

/// Whether there is anything to draw, and not too much.
bool drawable(const Chart& chart);

/// In pixels, as chart.width.
std::size_t chart_height(const Chart& chart);

/// The script that draws `chart` as SVG with elements named "chartNUMBER_plot_1" ..., a bar each. Texts stand in the
/// drawing as "~MARK~": marks count rows first, then the texts in bars; the axis' name comes last.
/// Requires: drawable(chart).
std::string chart_script(const Chart& chart, std::size_t number);
std::size_t bar_mark(const Chart& chart, std::size_t bar);
std::size_t axis_mark(const Chart& chart);

}  // namespace hetsort::cli
