// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
//
// Puts sorted lines into a sink, and verifies what it has put there.
#pragma once

#include <cstddef>
#include <cstring>
#include <span>

#include "sort/model/record_order.h"
#include "sort/model/record_sink.h"
#include "sort/output/unique_filter.h"

namespace hetsort::sort {

/// Writes lines to a sink. A line may lie in several of its blocks. Thread safety: one thread.
class LineWriter {
 public:
  /// The sink's filter, if it has one, decides line by line; the verifier sees all lines. null = nothing is verified.
  LineWriter(RecordSink& sink, OrderVerifier* verifier)
      : sink_(sink), verifier_(verifier), filter_(sink.take_filter()) {}

  /// Writes one line. Throws: what the sink throws.
  void write(std::span<const std::byte> line) {
    if (filter_ != nullptr && !passes(line)) return;
    if (line.size() > room_.size() - filled_) return write_in_pieces(line);
    std::memcpy(room_.data() + filled_, line.data(), line.size());
    filled_ += line.size();
  }
  /// Commits what was written so far.
  void flush();

 private:
  bool passes(std::span<const std::byte> line);
  void write_in_pieces(std::span<const std::byte> line);

  RecordSink& sink_;
  OrderVerifier* verifier_;
  UniqueFilter* filter_;
  std::span<std::byte> room_;
  std::size_t filled_ = 0;
};

}  // namespace hetsort::sort
