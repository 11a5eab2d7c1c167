// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
//
// A sink that collects records in memory.
#pragma once

#include "sort/model/record_sink.h"
#include "tests/sort/oracle.h"

namespace hetsort::sort::test {

/// Has room for a few records at a time.
class CollectingSink : public RecordSink {
 public:
  explicit CollectingSink(std::size_t room_bytes) : room_(room_bytes + kReadableSlackBytes) {}

  std::span<std::byte> room() override { return std::span(room_).first(room_.size() - kReadableSlackBytes); }
  void commit(std::size_t bytes) override {
    collected_.insert(collected_.end(), room_.begin(), room_.begin() + static_cast<std::ptrdiff_t>(bytes));
  }
  void finish() override {}

  const Bytes& collected() const { return collected_; }

 private:
  Bytes room_;
  Bytes collected_;
};

}  // namespace hetsort::sort::test
