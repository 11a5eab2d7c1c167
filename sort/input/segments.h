// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
//
// Parts of the files to sort, and how they get into memory.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "io/file.h"
#include "io/transfer/queue.h"
#include "sort/input/quote_map.h"
#include "sort/model/record_order.h"

namespace hetsort::sort {

/// One INPUT of the command line.
struct InputFile {
  io::File file;
  std::uint64_t size_bytes = 0;    ///< size found at the start, with the header; 0 for a stream
  std::uint64_t header_bytes = 0;  ///< bytes before the first record; 0 for a stream
  bool stream = false;             ///< read front to back: a pipe, or a file that hides its size
  bool direct = false;             ///< opened for direct I/O
  bool in_memory = false;          ///< all of it is in memory and may be mapped
  bool overwritten = false;        ///< the output is this file: nothing is read from it once output is written
  std::uint64_t added_bytes = 0;   ///< 1 if its last line has no terminator, which is added then
  /// Where newlines are within quotes, if it is CSV: in what is read of it, other bytes stand for them.
  std::shared_ptr<const QuoteMap> quotes{};

  /// Replaces newlines within quotes in `bytes`, which were read at `offset`. Throws: io::Error.
  void hide_newlines(std::uint64_t offset, std::span<std::byte> bytes) const {
    if (quotes) quotes->hide(file, offset, bytes);
  }
  std::uint64_t bytes_of_records() const { return size_bytes - header_bytes + added_bytes; }
};

/// Consecutive records of one input file, and their place in memory.
struct Segment {
  const InputFile* input = nullptr;
  std::uint64_t file_offset = 0;
  std::uint64_t bytes = 0;
  std::uint64_t memory_offset = 0;  ///< congruent to file_offset modulo the page if the input is direct or in memory
  std::uint64_t added_bytes = 0;    ///< bytes among these that the file lacks: 1 if a terminator is added at the end
};

/// Throws: io::Error: nothing could be read at `offset`, before the end that the file had.
[[noreturn]] void refuse_truncated(const InputFile& input, std::uint64_t offset);
/// Throws: the same if the file has become shorter.
void refuse_if_truncated(const InputFile& input);

/// Cuts segments into pieces of about `piece_bytes`, at record borders and, where the sizes allow it, page borders.
std::vector<Segment> cut(std::span<const Segment> segments, std::uint64_t piece_bytes, std::size_t record_bytes);

/// Checks that segments in memory end with whole lines. Throws: io::Error if not: a file has changed since it was
/// placed.
void check_ends_of_lines(const std::byte* memory, std::span<const Segment> segments, std::byte terminator);

/// Cuts segments in memory into pieces of about `piece_bytes`, each of whole records. Throws: as check_ends_of_lines().
std::vector<Segment> cut_records(const RecordLayout& layout, const std::byte* memory, std::span<const Segment> segments,
                                 std::uint64_t piece_bytes);

/// Reads segments into memory, several at a time. Thread safety: one thread.
class SegmentReader {
 public:
  /// `terminator`: the terminator of lines.
  SegmentReader(io::Queue& queue, std::byte* memory, std::optional<std::byte> terminator = {})
      : queue_(&queue), memory_(memory), terminator_(terminator.value_or(std::byte{})) {}

  bool full() const { return queue_->in_flight() == queue_->depth(); }
  bool idle() const { return queue_->in_flight() == 0; }
  /// Starts reading. `segment` must live until its completion. Requires: !full().
  void start(const Segment& segment);
  /// Waits for one segment to be in memory and returns it. Requires: !idle(). Throws: io::Error, also for an input
  /// that was truncated while it was read.
  const Segment& wait();

 private:
  io::Queue* queue_;
  std::byte* memory_;
  std::byte terminator_;
};

}  // namespace hetsort::sort
