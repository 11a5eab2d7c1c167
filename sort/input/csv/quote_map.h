// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
//
// Which newlines of a CSV file are within quotes, wherever it is read.
//
// In: a file of rows. Out: a map of its blocks, with which any part of the file can be read as lines; or an error that
// names the first row that is malformed. Idea: the number of quotes before a block decides whether the block begins
// within quotes. Threads read consecutive chunks at the same time, and pass the parity of their quotes on to the next
// chunk before they check the rows of their own. If ranks share the file, each scans a part of it, at first as if the
// part began outside of quotes. Cost: one read of the file, two of a part whose begin was guessed wrong; one byte of
// memory for 16 KiB; two collectives if ranks share the file.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "comm/communicator.h"
#include "io/file.h"
#include "order/lines/csv_rows.h"

namespace hetsort::sort {

/// Thread safety: any thread.
class QuoteMap {
 public:
  static constexpr std::size_t kBlockBytes = std::size_t{16} << 10;

  /// What is known of a block.
  struct Block {
    bool begins_inside : 1 = false;   ///< its first byte is within quotes
    bool hides_newlines : 1 = false;  ///< some newline in it is
  };

  /// `blocks`: all of the file; in the first ones nothing counts before byte `begin`.
  QuoteMap(std::uint64_t begin, std::vector<Block> blocks);

  /// Whether some newline of the file is within quotes.
  bool hides_newlines() const { return hides_newlines_; }
  /// Replaces newlines within quotes in `bytes`, which were read at `offset` of the file. May read what precedes them
  /// in their block. Throws: io::Error.
  void hide(const io::File& file, std::uint64_t offset, std::span<std::byte> bytes) const;

 private:
  std::uint64_t begin_;
  std::vector<Block> blocks_;
  bool hides_newlines_ = false;
};

/// What is mapped, and by how many threads.
struct QuoteMapRequest {
  const io::File& file;
  std::uint64_t begin = 0;  ///< first byte of the first row
  std::uint64_t end = 0;    ///< end of the file
  order::CsvFormat format{};
  std::size_t threads = 1;
};

/// Maps a file. `ranks`: those that share it; null = this rank alone reads it. Collective, if there are ranks. Throws:
/// io::Error for a row that is malformed, with its line; PeerFailed.
std::shared_ptr<const QuoteMap> map_quotes(const QuoteMapRequest& request, comm::Communicator* ranks);

/// The rows of a stream, in which newlines within quotes are replaced as they are read. Thread safety: one thread.
class CsvStream {
 public:
  /// `name`: that of the stream. `lines`: the number of newlines in its header.
  CsvStream(std::string name, const order::CsvFormat& format, std::uint64_t lines)
      : name_(std::move(name)), rows_(format, lines) {}

  /// Takes the next bytes. Throws: io::Error for a row that is malformed, with its line.
  void take(std::span<std::byte> bytes);
  /// Throws: io::Error if the last row is malformed.
  void finish();

 private:
  std::string name_;
  order::RowScanner rows_;
};

}  // namespace hetsort::sort
