// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
//
// What the pictures of a report show.
#pragma once

#include <string>
#include <unordered_map>
#include <vector>

#include "cli/report/model.h"
#include "cli/report/svg.h"

namespace hetsort::cli {

/// Colours repeat after so many phases; the style sheet has as many classes "phase0", "phase1" ...
constexpr std::size_t kPhaseColours = 8;

/// The same phase has the same colour in all runs.
class PhaseColours {
 public:
  explicit PhaseColours(const std::vector<RunReport>& runs);
  /// Names of all phases in order of first appearance.
  const std::vector<std::string>& names() const { return names_; }
  /// Requires: one of names().
  std::string css_class(const std::string& name) const;

 private:
  std::vector<std::string> names_;
  std::unordered_map<std::string, std::size_t> places_;
};

/// Room right of what is longest.
constexpr double kHeadroom = 1.03;
/// Seconds an axis has at least, so that it is one also where nothing took any time.
constexpr double kLeastAxis = 1e-6;

/// A bar for each rank and phase: class "bar", id "run1-rank0-phase0", data-run, data-rank, data-phase, data-begin,
/// data-end. `number` is the run's on the page, `most` the end of the axis.
Chart timeline_chart(const RunReport& run, std::size_t number, const PhaseColours& colours, double most);
/// Output shares: planned as a wide pale bar, actual as a narrow one on it.
Chart shares_chart(const RunReport& run);
/// MB/s read, written and sent between a rank's first begin and its finish.
Chart rates_chart(const RunReport& run);
/// Seconds of each group: the median's bar, a tick for each run, one for the prediction.
Chart seconds_chart(const std::vector<RunGroup>& groups);
/// Finish of each rank: a tick each on a band from the first to the last.
Chart finishes_chart(const std::vector<RunGroup>& groups);

}  // namespace hetsort::cli
