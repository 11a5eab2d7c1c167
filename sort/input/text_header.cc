// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
#include "sort/input/text_header.h"

#include <fmt/format.h>

#include "io/field.h"
#include "io/file_system.h"
#include "sort/model/record_order.h"

namespace hetsort::sort {

namespace {

/// The bytes of a file, one after the other.
class Bytes {
 public:
  Bytes(const io::File& file, bool stream) : file_(file), stream_(stream), block_(stream ? 1 : kBlockBytes) {}

  /// None at the end.
  std::optional<std::byte> next() {
    if (at_ == filled_) {
      filled_ = stream_ ? file_.read(block_) : file_.read_at(block_, offset_);
      offset_ += filled_;
      at_ = 0;
      if (filled_ == 0) return std::nullopt;
    }
    return block_[at_++];
  }

 private:
  static constexpr std::size_t kBlockBytes = 4096;

  const io::File& file_;
  bool stream_;
  std::vector<std::byte> block_;
  std::size_t at_ = 0;
  std::size_t filled_ = 0;
  std::uint64_t offset_ = 0;
};

}  // namespace

TextHeader read_text_header(const io::File& file, bool stream, const TextHeaderRule& rule, std::byte terminator) {
  TextHeader header;
  Bytes bytes(file, stream);
  for (std::uint64_t lines = 0; rule.comment || lines < rule.lines; ++lines) {
    std::optional<std::byte> byte = bytes.next();
    if (rule.comment && byte != static_cast<std::byte>(*rule.comment)) {
      if (stream) header.behind = byte;
      header.file_is_empty = lines == 0 && !byte;
      return header;
    }
    if (!byte)
      throw io::Error("read", file.name(),
                      fmt::format("it has {} line{}, fewer than the header of {} ({})", lines, lines == 1 ? "" : "s",
                                  rule.lines, io::field("header_lines")));
    for (; byte && *byte != terminator; byte = bytes.next()) {
      header.text.push_back(*byte);
      if (header.text.size() > kMaxHeaderBytes)
        throw io::Error("read", file.name(), "its header is longer than " + io::human_size(kMaxHeaderBytes));
    }
    header.bytes = header.text.size() + (byte ? 1 : 0);
    header.text.push_back(terminator);
  }
  return header;
}

}  // namespace hetsort::sort
