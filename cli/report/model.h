// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
//
// The runs that `hetsort report` shows: read from hetsort.run/1 and hetsort.compare/1, checked, and grouped.
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

/// The plan's prediction for a phase on a rank.
struct PhasePrediction {
  double seconds = 0;
  std::string bound;  ///< the resource that takes the longest
};

/// A file of a rank's output.
struct OutputPart {
  std::string path;
  std::uint64_t bytes = 0;
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
  std::vector<OutputPart> outputs{};                ///< files of the output, in order; empty unless there are several
  std::optional<PhasePrediction> predicted_form{};  ///< prediction for form_seconds()
  std::optional<PhasePrediction> predicted_exchange{};

  double form_seconds() const;      ///< measured
  double exchange_seconds() const;  ///< measured; with the merge, where that is a phase of its own
  double begin() const;             ///< begin of the first phase; 0 without phases
  double finish() const;            ///< end of the last phase
  /// End of the work before the phase publish, in which ranks wait for each other.
  double work_end() const;
  /// Seconds from begin() to finish(); 0 if they are too short to divide by.
  double busy_seconds() const;
};

/// One entry of a report's `context`: name and value.
using ContextEntry = std::pair<std::string, std::string>;

/// The name of a rank in pictures and tables.
std::string rank_label(const RankReport& rank);

struct RunReport {
  std::string file;                  ///< name of the file as given on the command line
  std::optional<std::size_t> round;  ///< the round of a comparison, from 1
  std::string strategy;              ///< name that the comparison gives it, else the run's own
  std::string exchange;              ///< empty if there was none
  std::uint64_t records = 0;
  std::uint64_t bytes = 0;
  std::string fingerprint;
  std::string checksum;  ///< empty unless requested
  double seconds = 0;
  std::optional<double> predicted_seconds;
  std::optional<double> process_seconds;  ///< time from the start of the process
  std::optional<double> joules;           ///< energy of all hosts
  std::vector<RankReport> ranks;          ///< reports of the ranks, indexed by rank
  std::vector<ContextEntry> context;      ///< entries in the file's order
  std::string error;                      ///< empty if the run succeeded

  bool has_several_outputs() const;  ///< whether some rank has several outputs
  bool has_predictions() const;      ///< whether some rank's phases were predicted
  double last_event() const;         ///< the later of `seconds` and the last finish of a rank
};

/// The runs of one file, whose text is `text`. Throws: ReportError.
std::vector<RunReport> read_runs(const std::string& text, const std::string& file);

/// Limits for all files together. Browsers do not handle larger pages well.
constexpr std::size_t kMaxRuns = 1000;
constexpr std::size_t kMaxRanks = 20'000;
constexpr std::size_t kMaxPhases = 200'000;

/// Runs that can be compared: one strategy, one exchange, one number of records, bytes and ranks.
struct RunGroup {
  std::string label;                   ///< the strategy, plus what distinguishes it from other groups
  std::vector<const RunReport*> runs;  ///< the successful runs, in order
  std::size_t failed = 0;
  double median_seconds = 0;  ///< this and all below are 0 or empty without runs
  double min_seconds = 0;
  double max_seconds = 0;
  std::optional<double> predicted_seconds;  ///< median over the runs that have one
  std::vector<double> finishes;             ///< median work_end() over the runs, for each rank's position
  std::vector<std::string> rank_names;      ///< name of the rank at each position; only its number if the hosts differ

  /// (max - min) / median of the seconds; 0 if the median is 0.
  double spread() const;
  /// (latest - earliest) / latest of the finishes; 0 without finishes or if all are 0.
  double finish_spread() const;
};

/// The groups in order of first appearance. A failed run is counted in the first group of its strategy and exchange,
/// whatever its numbers. If there is no such group, it gets a group without runs. The groups point into `runs`.
std::vector<RunGroup> group_runs(const std::vector<RunReport>& runs);

/// The context entries that all runs have in common.
std::set<ContextEntry> common_context(const std::vector<RunReport>& runs);

double median(std::vector<double> values);

}  // namespace hetsort::cli
