// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
//
// Refuses inputs that are not what they would be sorted as.
//
// In: the first bytes of each input, behind its header, as they are read. Out: nothing; an error that names the format
// and the way out; or a note. Idea: nothing is read twice and no stream is waited for, because the bytes that are
// looked at are those that are sorted. Cost: one read of kFrontBytes for each file.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "io/error.h"
#include "io/file.h"

namespace hetsort::io {

/// Bytes that are looked at. No more than the smallest block that a merge reads, so that nothing of a refused stream is
/// written.
inline constexpr std::size_t kFrontBytes = 2048;

/// An input is not what it would be sorted as. Its operation is that of reading it.
class ContentError : public Error {
 public:
  using Error::Error;
};

/// Which inputs are refused.
enum class Refused : std::uint8_t {
  kNothing,
  kFormats,         ///< files of known formats that are neither records nor lines
  kFormatsAndText,  ///< also text: the size of a record is only assumed
};

/// What the caller does with the records. It decides what a message advises.
enum class ContentUse : std::uint8_t { kSort, kCheck, kValidate };

/// What is checked in the first bytes of an input.
struct ContentRules {
  Refused refused = Refused::kFormats;
  ContentUse use = ContentUse::kSort;
  std::optional<char> separator{};  ///< what separates the fields of lines
  char terminator = '\n';           ///< what ends a line
  bool decompress = true;           ///< what the data of a compressed format hold is looked at and read, not the data
  /// Is called for an input that is sorted as asked, but perhaps not as meant.
  std::function<void(const std::string&)> note{};
};

/// Checks an input of this name that begins with `front`, which has kFrontBytes unless the input is shorter.
/// Throws: ContentError.
void check_front(const std::string& name, std::span<const std::byte> front, const ContentRules& rules);

/// Reads the first kFrontBytes of a file, or all of a shorter one; nothing if nobody looks at them. Throws: Error.
std::vector<std::byte> read_front(const File& file, const ContentRules& rules);

/// Checks the bytes of a file from `offset` on. Throws: ContentError; Error.
void check_front(const File& file, std::uint64_t offset, const ContentRules& rules);

/// Checks the first bytes of a stream while they are read. Thread safety: one thread at a time.
class StreamFront {
 public:
  explicit StreamFront(ContentRules rules) : rules_(std::move(rules)) {}
  /// Bytes in front of the others were read already: `header`, which is looked at too, and `unread`, which read()
  /// returns first. Throws: ContentError.
  StreamFront(ContentRules rules, const std::string& name, std::span<const std::byte> header,
              std::vector<std::byte> unread);

  /// Reads as File::read() does. Throws: ContentError once kFrontBytes were read, or all of a shorter stream; Error.
  std::size_t read(const File& file, std::span<std::byte> into);

 private:
  ContentRules rules_;
  std::vector<std::byte> front_;
  bool is_checked_ = false;
  std::vector<std::byte> unread_{};
};

}  // namespace hetsort::io
