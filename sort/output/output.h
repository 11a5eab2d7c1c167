// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
//
// The output of a sort.
//
// In: a path, and how it is written. Out: a file whose ranges threads write independently, or a stream that is appended
// to; at the end it is published.
#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>

#include "comm/communicator.h"
#include "io/access.h"
#include "io/publish.h"
#include "io/queue.h"
#include "sort/output/range_writer.h"
#include "sort/output/unique_filter.h"

namespace hetsort::sort {

struct OutputRequest {
  std::string path = "-";  ///< "-" = standard output
  io::Access access{};
  bool sync = true;
  bool read_back = false;  ///< it must be a file that can be read back before it gets its name
  /// One file for all ranks: rank 0 stages it, the others write their ranges of it. Else the output is this rank's own.
  bool shared = false;
  std::uint64_t header_bytes = 0;  ///< before the records of a file
  /// The layout if only the first of records with equal keys is written; then the output is a stream, even a file.
  std::optional<RecordLayout> unique{};
};

class Output {
 public:
  /// Opens the output. A file that exists at the path stays as it is until publish().
  /// Collective. Throws: io::Error, PeerFailed.
  Output(const OutputRequest& options, comm::Communicator& ranks);

  /// The output is memory of the caller, for this rank's records.
  explicit Output(std::span<std::byte> memory) : memory_(memory) { options_.path = "in memory"; }

  bool is_memory() const { return memory_.has_value(); }
  /// Requires: is_memory().
  std::span<std::byte> memory() const { return *memory_; }
  /// True if bytes must be written from front to back; then rank 0 writes those of all ranks.
  bool is_stream() const { return stream_; }
  /// Staged on disk, so that its space can be reserved and its folder asked for room.
  bool is_staged() const { return staged_.has_value() && staged_->is_staged(); }
  const std::string& path() const { return options_.path; }
  /// Where it is staged. Requires: is_staged().
  const std::string& folder() const { return staged_->folder(); }
  /// False for what is written directly: standard output, a pipe, a device.
  bool can_be_read_back() const { return is_staged() || joined_.has_value(); }

  /// Sets the size of all records of the file and reserves the space. Not for streams. Throws: io::Error.
  void reserve(std::uint64_t bytes);
  /// Writes what precedes the records, once in a file of all ranks. Call it before a record of a stream is written.
  /// Requires: header_bytes of the request. Throws: io::Error.
  void write_header(std::span<const std::byte> header);
  /// Where this rank's records start in a file that all ranks share.
  void start_at(std::uint64_t byte) { first_byte_ += byte; }
  const OutputFiles& files() const { return files_; }
  /// Where range 0 starts in the file: behind the header, and behind the bytes that standard output has already.
  std::uint64_t first_byte() const { return first_byte_; }
  /// What records pass through on their way to the stream; null = all are written.
  UniqueFilter* filter() { return filter_ ? &*filter_ : nullptr; }
  /// A queue for one writing thread.
  std::unique_ptr<io::Queue> make_queue(std::size_t depth);

  /// Syncs what this rank wrote; nothing appears yet, and files().buffered stays open. Throws: io::Error.
  void prepare();
  /// Puts the output in place; after prepare() on all ranks. Throws: io::Error.
  void publish();

 private:
  void open(comm::Communicator& ranks);
  void open_standard_output();
  void share(comm::Communicator& ranks);

  OutputRequest options_;
  std::optional<std::span<std::byte>> memory_{};
  std::optional<io::OutputFile> staged_;
  io::File standard_output_;
  std::optional<io::JoinedOutput> joined_;  // what rank 0 staged
  io::File direct_;
  OutputFiles files_;
  std::optional<UniqueFilter> filter_;
  bool stream_ = false;
  std::uint64_t first_byte_ = 0;
  std::uint64_t header_at_ = 0;
  std::uint64_t bytes_ = 0;
  io::Backend backend_ = io::Backend::kBuffered;
  std::mutex turn_;
};

}  // namespace hetsort::sort
