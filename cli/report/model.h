// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
//
// Runs as `hetsort report` shows them: read from hetsort.run/1 and hetsort.compare/1, checked, and put side by side.
#pragma once

#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace hetsort::cli {

struct PhaseSpan {
  std::string name;
  double begin = 0;  ///< seconds since the run's start, as end
  double end = 0;
};

struct RankReport {
  std::uint64_t rank = 0;
  std::string host;
  std::uint64_t threads = 0;
  std::uint64_t planned_input_records = 0;
  std::uint64_t planned_output_records = 0;
  std::uint64_t input_records = 0;
  std::uint64_t output_records = 0;
  std::uint64_t runs = 0;
  std::uint64_t bytes_read = 0;
  std::uint64_t bytes_written = 0;
  std::uint64_t bytes_spilled = 0;
  std::uint64_t bytes_sent = 0;
  std::uint64_t bytes_received = 0;
  std::uint64_t memory_limit_bytes = 0;
  std::uint64_t peak_rss_bytes = 0;
  double communication_cpu_seconds = 0;
  std::vector<PhaseSpan> phases;

  double begin() const;   ///< of its first phase, 0 without phases
  double finish() const;  ///< end of its last
  /// The same without the last, publish: in that ranks wait for each other.
  double work_end() const;
  /// From begin() to finish(); 0 when that is too short to divide by.
  double busy_seconds() const;
};

/// What was told of the environment: name and value.
using ContextEntry = std::pair<std::string, std::string>;

/// How a rank is called in pictures and tables.
std::string rank_label(const RankReport& rank);

struct RunReport {
  std::string file;                  ///< as given on the command line
  std::optional<std::size_t> round;  ///< of a comparison, from 1
  std::string strategy;              ///< as the comparison calls it, else as the run does
  std::string exchange;              ///< empty where there was none
  std::uint64_t records = 0;
  std::uint64_t bytes = 0;
  std::string fingerprint;
  std::string checksum;  ///< empty where none was asked for
  double seconds = 0;
  std::optional<double> predicted_seconds;
  std::vector<RankReport> ranks;      ///< by rank
  std::vector<ContextEntry> context;  ///< in the file's order
  std::string error;                  ///< empty: the run succeeded

  double last_event() const;  ///< the later of `seconds` and the last finish of a rank
};

/// The runs of one file, whose text is `text`. Throws: ReportError.
std::vector<RunReport> read_runs(const std::string& text, const std::string& file);

/// More of them in all make a page no browser likes.
constexpr std::size_t kMaxRuns = 1000;
constexpr std::size_t kMaxRanks = 20'000;
constexpr std::size_t kMaxPhases = 200'000;

/// Runs that can be compared: one strategy, one exchange, one number of records, bytes and ranks.
struct RunGroup {
  std::string label;                   ///< the strategy, with what else tells it from other groups
  std::vector<const RunReport*> runs;  ///< that succeeded, in order
  std::size_t failed = 0;
  double median_seconds = 0;  ///< 0 without runs, as the next four
  double min_seconds = 0;
  double max_seconds = 0;
  std::optional<double> predicted_seconds;  ///< median over the runs that have one
  std::vector<double> finishes;             ///< median work_end() over the runs, by position of the rank
  std::vector<std::string> rank_names;      ///< by the same position; only its number where the runs' hosts differ

  /// (most - least) / median; 0 where that says nothing.
  double spread() const;
  /// (latest - earliest) / latest of the finishes; 0 where that says nothing.
  double finish_spread() const;
};

/// In order of first appearance. Failed runs count in the first group of their strategy and exchange, however far they
/// got; only without one they make a group, of no runs. The groups point into `runs`.
std::vector<RunGroup> group_runs(const std::vector<RunReport>& runs);

/// What stands in the context of every run.
std::set<ContextEntry> common_context(const std::vector<RunReport>& runs);

double median(std::vector<double> values);

}  // namespace hetsort::cli
