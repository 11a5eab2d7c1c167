// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
//
// What a sort keeps in folders so that it can continue after its end: runs, and a journal of them.
//
// In: what decides the result, and runs as they are formed. Out: the runs of earlier processes that did the same sort.
// Idea: a run counts once its blocks and then its line in the journal are on the disk. What a death leaves without a
// line is free space. Nothing in the folders is trusted: before a run is used, its blocks are proven by their
// checksums (sort/merge/restore_runs.h). Cost: two syncs of a folder's file a run. docs/formats/checkpoint.md describes
// the files.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "io/file.h"
#include "io/temp/spill.h"
#include "sort/checkpoint/divide_runs.h"
#include "sort/checkpoint/journal.h"
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
  int ranks = 1;                   ///< ranks of the job
};

/// A run that is there, as it claims to be.
struct KeptRun {
  SpilledRun run{};
  std::uint64_t journal = 0;  ///< identity of the journal that has it
  bool own = true;            ///< its blocks lie in the files of this rank

  OfferedRun offer() const { return {journal, {run.first_record, run.records}}; }
};

/// The part of a checkpoint that another rank has written, now or in a job with other ranks.
struct OtherPart {
  std::vector<std::string> folders{};
  int rank = 0;
  std::uint64_t journal = 0;
  std::uint64_t block_bytes = 0;
  std::vector<SpilledRun> runs{};  ///< their blocks have no places yet
  io::File lock{};                 ///< keeps its owner away, if that is no rank of this job
  std::vector<io::File> files{};   ///< the files of the runs, once they are open
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
  /// The largest number of ranks that any job with it had; 0 if none had it.
  int most_ranks() const { return most_ranks_; }
  /// Whether a job with it had another number of ranks than this one.
  bool had_other_ranks() const { return other_ranks_; }
  /// Adds the part of `rank` in its `folders`, if this rank can read it and it belongs to the same sort. On a restart
  /// removes it, if this job has no such rank. Call it before begin() on any rank. Throws: RequestError if another sort
  /// uses it; io::Error.
  void add_part_of(int rank, const std::vector<std::string>& folders);
  /// The largest size of the blocks of the runs that are there; 0 if there are none.
  std::uint64_t block_bytes() const;
  /// Disk space that its files occupy already.
  std::uint64_t bytes_on_disk() const;

  /// Gives the journal its header, unless it has one. Runs with blocks of another size are dropped. Throws: io::Error.
  void begin(std::uint64_t block_bytes);
  /// Opens the files of the runs. Requires: begin(). Throws: io::Error.
  std::unique_ptr<io::SpillSpace> open_space(bool direct);
  /// The runs of earlier processes with blocks as large as those of `space`, which has the own ones. Requires: from
  /// open_space().
  std::vector<KeptRun> runs(const io::SpillSpace& space);
  /// Makes a new run durable: it takes the place of earlier ones with the same records. `space`: has its blocks.
  /// Thread safety: any thread. Throws: io::Error.
  void add(const SpilledRun& run, const io::SpillSpace& space);
  /// The output is written to `kept`. Pieces that an earlier process wrote to another file are dropped, and this file
  /// is removed. Call it once, after begin(). Throws: io::Error.
  void write_to(const KeptOutput& kept);
  /// The output is written elsewhere: pieces are dropped, and their file is removed.
  void forget_output();
  /// The proof at the end has failed. The next process proves all runs and merges anew. Throws: io::Error.
  void doubt();
  /// Whether doubt() was called by an earlier process.
  bool is_doubted() const { return doubted_; }
  /// Pieces of the output that are written, in order, without overlaps. Requires: as long as write_to() was called.
  std::vector<MergedPiece> merged(const RecordLayout& layout) const;
  /// Removes the piece that begins at this byte from those that are written.
  void drop_merged(std::uint64_t first_byte) { dropped_.insert(first_byte); }
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
  void open_others(bool direct);
  void read_ranks();

  CheckpointPlace place_;
  std::vector<SortFact> facts_;
  std::vector<SortFact> about_;
  Journal journal_;
  std::uint64_t block_bytes_ = 0;  // 0 = the journal has no header
  std::vector<SpilledRun> runs_;   // without places
  std::vector<OtherPart> others_;
  int most_ranks_ = 0;
  bool other_ranks_ = false;
  std::optional<KeptOutput> kept_;
  std::vector<std::string> merged_;  // lines of pieces
  std::set<std::uint64_t> dropped_;  // first bytes of pieces that do not count
  bool doubted_ = false;
  bool begun_anew_ = false;
  bool writes_ = false;
  std::mutex mutex_;  // guards the journal
};

/// The file of the unfinished output that the journal of `rank` in `folder` names; nothing if there is none. Waits
/// until no other process has the journal. Throws: RequestError if one keeps it; io::Error.
std::optional<KeptOutput> kept_output(const std::string& folder, int rank);

/// The line of a run in the journal, and the run of such a line; false if it is none.
std::string line_of(const SpilledRun& run);
bool read_run(std::string_view line, SpilledRun& run);
/// The facts that these lines have.
std::vector<SortFact> facts_of(std::span<const std::string> lines);
/// The runs that these lines have, without those that later ones replace, in the order of their records.
std::vector<SpilledRun> runs_of(std::span<const std::string> lines);

}  // namespace hetsort::sort
