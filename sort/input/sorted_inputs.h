// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
//
// Inputs that are sorted already, as streams for a merge. Checks their order while it reads them.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "io/calls/buffer.h"
#include "io/error.h"
#include "sort/input/input.h"
#include "sort/input/segment_reader.h"
#include "sort/model/record_order.h"
#include "sort/model/record_streams.h"

namespace hetsort::sort {

/// An input that was expected to be sorted is not.
class NotSorted : public io::Error {
 public:
  using io::Error::Error;
};

/// Records that are in order, from one byte of a file to another.
struct Stretch {
  const InputFile* input = nullptr;
  std::uint64_t first_byte = 0;
  std::uint64_t end_byte = 0;  ///< a terminator that the file lacks counts
};

/// One stretch for each input, which contains all of it.
std::vector<Stretch> whole_inputs(const Input& input);

/// Each stretch is a stream of blocks, several of which are read ahead. Pipes are read when their records are wanted.
class SortedInputs : public RecordStreams {
 public:
  struct Memory {
    std::uint64_t bytes = 0;           ///< limit of everything that grows with the inputs and their lines
    std::uint64_t max_line_bytes = 0;  ///< longer lines are refused
    std::uint64_t codec_bytes = 0;     ///< what decoders and compressors have taken before
  };

  /// Reads the headers of pipes and starts reading files. Allocates: at most the memory, of which lines that blocks cut
  /// get a part. If `reversed`, stretches descend and are read from their ends; records with equal keys are
  /// no order then, because theirs would be reversed too, unless all their bytes are equal. Throws: io::Error;
  /// RequestError if memory has no room for two blocks of each stretch. Requires: stretches in input order, at record
  /// borders; no pipes if reversed; the INPUTs of all stretches are open.
  SortedInputs(Input& input, const RecordLayout& layout, const Memory& memory, const std::vector<Stretch>& stretches,
               bool reversed = false);

  /// The memory without which blocks of so many streams have no room.
  static std::uint64_t least_bytes(std::size_t record_bytes, std::size_t streams);

  std::size_t streams() const override { return streams_.size(); }
  /// The next records, or whole lines. Throws: io::Error; NotSorted for a record that is below the one before it, for a
  /// line that is too long, and if the long lines of all streams together are.
  std::span<const std::byte> next(std::size_t stream) override;
  /// The digest of what was read so far.
  MultisetDigest digest() const;
  std::uint64_t bytes_of_records() const;

 private:
  struct Stream {
    Stretch part;
    std::vector<Segment> blocks;  // one block for each buffer; of size 0 if nothing is being read
    std::vector<char> arrived;    // whether each buffer's block has arrived
    std::uint64_t next_byte = 0;  // byte of the file to be read next; if reversed, the end of the bytes to be read next
    std::size_t buffer = 0;       // the buffer that the consumer reads next
    bool in_use = false;          // the consumer still reads the buffer before
    OrderVerifier verifier;
    std::vector<std::byte> last{};           // if reversed: the last record that was returned
    std::vector<std::byte> cut_line{};       // if reversed: the end of a line that begins in the next block
    std::vector<std::byte> turned{};         // if reversed: the lines that were returned last
    std::byte last_byte{};                   // last byte that was read of a pipe
    std::optional<io::StreamFront> front{};  // the first bytes of a pipe
    std::optional<CsvStream> rows{};         // the rows of a pipe of CSV
    std::span<const std::byte> left{};       // whole lines: what is left of the block that was read last
    std::uint64_t held_bytes = 0;            // bytes of lines that the verifier keeps
  };

  std::uint64_t buffer_at(std::size_t stream, std::size_t buffer) const {
    return (stream * buffers_each_ + buffer) * stride_;
  }
  void request(std::size_t stream, std::size_t buffer);
  void start(const Segment& block);
  void wait_for_one();
  void size_blocks(const Memory& memory, std::size_t streams);
  std::span<const std::byte> next_lines(std::size_t stream);
  void inspect_lines(Stream& stream, std::span<const std::byte> bytes);
  std::span<const std::byte> next_of_file(std::size_t stream);
  std::span<const std::byte> next_turned_lines(std::size_t stream);
  std::span<const std::byte> next_of_pipe(std::size_t stream);
  std::span<const std::byte> next_block(std::size_t stream);
  void turn_lines(Stream& stream, std::span<const std::byte> block, bool is_first) const;
  void turn(std::span<std::byte> records) const;
  void check(Stream& stream, std::span<const std::byte> records) const;
  void refuse_equal(Stream& stream, std::span<const std::byte> records) const;

  const Input& input_;
  RecordLayout layout_;
  bool cuts_lines_;  // blocks may cut records
  bool reversed_;
  std::size_t buffers_each_ = 0;
  std::uint64_t block_bytes_ = 0;  // whole records
  std::uint64_t stride_ = 0;       // distance of buffers in memory
  std::uint64_t max_line_bytes_;
  std::uint64_t max_held_bytes_ = 0;  // maximum bytes of kept lines of all streams
  std::uint64_t held_bytes_ = 0;
  io::Buffer memory_;
  std::vector<Stream> streams_;
  std::unique_ptr<io::Queue> queue_;
  SegmentReader reader_;
};

}  // namespace hetsort::sort
