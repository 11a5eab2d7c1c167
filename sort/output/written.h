// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
//
// Which parts of the whole output a rank has written.
//
// In: for each part its place and what was inspected while it was written. Out: what follows from all of them.
// Idea: the output of all ranks consists of consecutive parts, numbered in the order of the output: the shares of the
// ranks, or ranges of them if ranks wrote ranges of other ranks. Parts that follow each other become one.
#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "sort/model/record_order.h"

namespace hetsort::sort {

struct WrittenPart {
  std::size_t first = 0;  ///< numbers [first, end) in the order of the whole output
  std::size_t end = 1;
  std::uint64_t first_byte = 0;  ///< place of its first record in the records of the output that this rank opened
  OrderVerifier verifier;
};

class Written {
 public:
  explicit Written(const RecordLayout& layout) : layout_(layout) {}
  /// All that one rank writes, if each rank writes its own share.
  Written(std::size_t rank, OrderVerifier verifier) : layout_(verifier.layout()) {
    parts_.push_back({rank, rank + 1, 0, std::move(verifier)});
  }

  const RecordLayout& layout() const { return layout_; }
  const std::vector<WrittenPart>& parts() const { return parts_; }
  /// Adds a part behind those before. Requires: its number is above theirs.
  void append(WrittenPart part) {
    if (parts_.empty() || parts_.back().end != part.first) return parts_.push_back(std::move(part));
    parts_.back().end = part.end;
    parts_.back().verifier.append(std::move(part.verifier));
  }
  /// The records and the bytes of all parts.
  MultisetDigest digest() const {
    MultisetDigest sum;
    for (const WrittenPart& part : parts_) sum += part.verifier.digest();
    return sum;
  }
  std::uint64_t bytes() const {
    std::uint64_t sum = 0;
    for (const WrittenPart& part : parts_) sum += part.verifier.bytes();
    return sum;
  }
  /// All parts as one, although others may lie between them.
  OrderVerifier joined() const {
    OrderVerifier all(layout_);
    for (const WrittenPart& part : parts_) all.append(part.verifier);
    return all;
  }

 private:
  RecordLayout layout_;
  std::vector<WrittenPart> parts_;
};

}  // namespace hetsort::sort
