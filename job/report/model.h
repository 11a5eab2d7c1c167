// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
//
// The report of a sort as one struct, and its JSON (hetsort.run/1): written and read by one list of fields.
#pragma once

#include <algorithm>
#include <cstdint>
#include <initializer_list>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace hetsort::job {

/// A stretch of time in which a rank waited for other ranks; `part` of its threads did.
struct WaitReport {
  double begin = 0;
  double end = 0;
  double part = 0;
};

/// How long a rank waited for the blocks of another rank.
struct WaitedFor {
  std::uint64_t rank = 0;
  double seconds = 0;
};

struct PhaseSpan {
  std::string name;
  double begin = 0;  ///< seconds since the sort began, as end
  double end = 0;
  double processor_seconds = 0;            ///< processor time of all threads of the process
  std::optional<double> worked_seconds{};  ///< time without waits for other ranks; empty in files of old versions
  std::vector<WaitReport> waits{};
  std::vector<WaitedFor> waited_for{};  ///< the ranks that were waited for the longest

  double seconds() const { return end - begin; }
  /// The time in which the rank worked itself; the whole phase if that is not known.
  double worked() const { return worked_seconds.value_or(seconds()); }
  double known_work() const { return worked_seconds.value_or(0); }
  /// The time in which the rank waited for other ranks; 0 if that is not known.
  double waited() const { return std::max(0.0, seconds() - worked()); }
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

/// Ranges of the output that a rank merged in place of rank `from`.
struct TakenPart {
  std::uint64_t from = 0;
  std::uint64_t ranges = 0;
  std::uint64_t bytes = 0;
};

/// Runs of rank `from` that a rank formed again.
struct CopiedPart {
  std::uint64_t from = 0;
  std::uint64_t records = 0;
};

/// What `auto` measured of a rank. Costs are processor seconds of a thread; rates are bytes per second, empty if they
/// were not measured.
struct MeasuredRank {
  double processors = 0;                    ///< number of threads that run at a time: a fraction under a quota
  double form_seconds = 0;                  ///< cost of forming a record into a run
  double merge_seconds = 0;                 ///< cost of merging and writing a record
  std::optional<double> message_seconds{};  ///< cost of sending or receiving a byte
  std::optional<double> link_in{};
  std::optional<double> link_out{};
  std::optional<double> disk_write{};
};

struct RankReport {
  std::uint64_t rank = 0;
  std::string host{};
  std::uint64_t threads = 0;
  std::uint64_t planned_input_records = 0;
  std::uint64_t planned_output_records = 0;
  std::uint64_t input_records = 0;
  std::uint64_t output_records = 0;
  double work_seconds = 0;  ///< time that forming runs took
  std::uint64_t verified_bytes = 0;
  double verify_seconds = 0;
  std::uint64_t runs = 0;
  bool in_memory = false;
  std::uint64_t runs_in_memory = 0;
  std::uint64_t bytes_read = 0;
  std::uint64_t bytes_written = 0;
  std::uint64_t bytes_spilled = 0;
  std::uint64_t bytes_sent = 0;
  std::uint64_t bytes_received = 0;
  std::uint64_t bytes_shared = 0;
  std::uint64_t memory_limit_bytes = 0;
  std::uint64_t peak_rss_bytes = 0;
  double communication_cpu_seconds = 0;
  std::vector<PhaseSpan> phases{};
  std::optional<double> process_seconds{};  ///< time from the start of the process
  std::optional<double> host_joules{};      ///< energy of all processes of the host
  std::vector<OutputPart> outputs{};        ///< files of the output, in order; empty unless there are several
  std::vector<TakenPart> taken{};           ///< what it merged in place of other ranks
  std::vector<CopiedPart> copied{};         ///< runs of other ranks that it formed again
  std::optional<std::uint64_t> unique_records{};
  std::optional<MeasuredRank> measured{};           ///< empty unless `auto` measured the ranks
  std::optional<double> input_cached{};             ///< part of its input in the page cache, if the run was predicted
  std::optional<PhasePrediction> predicted_form{};  ///< prediction of the phase form_runs
  std::optional<PhasePrediction> predicted_exchange{};

  /// The time in which the rank worked itself in the phases with these names.
  double worked_in(std::initializer_list<std::string_view> names) const;
  double waited_seconds() const;  ///< sum over all phases
  double begin() const;           ///< begin of the first phase; 0 without phases
  double finish() const;          ///< end of the last phase
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
  std::string file{};                  ///< name of the file as given on the command line
  std::optional<std::size_t> round{};  ///< the round of a comparison, from 1
  std::uint64_t records = 0;
  std::uint64_t bytes = 0;
  std::string fingerprint{};
  std::string checksum{};  ///< empty unless requested
  double seconds = 0;
  std::string strategy{};     ///< name that the comparison gives it, else that of the sort itself
  std::string explanation{};  ///< one sentence that explains the plan of a whole run, or empty
  std::string exchange{};     ///< empty if there was none
  std::optional<double> predicted_seconds{};
  std::vector<RankReport> ranks{};          ///< reports of the ranks, indexed by rank
  std::optional<double> process_seconds{};  ///< time from the start of the process
  std::optional<double> joules{};           ///< energy of all hosts
  std::vector<ContextEntry> context{};      ///< entries in the file's order
  std::string error{};                      ///< empty if the sort succeeded

  bool has_several_outputs() const;    ///< whether some rank has several outputs
  bool has_predictions() const;        ///< whether some phase of a rank was predicted; `auto` predicts the exchange
  bool has_whole_predictions() const;  ///< whether all phases of some rank were predicted
  std::string label_of_rank(std::uint64_t number) const;  ///< rank_label() of a rank; of an unknown one, its number
  double last_event() const;                              ///< the later of `seconds` and the last finish of a rank
};

/// What was predicted for a phase of a rank, and the measured time that is comparable to it.
struct PhaseComparison {
  double predicted = 0;
  std::string bound;
  std::optional<double> measured{};  ///< empty: nothing measured is comparable

  /// measured / predicted; empty if there is none.
  std::optional<double> ratio() const;
};

/// The phase form_runs of a rank; empty if it was not predicted. What is measured is the time that the rank worked.
std::optional<PhaseComparison> compare_form(const RankReport& rank);
/// Likewise the exchange, or the merge of a single rank. The time of a link is seen in waits for blocks: if a link
/// bounds the rank, what is measured is the whole phase. It is comparable only if no other rank takes longer.
std::optional<PhaseComparison> compare_exchange(const RunReport& run, const RankReport& rank);

/// A phase of the rank that worked the longest in it.
struct SlowestRank {
  const RankReport* rank = nullptr;
  double worked_seconds = 0;
};
/// Requires: some rank has the phase.
SlowestRank slowest_in(const RunReport& run, std::string_view phase);

/// Reports as JSON on one line. `context`: a JSON object.
std::string rank_json(const RankReport& rank);
std::string run_json(const RunReport& run, const nlohmann::ordered_json& context);
/// Throws: ReportError.
RankReport read_rank(const std::string& text);

/// The runs of one file, whose text is `text`. Throws: ReportError.
std::vector<RunReport> read_runs(const std::string& text, const std::string& file);

/// Limits for all files together. Browsers do not handle larger pages well.
constexpr std::size_t kMaxRuns = 1000;
constexpr std::size_t kMaxRanks = 20'000;
constexpr std::size_t kMaxPhases = 200'000;

}  // namespace hetsort::job
