// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
//
// The records to sort.
//
// In: paths. Out: files of known size, read in any order by several threads, or streams, read front to back.
#pragma once

#include <cassert>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "io/compression/decoder_memory.h"
#include "io/file.h"
#include "io/format/content.h"
#include "io/format/header.h"
#include "io/transfer/access.h"
#include "sort/input/csv/quote_map.h"
#include "sort/model/input_segments.h"
#include "sort/model/record_order.h"
#include "sort/model/sort_options.h"

namespace hetsort::sort {

/// One INPUT of the command line.
struct InputFile {
  io::File file;
  std::uint64_t size_bytes = 0;     ///< size found at the start, with the header; 0 for a stream
  std::uint64_t header_bytes = 0;   ///< bytes before the first record; 0 for a stream
  bool stream = false;              ///< read front to back: a pipe, a file that hides its size, compressed data
  bool compressed = false;          ///< a file of compressed data; a pipe may have some, too
  bool decoding = false;            ///< a stream whose first bytes were read, to see whether it is compressed
  std::uint64_t decoder_bytes = 0;  ///< memory that decoding it takes, as far as its first bytes were seen
  bool direct = false;              ///< opened for direct I/O
  bool in_memory = false;           ///< all of it is in memory and may be mapped
  bool overwritten = false;         ///< the output is this file: nothing is read from it once output is written
  std::uint64_t added_bytes = 0;    ///< 1 if its last line has no terminator, which is added then
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

/// What every INPUT consists of.
struct InputFormat {
  std::size_t record_bytes = 1;
  io::HeaderRule header{};  ///< what precedes the records of each INPUT
  /// The end of a line, if records are lines; record_bytes is 1 then. A last line without terminator gets one.
  std::optional<std::byte> terminator{};
  io::ContentRules content{};  ///< what is checked in the first bytes of each
  unsigned decoders = 1;       ///< threads that decompress an INPUT
};

/// Throws: io::Error: nothing could be read at `offset`, before the end that the file had.
[[noreturn]] void refuse_truncated(const InputFile& input, std::uint64_t offset);

/// Throws: io::Error if the file has become shorter.
void refuse_if_truncated(const InputFile& input);

/// The format of files with this layout, and with the header and content that the options say.
InputFormat input_format(const RecordLayout& layout, const InputOptions& options);

/// The number of records in so many bytes of memory. Throws: RequestError if it is not whole.
std::uint64_t whole_records(std::uint64_t bytes, std::size_t record_bytes);

class Input {
 public:
  /// Opens `paths` ("-" or none = standard input). Throws: io::Error naming path and reason: missing, a directory, or a
  /// size that is no header and records (with offset and left-over bytes); io::ContentError for a file of another kind;
  /// io::SizeError for more bytes together than io::kMaxTotalBytes.
  Input(const std::vector<std::string>& paths, const InputFormat& format, io::Access access);

  /// The input is one opened file without a header, which is read buffered.
  Input(io::File file, std::size_t record_bytes, std::optional<std::byte> terminator = {});
  /// The input is a stream: set_source() says where it comes from, take_share() sets its size.
  explicit Input(std::size_t record_bytes) : record_bytes_(record_bytes), stream_(true) {}
  /// The input is memory of the caller. Throws: RequestError if that has no whole number of records.
  Input(std::span<const std::byte> records, std::size_t record_bytes);
  using Source = std::function<std::size_t(std::span<std::byte>)>;
  void set_source(Source source) { source_ = std::move(source); }

