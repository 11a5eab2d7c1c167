// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
#include "sort/merge/line_streams.h"

#include <stdexcept>

namespace hetsort::sort {

std::span<const std::byte> LineStreams::next(std::size_t number) {
  Stream& stream = streams_[number];
  if (keys_.is_whole(stream.line.bytes())) stream.line.clear();
  while (true) {
    if (!stream.left.empty() && stream.line.empty()) {
      const std::span<const std::byte> lines = stream.left.first(keys_.whole_lines(stream.left));
      stream.left = stream.left.subspan(lines.size());
      if (!lines.empty()) return lines;
    }
    if (!stream.left.empty()) {
      const std::byte* const first = stream.left.data();
      const std::byte* const end = keys_.end_of_line(first, first + stream.left.size());
      stream.line.append({first, end});
      stream.left = stream.left.subspan(static_cast<std::size_t>(end - first));
      if (keys_.is_whole(stream.line.bytes())) return stream.line.bytes();
    }
    stream.left = source_.next(number);
    if (!stream.left.empty()) continue;
    if (!stream.line.empty()) throw std::runtime_error("a run ends inside a line: memory or network changed it");
    return {};
  }
}

}  // namespace hetsort::sort
