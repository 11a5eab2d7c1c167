// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
//
// What a sort keeps in folders so that it can continue after its end: runs, and a journal of them.
//
// In: what decides the result, and runs as they are formed. Out: the runs of earlier processes that did the same sort.
// Idea: a run counts once its blocks and then its line in the journal are on the disk. What a death leaves without a
// line is free space. Nothing in the folders is trusted: before a run is used, its blocks are proven by their
// checksums (sort/runs/restore_runs.cc). Cost: two syncs of a folder's file a run. docs/formats/checkpoint.md describes
// the files.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "io/temp/spill.h"
#include "sort/checkpoint/journal.h"
#include "sort/model/input_segments.h"
#include "sort/model/run.h"

namespace hetsort::sort {

/// Something that decides the result of a sort.
struct SortFact {
  std::string name{};  ///< the words for it in a message: "the layout of records", "INPUT /data/in"
  std::string text{};  ///< differs if it differs
  bool operator==(const SortFact&) const = default;
};

/// A piece of the output that is on the disk.
struct MergedPiece {
  std::uint64_t first_byte = 0;  ///< place of its first record in the records of the output
  OrderVerifier verifier;        ///< what proves its records

  std::uint64_t end_byte() const { return first_byte + verifier.bytes(); }
};

/// The file in which an unfinished output lies.
struct KeptOutput {
  std::string folder{};  ///< absolute
  std::string name{};    ///< name in this folder
  bool operator==(const KeptOutput&) const = default;
};

/// Where one rank keeps its part of a checkpoint.
struct CheckpointPlace {
  std::vector<std::string> folders{};  ///< folders of this rank, at least one
  int rank = 0;
  bool restart = false;            ///< begin anew, whatever is there
  std::uint64_t record_bytes = 1;  ///< bytes of a record; 1 for lines
};

/// The first line of a journal.
struct JournalHeader {
  std::uint64_t facts = 0;         ///< lines with facts
  std::uint64_t folders = 0;       ///< folders in which the runs lie
  std::uint64_t block_bytes = 0;   ///< bytes of a block of the runs
  std::uint64_t record_bytes = 0;  ///< bytes of a record; 1 for lines
};
/// Nothing if it is none of this version of the format.
std::optional<JournalHeader> read_header(std::string_view line);

class Checkpoint {
 public:
  /// Opens what is there, but changes nothing. `facts`: of the sort that wants to continue it. Throws: RequestError if
  /// it is that of another sort, or in use; io::Error.
  /// `about`: texts for people.
  Checkpoint(CheckpointPlace place, std::vector<SortFact> facts, std::vector<SortFact> about = {});
  Checkpoint(const Checkpoint&) = delete;
  Checkpoint& operator=(const Checkpoint&) = delete;
  ~Checkpoint();

  /// The first folder, which has the journal.
  const std::string& folder() const { return place_.folders.front(); }
  /// The size of the blocks of all runs that are there; 0 if there are none.
  std::uint64_t block_bytes() const { return runs_.empty() ? 0 : block_bytes_; }
  /// Disk space that its files occupy already.
  std::uint64_t bytes_on_disk() const;

  /// Gives the journal its header, unless it has one. Runs with blocks of another size are dropped. Throws: io::Error.
  void begin(std::uint64_t block_bytes);
  /// Opens the files of the runs. Requires: begin(). Throws: io::Error.
  std::unique_ptr<io::SpillSpace> open_space(bool direct);
  /// The runs of earlier processes, as they claim to be; their blocks lie in `space`. Requires: from open_space().
  std::vector<SpilledRun> runs(const io::SpillSpace& space) const;
  /// Makes a new run durable: it takes the place of earlier ones with the same records. `space`: has its blocks.
  /// Thread safety: any thread. Throws: io::Error.
  void add(const SpilledRun& run, const io::SpillSpace& space);
  /// The output is written to `kept`. Pieces that an earlier process wrote to another file are dropped, and this file
  /// is removed. Call it once, after begin(). Throws: io::Error.
  void write_to(const KeptOutput& kept);
  /// Pieces of the output that are written, in order, without overlaps. Requires: as long as write_to() was called.
  std::vector<MergedPiece> merged(const RecordLayout& layout) const;
  /// Makes a piece count that is on the disk. Thread safety: any thread. Throws: io::Error.
  void add(const MergedPiece& piece);
  /// Whether the output is kept, so that pieces count.
  bool keeps_output() const { return writes_; }
  /// Removes all that was written. Call it when the output is in place.
  void finish() noexcept;

 private:
  void read_journal();
  void check_facts(const std::vector<SortFact>& found) const;
  std::string header(std::uint64_t block_bytes) const;
  std::string runs_path(std::size_t folder) const;

  CheckpointPlace place_;
  std::vector<SortFact> facts_;
  std::vector<SortFact> about_;
  Journal journal_;
  std::uint64_t block_bytes_ = 0;  // 0 = the journal has no header
  std::vector<SpilledRun> runs_;   // without places
  std::optional<KeptOutput> kept_;
  std::vector<std::string> merged_;  // lines of pieces
  bool begun_anew_ = false;
  bool writes_ = false;
  std::mutex mutex_;  // guards the journal
};

/// The file of the unfinished output that the journal of `rank` in `folder` names; nothing if there is none.
std::optional<KeptOutput> kept_output(const std::string& folder, int rank);

/// What is left of `whole`, whose records have `record_bytes` each, without the records of `runs`. Requires: each run
/// lies within one segment.
std::vector<InputSegment> missing_segments(std::span<const InputSegment> whole, std::span<const SpilledRun> runs,
                                           std::uint64_t record_bytes);

/// The line of a run in the journal, and the run of such a line; false if it is none.
std::string line_of(const SpilledRun& run);
bool read_run(std::string_view line, SpilledRun& run);
/// The runs that these lines have, without those that later ones replace, in the order of their records.
std::vector<SpilledRun> runs_of(std::span<const std::string> lines);

}  // namespace hetsort::sort
