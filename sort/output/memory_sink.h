// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
//
// Puts sorted records into memory of the caller.
#pragma once

#include <cstddef>
#include <span>

#include "sort/model/record_sink.h"

namespace hetsort::sort {

class MemorySink : public RecordSink {
 public:
  /// Records go to the front of `memory`. Nothing behind its end may be read, so the last records pass through
  /// `staging`, which has room for one record and the slack.
  MemorySink(std::span<std::byte> memory, std::span<std::byte> staging, std::size_t record_bytes)
      : memory_(memory), staging_(staging), record_bytes_(record_bytes) {}

  std::span<std::byte> room() override;
  void commit(std::size_t bytes) override;
  void finish() override {}

 private:
  std::span<std::byte> memory_;  // the part that is free
  std::span<std::byte> staging_;
  std::size_t record_bytes_;
};

}  // namespace hetsort::sort
