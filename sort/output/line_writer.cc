// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
#include "sort/output/line_writer.h"

#include <algorithm>

namespace hetsort::sort {

bool LineWriter::passes(std::span<const std::byte> line) {
  if (verifier_ != nullptr) verifier_->inspect(line.data(), line.size());
  return filter_->keeps(line);
}

void LineWriter::write_in_pieces(std::span<const std::byte> line) {
  while (true) {
    const std::size_t bytes = std::min(line.size(), room_.size() - filled_);
    if (bytes > 0) std::memcpy(room_.data() + filled_, line.data(), bytes);
    filled_ += bytes;
    line = line.subspan(bytes);
    if (line.empty()) return;
    flush();
    const std::span<std::byte> room = sink_.room();
    room_ = room.first(std::min(room.size(), kVerifyBatchBytes));
  }
}

void LineWriter::flush() {
  if (filled_ > 0) {
    if (verifier_ != nullptr && filter_ == nullptr) verifier_->inspect(room_.data(), filled_);
    sink_.commit(filled_);
  }
  room_ = {};
  filled_ = 0;
}

}  // namespace hetsort::sort
