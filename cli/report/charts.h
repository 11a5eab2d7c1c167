// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
//
// The contents of a report's charts.
#pragma once

#include <string>
#include <unordered_map>
#include <vector>

#include "cli/report/groups.h"
#include "cli/report/svg.h"

namespace hetsort::cli {

/// Number of phase colours; the style sheet has the classes "phase0", "phase1" and so on. More phases repeat them.
constexpr std::size_t kPhaseColours = 8;

/// Gives each phase a colour, the same in all runs.
class PhaseColours {
 public:
  explicit PhaseColours(const std::vector<job::RunReport>& runs);
  /// Names of all phases in order of first appearance.
  const std::vector<std::string>& names() const { return names_; }
  /// The class of a phase in the style sheet. Requires: one of names().
  std::string css_class(const std::string& name) const;

 private:
  std::vector<std::string> names_;
  std::unordered_map<std::string, std::size_t> places_;
};

/// Unit of an axis of records.
struct RecordScale {
  double divisor;
  const char* words;
};
/// The unit of an axis that ends at `end`, chosen so that its figures are short.
RecordScale record_scale(std::uint64_t end);

/// Length of an axis relative to its longest bar.
constexpr double kHeadroom = 1.03;
/// The shortest time axis, used for runs in which nothing took any time.
constexpr double kMinAxisSeconds = 1e-6;

/// One bar for each rank and phase: class "bar", id "run1-rank0-phase0", data-run, data-rank, data-phase, data-begin,
/// data-end. Where a rank waits, a bar of class "waits" covers the upper part of the phase, as high as the part of its
/// threads that wait; the chart leaves these out if there are too many. `number` is the number of the run on the page,
/// `end` the end of the axis in seconds.
Chart timeline_chart(const job::RunReport& run, std::size_t number, const PhaseColours& colours, double end);
/// "1.2 s rank 1 fast, 0.3 s rank 2 slow": the ranks whose blocks a phase waited for the longest; empty for none.
std::string waited_for_text(const job::RunReport& run, const job::PhaseSpan& phase);
/// Output shares: planned as a wide pale bar, actual as a narrow one on it.
Chart shares_chart(const job::RunReport& run);
/// MB/s read, written and sent between a rank's first begin and its finish.
Chart rates_chart(const job::RunReport& run);
/// Seconds of each group: a bar for the median, a tick for each run and one for the prediction.
Chart seconds_chart(const std::vector<RunGroup>& groups);
/// Finish of each rank: one tick per rank on a band from the first finish to the last.
Chart finishes_chart(const std::vector<RunGroup>& groups);

}  // namespace hetsort::cli
