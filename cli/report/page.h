// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
//
// The page of `hetsort report`: one self-contained HTML file, without scripts.
#pragma once

#include <set>
#include <string>
#include <vector>

#include "cli/report/charts.h"
#include "cli/report/groups.h"

namespace hetsort::cli {

/// The contents of the page. The groups point into the runs.
struct Report {
  std::vector<job::RunReport> runs;
  std::vector<RunGroup> groups;
  PhaseColours colours;
  std::set<job::ContextEntry> common;  ///< the entries that all runs have

  explicit Report(std::vector<job::RunReport> all)
      : runs(std::move(all)), groups(group_runs(runs)), colours(runs), common(common_context(runs)) {}
  Report(const Report&) = delete;
  Report& operator=(const Report&) = delete;
};

/// `<svg>` elements, each empty where there is nothing to draw.
struct Pictures {
  struct OfRun {
    std::string timeline;
    std::string shares;
    std::string rates;
    std::string note;  ///< why there is no timeline
  };
  std::string seconds;
  std::string finishes;
  std::vector<OfRun> runs;  ///< one for each run, in order
  bool omitted = false;     ///< the user asked for tables only
};

Pictures draw_pictures(const Report& report);
Pictures no_pictures(const Report& report);

std::string report_page(const Report& report, const Pictures& pictures);

/// The parts of the page. `index` counts runs from 0.
std::string comparison_section(const Report& report, const Pictures& pictures);
std::string run_section(const Report& report, std::size_t index, const Pictures::OfRun& pictures, bool open);
/// The context entries that all runs have in common.
std::string environment_section(const Report& report);

/// The sentence that explains the plan of a run, as a paragraph; empty if there is none.
std::string explanation_of(const job::RunReport& run);

/// A `<figure>`; empty if the picture is empty.
std::string figure(const std::string& svg, const std::string& caption_html);
/// A colour's sample with its name, for captions.
std::string sample(const std::string& css_class, const std::string& name);

}  // namespace hetsort::cli
