// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
//
// A sink that costs nothing, so that the work before it can be measured.
#pragma once

#include <vector>

#include "sort/model/record_order.h"
#include "sort/model/record_sink.h"

namespace hetsort::sort::bench {

/// Cycles through blocks of the usual size and drops the records.
class DroppingSink : public RecordSink {
 public:
  std::span<std::byte> room() override { return std::span(block_).subspan(filled_, kBlockBytes - filled_); }
  void commit(std::size_t bytes) override {
    filled_ += bytes;
    if (kBlockBytes - filled_ < kMaxServedBytes) filled_ = 0;
  }
  void finish() override {}

 private:
  static constexpr std::size_t kBlockBytes = std::size_t{1} << 20;
  static constexpr std::size_t kMaxServedBytes = 4096;

  std::size_t filled_ = 0;
  std::vector<std::byte> block_ = std::vector<std::byte>(kBlockBytes + kReadableSlackBytes);
};

}  // namespace hetsort::sort::bench
