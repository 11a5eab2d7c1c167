// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
//
// One file of an output, or a stream.
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

namespace hetsort::sort {

struct VolumeRequest {
  std::string path = "-";  ///< "-" = standard output
  io::Access access{};
  bool sync = true;
  /// One file for all ranks: rank 0 stages it, the others write their ranges of it. Else the file is this rank's own.
  bool shared = false;
  std::uint64_t header_bytes = 0;  ///< before the records of a file
  bool from_front = false;         ///< it is written as a stream, even if it is a file
  bool owner_only = false;         ///< a new file gets mode 0600
};

class Volume {
 public:
  /// Opens the file. A file that exists at the path stays as it is until publish().
  /// Collective if it is shared. Throws: io::Error, PeerFailed.
  Volume(VolumeRequest request, comm::Communicator& ranks);

  /// True if bytes must be written from front to back; then rank 0 writes those of all ranks.
  bool is_stream() const { return stream_; }
  /// Staged on disk, so that its space can be reserved and its folder asked for room.
  bool is_staged() const { return staged_.has_value() && staged_->is_staged(); }
  const std::string& path() const { return request_.path; }
  /// Where it is staged. Requires: is_staged().
  const std::string& folder() const { return staged_->folder(); }
  /// False for what is written directly: standard output, a pipe, a device.
  bool can_be_read_back() const { return is_staged() || joined_.has_value(); }

  /// Sets the size of all records of the file and reserves the space. Not for streams. Throws: io::Error.
  void reserve(std::uint64_t bytes);
  /// Corrects the size of all records; the reserved space stays. Not for streams.
  void set_bytes(std::uint64_t bytes);
  /// Writes what precedes the records, once in a file of all ranks. Call it before a record of a stream is written.
  /// Requires: header_bytes of the request. Throws: io::Error.
  void write_header(std::span<const std::byte> header);
  /// Where this rank's records start in a file that all ranks share.
  void start_at(std::uint64_t byte) { first_byte_ += byte; }
  const OutputFiles& files() const { return files_; }
  /// Where this rank's records begin in the file: behind the header, and behind the bytes that standard output has
  /// already.
  std::uint64_t first_byte() const { return first_byte_; }
  /// A queue for one writing thread.
  std::unique_ptr<io::Queue> make_queue(std::size_t depth);

  /// Syncs what this rank wrote; nothing appears yet, and files().buffered stays open. Thread safety: different volumes
  /// from any threads. Throws: io::Error.
  void prepare();
  /// Puts the file in place; after prepare() on all ranks. Throws: io::Error.
  void publish();

 private:
  void open(comm::Communicator& ranks);
  void open_standard_output();
  void share(comm::Communicator& ranks);

  VolumeRequest request_;
  std::optional<io::OutputFile> staged_;
  io::File standard_output_;
  std::optional<io::JoinedOutput> joined_;  // what rank 0 staged
  io::File direct_;
  OutputFiles files_;
  bool stream_ = false;
  std::uint64_t first_byte_ = 0;
  std::uint64_t header_at_ = 0;
  std::uint64_t bytes_ = 0;
  io::Backend backend_ = io::Backend::kBuffered;
  std::mutex turn_;
};

}  // namespace hetsort::sort
