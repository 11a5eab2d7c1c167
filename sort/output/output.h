// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
//
// The output of a sort, of one rank or of all.
//
// In: paths, and how they are written. Out: one volume, or several that are cut from the sorted records in the order of
// the paths. Ranges of the records are written independently, whatever volumes they lie in (output_sinks.h).
// Idea: the volumes of fixed records have equal sizes, which are known before the first record is written. Those of
// lines end where a line begins; the phase that merges finds these places and cuts again.
#pragma once

#include <cassert>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "comm/communicator.h"
#include "sort/model/sort_options.h"
#include "sort/output/unique_filter.h"
#include "sort/output/verify_output.h"
#include "sort/output/volume.h"
#include "sort/output/written.h"

namespace hetsort::sort {

struct OutputRequest {
  OutputOptions
      options{};  ///< what the user asked, with the paths of this rank. Several are files, none of them shared
  io::Access access{};
  bool shared = false;  ///< one file for all ranks, see VolumeRequest
  /// The layout if only the first of records with equal keys is written; then the output is a stream, even a file.
  std::optional<RecordLayout> unique{};
  std::uint64_t record_bytes = 1;     ///< no volume ends within a record
  bool hides_newlines = false;        ///< records are rows of CSV, in which bytes stand for newlines that are written
  std::optional<std::string> kept{};  ///< VolumeRequest::kept of an output that is one plain file of one rank
  bool header_counts = false;         ///< the header says how many records a file has: it is that of a NumPy file
};

class Output {
 public:
  /// Opens the output. Files that exist at its paths stay as they are until publish().
  /// Collective. Throws: io::Error, also if one of several paths is no regular file; PeerFailed.
  Output(const OutputRequest& request, comm::Communicator& ranks);

  /// Makes an output that is memory of the caller, for this rank's records.
  explicit Output(std::span<std::byte> memory) : memory_(memory) {}

  bool is_memory() const { return memory_.has_value(); }
  /// The memory of the caller. Requires: is_memory().
  std::span<std::byte> memory() const {
    assert(is_memory());
    return *memory_;
  }
  /// The memory of the caller as numbers of records. Requires: options.output.places.
  std::span<std::uint64_t> places() const {
    return {reinterpret_cast<std::uint64_t*>(memory().data()), memory().size() / sizeof(std::uint64_t)};
  }
  /// Whether bytes must be written from front to back.
  bool is_stream() const { return !is_memory() && first_volume().is_stream(); }
  /// Whether it is one stream of all ranks, to which rank 0 writes the records of all.
  bool is_relayed() const { return is_stream() && first_volume().is_shared(); }
  /// Whether it is staged on disk, so that its space can be reserved and its folders asked for room.
  bool is_staged() const { return !is_memory() && first_volume().is_staged(); }
  /// The path for messages, or all of them.
  std::string name() const;

  /// The files of the output: at least one, but none if the output is memory.
  std::span<const std::unique_ptr<Volume>> volumes() const { return volumes_; }
  Volume& first_volume() { return *volumes_.front(); }
  const Volume& first_volume() const { return *volumes_.front(); }
  /// Whether some volume is written with direct I/O.
  bool is_direct() const;

  /// Sets the size of all records of the output, cuts them into volumes of equal size, and reserves the space. Not for
  /// streams. Throws: io::Error.
  void reserve(std::uint64_t bytes);
  /// Where the volumes but the first begin in this rank's records, in bytes. Ascending.
  std::span<const std::uint64_t> cuts() const { return std::span(first_).subspan(1); }
  /// Replaces cuts() before records are written behind them. Requires: ascending, as many as cuts().
  void cut_at(std::span<const std::uint64_t> cuts);
  /// The volume that holds the record at `byte` of this rank's records.
  std::size_t volume_at(std::uint64_t byte) const;
  /// Where a volume begins in this rank's records; UINT64_MAX for the number of volumes.
  std::uint64_t first_of(std::size_t volume) const;
  /// The places of this rank's records, which have `bytes` bytes together. Not for streams.
  std::vector<WrittenRange> ranges(std::uint64_t bytes) const;

  /// Sets the size of what precedes the records of each volume, see Volume.
  void set_header_bytes(std::uint64_t bytes);
  /// The filter through which records pass on their way to the stream; null = all are written.
  UniqueFilter* filter() { return filter_ ? &*filter_ : nullptr; }
  /// Makes the filter, if there is one, anew for a layout whose columns are known. Requires: nothing is written yet.
  void set_layout(const RecordLayout& layout) {
    if (filter_) filter_.emplace(layout);
  }
  /// Whether bytes in the records stand for newlines, which the writer restores.
  bool hides_newlines() const { return hides_newlines_; }

  /// Corrects headers that count records, and syncs what this rank wrote, all volumes at the same time; nothing appears
  /// yet. Throws: io::Error.
  void prepare();
  /// Puts one volume after the other in place; after prepare() on all ranks. Throws: io::Error.
  void publish();
  /// The paths that publish() has put in place, on the rank that staged them.
  std::vector<std::string> published() const;

 private:
  friend class ReadyOutput;
  /// Takes the records' place in standard output, and writes what precedes them to each volume, see Volume. Throws:
  /// io::Error.
  void begin(std::span<const std::byte> header);
  void correct_headers();

  std::optional<std::span<std::byte>> memory_{};
  std::vector<std::unique_ptr<Volume>> volumes_;
  std::vector<std::uint64_t> first_{0};  // begin of each volume in this rank's records
  std::uint64_t bytes_ = 0;
  std::uint64_t record_bytes_ = 1;
  bool hides_newlines_ = false;
  bool header_counts_ = false;
  std::vector<std::byte> header_;  // if it counts
  std::optional<UniqueFilter> filter_;
  std::size_t published_ = 0;  // volumes
};

/// An output that has its place and its header: phases that write records take it. Keeps a reference to the output.
class ReadyOutput {
 public:
  /// `header`: may be empty. Requires: where possible, the size of a stream is known. Throws: io::Error.
  ReadyOutput(Output& output, std::span<const std::byte> header) : output_(&output) { output.begin(header); }

  Output& operator*() const { return *output_; }

 private:
  Output* output_;
};

/// What this rank wrote.
struct WrittenOutput {
  ReadyOutput output;
  Written records;
};

}  // namespace hetsort::sort
