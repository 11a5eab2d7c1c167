// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
//
// What one rank contributes to a round of the splitter selection, and what it does with the result.
//
// In: parts of this rank's runs in which cuts may lie. Out: a summary of the records in them; later their cut before a
// mark that some rank has contributed.
// Cost: sorts the marks of all runs once, and reads what SortedRuns::sample() reads.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "sort/select/quantile_summary.h"
#include "sort/select/select_splitters.h"
#include "sort/select/sorted_runs.h"

namespace hetsort::sort {

/// The part of one run that a cut may lie in: records [first, last), some of whose keys are known.
struct OpenRun {
  std::uint64_t first = 0;
  std::uint64_t last = 0;
  std::vector<RunMark> known{};
};

/// Two places in the order of all records. No mark = no bound.
struct MarkBracket {
  std::optional<Mark> low{};
  std::optional<Mark> high{};
};

/// Samples the open records of all runs. Returns about `most` marks of them. `phase`: see phase_of(). Throws:
/// io::Error.
OpenRecords summarise(const RankedRuns& mine, std::span<OpenRun> runs, std::size_t most, double phase);

/// The place of a run's mark in the order of all records.
Mark mark_of(const RankedRuns& mine, const RunMark& mark, std::size_t run);

/// The open records of a run between two marks, as closely as the known keys say. Throws: std::runtime_error if the
/// marks contradict the run.
OpenRun narrowed(const RankedRuns& mine, const OpenRun& open, std::size_t run, const MarkBracket& bracket);

/// The positions of `mark` in the open records of all runs. Throws: io::Error.
Cut cut_before(const RankedRuns& mine, std::span<const OpenRun> runs, const Mark& mark);

}  // namespace hetsort::sort
