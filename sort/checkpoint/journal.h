// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
//
// A text file of lines that survive the death of the process and of the machine.
//
// In: lines without newlines. Out: those of earlier processes that are whole. Idea: each line ends with its CRC-32C and
// is on the disk when append() returns. A last line that a death has cut short is dropped; a line in which a bit
// flipped does not count. docs/formats/checkpoint.md describes the lines of a sort.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "io/file.h"

namespace hetsort::sort {

/// Thread safety: one thread at a time.
class Journal {
 public:
  /// Opens and locks the file, if there is one. A lock that another process has is waited for: of a process that was
  /// killed it stays until the memory of this process is free. Throws: RequestError if the lock stays; io::Error.
  explicit Journal(std::string path);

  const std::string& path() const { return path_; }
  bool exists() const { return file_.is_open(); }
  /// The whole lines that were there, without their checksums.
  const std::vector<std::string>& lines() const { return lines_; }
  /// The number of lines that were there and have a wrong checksum; the last line does not count.
  std::size_t damaged_lines() const { return damaged_lines_; }
  /// Creates and locks the file, if there was none. Throws: RequestError if another process has it now; io::Error.
  void create();
  /// Adds a line, or several that are separated by newlines. They are on the disk at the end. Requires: a file. Throws:
  /// io::Error.
  void append(std::string_view lines);
  /// Removes all lines. Throws: io::Error.
  void clear();

 private:
  std::string path_;
  io::File file_;
  std::vector<std::string> lines_;
  std::size_t damaged_lines_ = 0;
  std::uint64_t end_ = 0;  // where the next line goes
};

/// The whole lines of a journal that another process may be writing. Throws: io::Error.
std::vector<std::string> read_journal(const io::File& file);

/// Opens a journal and keeps away sorts that would write to it until the file is closed. Returns a closed File if there
/// is no journal, or if the sort that had it has removed it. Throws: RequestError if one has it and keeps it;
/// io::Error.
io::File open_unused_journal(const std::string& path);

/// `text` as one word: what is not printable, spaces and percent signs become %XX.
std::string as_word(std::string_view text);
/// The text of such a word.
std::string text_of_word(std::string_view word);

/// The words of a line, one after the other. A word that is missing or no number makes the line bad.
class LineWords {
 public:
  explicit LineWords(std::string_view line) : left_(line) {}

  std::string_view word();
  std::uint64_t number(int base = 10);
  std::string text() { return text_of_word(word()); }
  bool at_end() const { return left_.empty(); }
  bool bad() const { return bad_; }

 private:
  std::string_view left_;
  bool bad_ = false;
};

}  // namespace hetsort::sort
