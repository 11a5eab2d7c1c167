// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
#include "io/format/header.h"

#include <cassert>
#include <utility>

#include "io/error.h"
#include "io/field.h"
#include "io/file_system.h"
#include "io/format/numpy.h"

namespace hetsort::io {

namespace {

/// The bytes of a file, one after the other.
class ByteReader {
 public:
  ByteReader(const File& file, bool stream) : file_(file), stream_(stream), block_(kBlockBytes) {}

  /// None at the end.
  std::optional<std::byte> next() {
    if (at_ == filled_) {
      const std::size_t got = stream_ ? file_.read(block_) : file_.read_at(block_, offset_);
      if (got == 0) return std::nullopt;
      filled_ = got;
      offset_ += got;
      at_ = 0;
    }
    return block_[at_++];
  }
  /// Goes back by so many bytes. Requires: they were returned since a block was read.
  void go_back(std::size_t bytes) {
    assert(bytes <= at_);
    at_ -= bytes;
  }
  /// What was read and not returned.
  std::vector<std::byte> rest() const {
    return {block_.begin() + static_cast<std::ptrdiff_t>(at_), block_.begin() + static_cast<std::ptrdiff_t>(filled_)};
  }

 private:
  static constexpr std::size_t kBlockBytes = 4096;

  const File& file_;
  bool stream_;
  std::vector<std::byte> block_;
  std::size_t at_ = 0;
  std::size_t filled_ = 0;
  std::uint64_t offset_ = 0;
};

/// Which lines a header has, and the byte that ends each.
struct HeaderLines {
  const HeaderRule& rule;
  std::byte terminator{};
};

std::string_view text_of(std::span<const std::byte> bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

/// Adds the byte order mark at the start of a file to its header.
void read_mark(ByteReader& bytes, Header& header) {
  constexpr std::size_t kMarkBytes = 3;
  std::vector<std::byte> front;
  while (front.size() < kMarkBytes && (front.empty() || front.front() == std::byte{0xef})) {
    const std::optional<std::byte> byte = bytes.next();
    if (!byte) break;
    front.push_back(*byte);
  }
  header.file_is_empty = front.empty();
  if (byte_order_mark_bytes(text_of(front)) > 0) {
    header.text = std::move(front);
    header.bytes = kMarkBytes;
  } else {
    bytes.go_back(front.size());
  }
}

/// Adds a line, whose first byte is `byte`.
void read_line(ByteReader& bytes, const File& file, std::optional<std::byte> byte, const HeaderLines& lines,
               Header& header) {
  bool quoted = false;
  const std::size_t before = header.text.size();
  for (; byte && (quoted || *byte != lines.terminator); byte = bytes.next()) {
    quoted ^= lines.rule.csv && *byte == std::byte{'"'};
    header.text.push_back(*byte);
    if (header.text.size() > kMaxHeaderBytes)
      throw Error("read", file.name(), "its header is longer than " + human_size(kMaxHeaderBytes));
  }
  if (quoted) throw Error("read", file.name(), "the header has a quoted field that does not end");
  header.bytes += header.text.size() - before + (byte ? 1 : 0);
  header.text.push_back(lines.terminator);
}

Header read_lines(const File& file, bool stream, const HeaderLines& wanted) {
  Header header;
  ByteReader bytes(file, stream);
  const HeaderRule& rule = wanted.rule;
  if (rule.csv) read_mark(bytes, header);
  for (std::uint64_t lines = 0; rule.comment || lines < rule.lines; ++lines) {
    const std::optional<std::byte> byte = bytes.next();
    if (rule.comment && byte != static_cast<std::byte>(*rule.comment)) {
      if (byte) bytes.go_back(1);
      header.file_is_empty = lines == 0 && !byte;
      break;
    }
    if (!byte) {
      if (rule.csv && lines == 0) break;
      throw Error("read", file.name(),
                  "it has " + std::to_string(lines) + (lines == 1 ? " line" : " lines") +
                      ", fewer than the header of " + std::to_string(rule.lines) + " (" + field("header_lines") + ")");
    }
    read_line(bytes, file, byte, wanted, header);
  }
  if (stream) header.behind = bytes.rest();
  return header;
}

Header read_bytes(const File& file, bool stream, std::uint64_t bytes) {
  Header header{.text = std::vector<std::byte>(bytes), .bytes = bytes};
  const std::size_t got = stream ? file.read(header.text) : file.read_at(header.text, 0);
  if (got < bytes)
    throw Error("read", file.name(),
                "it has " + std::to_string(got) + " bytes, fewer than the header of " + std::to_string(bytes) + " (" +
                    field("header") + ")");
  return header;
}

Header read_numpy(const File& file, bool stream, const HeaderRule& rule) {
  const std::optional<NumpyHeader> own = read_numpy_header(file);
  if (!own)
    throw Error("read", file.name(), "this is no NumPy file, and the first input " + rule.numpy_file + " is one");
  const NumpyType type = parse_numpy_header(rule.numpy, rule.numpy_file).type;
  if (!own->type.is_like(type))
    throw Error("read", file.name(),
                "its elements have the type " + own->type.text + ", and those of " + rule.numpy_file + " the type " +
                    type.text);
  Header header = read_bytes(file, stream, own->header_bytes);
  header.text = rule.numpy;
  return header;
}

}  // namespace

bool have_same_lines(std::span<const std::byte> a, std::span<const std::byte> b) {
  const auto lines_of = [](std::string_view text) { return text.substr(byte_order_mark_bytes(text)); };
  return lines_of(text_of(a)) == lines_of(text_of(b));
}

Header read_header(const File& file, bool stream, const HeaderRule& rule, std::byte terminator) {
  if (rule.is_numpy()) return read_numpy(file, stream, rule);
  return rule.is_common() ? read_lines(file, stream, {rule, terminator}) : read_bytes(file, stream, rule.bytes);
}

void require_streamable(const File& file, const HeaderRule& rule) {
  if (rule.is_numpy())
    throw Error("read", file.name(), "all inputs must be NumPy files, as the first one is, and this is a stream");
}

}  // namespace hetsort::io
