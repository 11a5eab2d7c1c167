// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
//
// The sinks of one thread, which it uses one after the other.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>

#include "sort/output/memory_sink.h"
#include "sort/output/output.h"
#include "sort/output/staging.h"

namespace hetsort::sort {

/// Thread safety: one thread.
class OutputSinks {
 public:
  /// `staging`: the thread's memory for `blocks` blocks that are being written.
  OutputSinks(Output& output, std::span<std::byte> staging, std::size_t blocks) : output_(output), staging_(staging) {
    if (output.is_memory()) return;
    queue_ = output.make_queue(blocks);
    ring_.emplace(staging, blocks, *queue_);
  }

  /// Takes this rank's records from byte `first_byte` of them on.
  std::unique_ptr<RecordSink> sink_at(std::uint64_t first_byte, std::size_t record_bytes) {
    if (output_.is_memory())
      return std::make_unique<MemorySink>(output_.memory().subspan(first_byte), staging_, record_bytes);
    return std::make_unique<FileSink>(output_, *ring_, record_bytes, first_byte);
  }

 private:
  class FileSink : public RecordSink {
   public:
    FileSink(Output& output, StagingRing& ring, std::size_t record_bytes, std::uint64_t first_byte)
        : writer_(output.files(), ring, record_bytes, output.first_byte() + first_byte),
          filtered_(writer_, output.filter()) {}

    std::span<std::byte> room() override { return filtered_.room(); }
    void commit(std::size_t bytes) override { filtered_.commit(bytes); }
    void finish() override { filtered_.finish(); }
    UniqueFilter* filter() override { return filtered_.filter(); }

   private:
    RangeWriter writer_;
    FilteredSink filtered_;
  };

  Output& output_;
  std::span<std::byte> staging_;
  std::unique_ptr<io::Queue> queue_;
  std::optional<StagingRing> ring_;
};

}  // namespace hetsort::sort
