// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
//
// Streams of whole lines, from streams whose blocks may cut lines.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "order/line_buffer.h"
#include "sort/model/record_order.h"
#include "sort/model/record_streams.h"

namespace hetsort::sort {

/// Joins lines that blocks cut. Allocates: for each stream the longest line that a block cuts.
class LineStreams : public RecordStreams {
 public:
  LineStreams(RecordStreams& source, const LineKeys& keys) : source_(source), keys_(keys), streams_(source.streams()) {}

  std::size_t streams() const override { return streams_.size(); }
  /// The next whole lines. Throws: what the source throws; std::runtime_error if a stream ends inside a line.
  std::span<const std::byte> next(std::size_t stream) override;

 private:
  struct Stream {
    std::span<const std::byte> left;  // rest of the source's block
    order::LineBuffer line;           // a line that blocks cut: the one that was returned last, or the begin of one
  };

  RecordStreams& source_;
  LineKeys keys_;
  std::vector<Stream> streams_;
};

}  // namespace hetsort::sort