  /// Whether some INPUT is a stream; then all are read front to back and the size is not known before the end.
  bool is_stream() const { return stream_; }
  bool is_memory() const { return memory_.has_value(); }
  /// The memory of the caller. Requires: is_memory().
  std::span<const std::byte> memory() const {
    assert(is_memory());
    return *memory_;
  }
  /// Whether 'ulimit -n' is too low for all INPUTs: regular files are then opened when their turn comes.
  bool opens_in_turn() const { return opens_in_turn_; }
  /// The number of INPUTs that may be open at once, at least two.
  static std::size_t most_open();
  /// Opens INPUTs that are not open. Throws: io::Error.
  void open_files(std::size_t first, std::size_t count);
  /// Closes INPUTs. Throws: io::Error for one that has changed its size since the start.
  void close_files(std::size_t first, std::size_t count);
  /// Whether all INPUTs that are streams are files of compressed data, so that all can be opened before one is read.
  bool is_compressed() const;
  /// The first INPUT that is a stream. Requires: is_stream(); opened by path.
  const std::string& stream_name() const;
  /// The bytes to read: those of all inputs, or of the share of them that this rank takes.
  std::uint64_t total_bytes() const { return total_bytes_; }
  /// From now on only bytes [first_byte, first_byte + bytes) are the input. Requires: record borders.
  void take_share(std::uint64_t first_byte, std::uint64_t bytes) {
    assert(first_byte % record_bytes_ == 0 && bytes % record_bytes_ == 0);
    first_byte_ = first_byte;
    total_bytes_ = bytes;
  }
  std::size_t record_bytes() const { return record_bytes_; }
  /// The header of the first INPUT that has one. A stream has it once its records are read, or by bind_columns().
  const std::vector<std::byte>& header() const { return header_; }
  void set_header(std::vector<std::byte> header) { header_ = std::move(header); }
  /// If records are rows of CSV: reads the header of the first INPUT, if that is a stream, and returns the layout whose
  /// keys have the fields of their columns. From now on read_stream() checks rows, and other bytes stand in them for
  /// newlines within quotes. `rule`: what the header is, also of a stream of rank 0. Throws: RequestError for a key
  /// that is no column; as begin_stream().
  RecordLayout bind_columns(const RecordLayout& layout, const io::HeaderRule& rule);
  /// Makes all other reads do so, too, and reads the INPUTs of known size for it. `ranks`: those that share them; null
  /// = this rank alone has them. Collective, if there are ranks. Throws: io::Error for a row that is malformed;
  /// PeerFailed.
  void map_quotes(std::size_t threads, comm::Communicator* ranks);
  /// The rows of a stream that has begun, if it is CSV.
  std::optional<CsvStream> rows_of(const io::File& file) const;
  bool header_is_whole_pages() const;
  /// The bytes of the output's header, as far as the first INPUT was opened or, if it is a stream, read.
  std::uint64_t header_bytes() const { return header_.size(); }
  /// Reads the first bytes of the first INPUT if it is a pipe, or of all that are, to see whether they are compressed.
  /// A pipe may have no bytes before those in front of it are read. Throws: io::Error.
  void look_at_streams(bool all);
  /// Plans the memory for decoding compressed INPUTs, all at once if they are read `together`, else one after the
  /// other. Returns what of `memory_bytes` remains for the sort. Throws: io::Error if that is too little.
  std::uint64_t plan_decoders(std::uint64_t memory_bytes, bool together);
  /// Reads past the header of one of files(), which is a stream, and begins to read what is behind. That of the first
  /// one becomes that of the output, and is read once only. Returns its bytes. Throws: io::Error if the INPUT is
  /// shorter, or if its header is not that of the first one; io::ContentError.
  std::uint64_t begin_stream(const InputFile& input, std::optional<io::StreamFront>& front);
  /// Checks that the `size` bytes of an INPUT behind its header are whole records. Throws: io::Error.
  void check_whole_records(const io::File& file, std::uint64_t size) const;
  const std::vector<InputFile>& files() const { return files_; }
  /// How the inputs of known size are read: the best way that all of them allow.
  io::Backend backend() const { return backend_; }
  /// The part of the input, 0 to 1, that is in the page cache and is read from there: nothing of a stream or of a file
  /// that is read with direct I/O. An estimate from samples of up to 64 files. Reads nothing into the cache.
  double cached_fraction() const;
  /// Whether all inputs are in memory already, in files that may be mapped instead of read.
  bool can_be_mapped() const;
  /// Whether `file` is one of the inputs.
  bool includes(const io::FileStatus& file) const;
  /// `output` will be overwritten in place: an input that is the same file is read before that, not mapped, and has no
  /// runs in place.
  void keep_apart_from(const io::FileStatus& output);

  /// Calls `work` while the input is the whole input, not this rank's share of it.
  template <typename Work>
  void with_all(const Work& work) {
    const std::uint64_t first = std::exchange(first_byte_, 0);
    work(*this);
    first_byte_ = first;
  }

  /// The segments of bytes [first_byte, first_byte + bytes) of the input, placed one behind the other from memory
  /// offset 0 on, and the memory they need, in whole pages. Requires: !is_stream(), record borders.
  std::vector<Segment> place(std::uint64_t first_byte, std::uint64_t bytes, std::uint64_t& memory_bytes) const;

