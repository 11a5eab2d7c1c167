// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
//
// One file of an output, or a stream.
//
// In: a path, and how it is written. Out: a file whose ranges threads write independently, or a stream that is appended
// to; at the end it is published.
#pragma once

#include <cassert>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>

#include "comm/communicator.h"
#include "io/publish.h"
#include "io/transfer/queue.h"
#include "sort/model/sort_options.h"
#include "sort/output/range_writer.h"

namespace hetsort::sort {

struct VolumeRequest {
  std::string path = "-";   ///< "-" = standard output
  OutputOptions options{};  ///< what the user asked; `path` counts, not the paths in it
  io::Access access{};
  /// One file for all ranks: rank 0 stages it, the others write their ranges of it. Else the file is this rank's own.
  bool shared = false;
  bool from_front = false;             ///< the file is written as a stream
  io::CompressionLevel compression{};  ///< how this is compressed; requires, if it is: from_front
  /// Stage it in a file that stays if the process ends: the one of this name, or a new one. Requires: not shared.
  std::optional<std::string> kept{};
};

class Volume {
 public:
  /// Opens the file. A file that exists at the path stays as it is until publish().
  /// Collective if it is shared. Throws: io::Error, PeerFailed.
  Volume(VolumeRequest request, comm::Communicator& ranks);

  /// Whether bytes must be written from front to back.
  bool is_stream() const { return stream_; }
  /// Whether it is one file or stream of all ranks.
  bool is_shared() const { return request_.shared; }
  /// Whether it is staged on disk, so that its space can be reserved and its folder asked for room.
  bool is_staged() const { return staged_.has_value() && staged_->is_staged(); }
  const std::string& path() const { return request_.path; }
  /// The folder in which it is staged. Requires: is_staged().
  const std::string& folder() const {
    assert(is_staged());
    return staged_->folder();
  }
  /// The file in folder() that stays after keep() if the process ends; empty if there is none.
  std::string kept_name() const { return request_.kept && is_staged() ? staged_->kept_name() : std::string(); }
  void keep() { staged_->keep(); }
  /// Whether it can be read back: not what is written directly, such as standard output, a pipe or a device,
  /// nor what is compressed.
  bool can_be_read_back() const {
    return (is_staged() || joined_) && request_.compression.format == io::Compression::kNone;
  }

  /// Begins to compress, if the file is compressed, with as many of `threads` threads as have room in `bytes`. Returns
  /// the bytes that they take. Call it before anything is written.
  std::uint64_t plan_compressors(std::size_t threads, std::uint64_t bytes);

  /// Sets the size of all records of the file and reserves the space. Not for streams. Throws: io::Error.
  void reserve(std::uint64_t bytes);
  /// Corrects the size of all records; the reserved space stays. Not for streams.
  void set_bytes(std::uint64_t bytes);
  /// Takes the range of standard output, if that is a plain file, into which the records go. If their size is not
  /// known, it is written as a stream instead. Nothing is lost if other processes write to it too, and the records are
  /// in one piece. If the sort fails after that, the range holds what was written so far, and zero bytes elsewhere.
  /// Does nothing for other outputs. Call it before anything is written. Throws: io::Error.
  void take_place();
  /// Sets the bytes before the records, once they are known. Call it before the size is set or anything is written.
  void set_header_bytes(std::uint64_t bytes);
  /// Writes the header before the records, once in a file of all ranks. Call it before a record of a stream is written.
  /// Requires: the header has the bytes that were set. Throws: io::Error.
  void write_header(std::span<const std::byte> header);
  /// Replaces the header once all records are written; that of a stream stays. Requires: as write_header(). Throws:
  /// io::Error.
  void rewrite_header(std::span<const std::byte> header);
  /// Sets where this rank's records start in a file that all ranks share.
  void start_at(std::uint64_t byte) { first_byte_ += byte; }
  const OutputFiles& files() const { return files_; }
  /// Where this rank's records begin in the file: behind the header and, in standard output, behind the bytes that it
  /// has already.
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
  io::File placed_;                         // standard output for writes at any place, if it is a plain file
  std::optional<io::JoinedOutput> joined_;  // the part file that rank 0 staged
  io::File direct_;
  OutputFiles files_;
  std::uint64_t writers_on_host_ = 1;  // ranks that write as much as this one
  bool stream_ = false;
  std::uint64_t first_byte_ = 0;
  std::uint64_t header_at_ = 0;
  std::uint64_t header_bytes_ = 0;
  std::optional<std::uint64_t> bytes_;
  io::Backend backend_ = io::Backend::kBuffered;
  std::mutex turn_;
};

}  // namespace hetsort::sort
