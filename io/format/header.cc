// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
#include "io/format/header.h"

#include "io/error.h"
#include "io/field.h"
#include "io/file_system.h"
#include "io/format/numpy.h"

namespace hetsort::io {

namespace {

/// The bytes of a file, one after the other.
class ByteReader {
 public:
  ByteReader(const File& file, bool stream) : file_(file), stream_(stream), block_(stream ? 1 : kBlockBytes) {}

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

  const File& file_;
  bool stream_;
  std::vector<std::byte> block_;
  std::size_t at_ = 0;
  std::size_t filled_ = 0;
  std::uint64_t offset_ = 0;
};

Header read_lines(const File& file, bool stream, const HeaderRule& rule, std::byte terminator) {
  Header header;
  ByteReader bytes(file, stream);
  for (std::uint64_t lines = 0; rule.comment || lines < rule.lines; ++lines) {
    std::optional<std::byte> byte = bytes.next();
    if (rule.comment && byte != static_cast<std::byte>(*rule.comment)) {
      if (stream) header.behind = byte;
      header.file_is_empty = lines == 0 && !byte;
      return header;
    }
    if (!byte)
      throw Error("read", file.name(),
                  "it has " + std::to_string(lines) + (lines == 1 ? " line" : " lines") +
                      ", fewer than the header of " + std::to_string(rule.lines) + " (" + field("header_lines") + ")");
    for (; byte && *byte != terminator; byte = bytes.next()) {
      header.text.push_back(*byte);
      if (header.text.size() > kMaxHeaderBytes)
        throw Error("read", file.name(), "its header is longer than " + human_size(kMaxHeaderBytes));
    }
    header.bytes = header.text.size() + (byte ? 1 : 0);
    header.text.push_back(terminator);
  }
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

Header read_header(const File& file, bool stream, const HeaderRule& rule, std::byte terminator) {
  if (rule.is_numpy()) return read_numpy(file, stream, rule);
  return rule.is_common() ? read_lines(file, stream, rule, terminator) : read_bytes(file, stream, rule.bytes);
}

void require_streamable(const File& file, const HeaderRule& rule) {
  if (rule.is_numpy())
    throw Error("read", file.name(), "all inputs must be NumPy files, as the first one is, and this is a stream");
}

}  // namespace hetsort::io