  /// The next bytes of the stream: fills `into`, fewer only at the end of all inputs. Throws: io::Error, also for a
  /// last record that is cut short; io::ContentError. Thread safety: one thread at a time.
  std::size_t read_stream(std::span<std::byte> into);
  /// From now on read_stream() calls `count` with the bytes that it reads, as they come.
  void count_stream(std::function<void(std::uint64_t bytes)> count) { count_ = std::move(count); }

  /// Reads from byte `at` of the input on, as far as `into` has room, but not beyond the file that has this byte.
  /// Returns the bytes, at least one. Requires: !is_stream(); at < total_bytes(). Throws: io::Error.
  std::size_t peek(std::uint64_t at, std::span<std::byte> into) const;

  /// Where the first record begins at or behind byte `at` of the input, or the input's end; or a place behind `limit`,
  /// if that lies behind it. Requires: a known size; `at` is a border of records of fixed size. Throws: io::Error.
  std::uint64_t record_start(std::uint64_t at, std::uint64_t limit = kToTheEnd) const;
  /// An estimate of the bytes that a record has: of lines from a sample, below rather than above the true mean, and a
  /// guess for a stream.
  std::uint64_t mean_record_bytes() const { return mean_record_bytes_; }

  // The functions from here on are about lines.

  /// The terminator of lines; none if the records have a fixed size.
  std::optional<std::byte> terminator() const { return terminator_; }
  /// Where the last line begins within (first, at]; `first` if none does. Requires: lines, of known size; first < at <=
  /// total_bytes(). Throws: io::Error.
  std::uint64_t last_line_start(std::uint64_t first, std::uint64_t at) const;
  /// Throws long_line_text() as io::Error for a line that begins at byte `at` and is longer than `most` bytes.
  [[noreturn]] void refuse_long_line(std::uint64_t at, std::uint64_t most) const;

  /// Checks that no input changed its size since the start. Throws: io::Error.
  void check_unchanged() const;

 private:
  void add(const std::string& path);
  void add(io::File file, bool stream);
  void begin_decoding(InputFile& input);
  void check_sized(InputFile& input, std::span<const std::byte> front);
  io::Header read_header(const io::File& file, bool stream) const;
  void keep_header(const io::File& file, const io::Header& header, bool first);
  std::size_t end_of_stream_input(std::span<std::byte> into);
  std::uint64_t sampled_line_bytes() const;
  std::size_t read_near(const InputFile& input, std::uint64_t offset, std::span<std::byte> into) const;

  std::size_t record_bytes_;
  io::HeaderRule header_rule_{};
  std::optional<std::byte> terminator_;
  io::ContentRules content_;
  unsigned decoders_ = 1;
  std::shared_ptr<io::DecoderMemory> decoder_memory_ = std::make_shared<io::DecoderMemory>();
  std::vector<std::byte> header_;      // header of the first input
  std::string header_name_{};          // name of this input
  std::uint64_t streamed_header_ = 0;  // bytes of the header of the input that is being streamed
  std::optional<std::span<const std::byte>> memory_{};
  bool stream_ = false;
  bool opens_in_turn_ = false;
  std::uint64_t first_byte_ = 0;  // byte of the whole input at which this rank's share starts
  std::uint64_t total_bytes_ = 0;
  io::Backend backend_ = io::Backend::kBuffered;
  std::vector<InputFile> files_;
  Source source_;  // where a remote stream comes from
  std::function<void(std::uint64_t)> count_{};
  std::size_t streaming_ = 0;             // number of the input that is being streamed
  std::optional<io::StreamFront> front_;  // front of this input, once its header was read
  std::optional<order::CsvFormat> csv_;   // if the inputs are CSV
  std::optional<CsvStream> rows_;         // the rows of this input then
  std::uint64_t streamed_bytes_ = 0;      // bytes of records that were read from it
  std::byte last_byte_{};                 // the last one of these bytes
  std::uint64_t mean_record_bytes_ = terminator_ ? order::kGuessedLineBytes : record_bytes_;
  std::vector<std::uint64_t> stream_ends_;  // end of each input that was read, in the whole stream
};

/// What is reported of a line that begins at `offset` of its file and is longer than `most` bytes.
std::string long_line_text(std::uint64_t offset, std::uint64_t most);

}  // namespace hetsort::sort
