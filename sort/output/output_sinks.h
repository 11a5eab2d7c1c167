// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
//
// The sinks of one thread, which it uses one after the other.
#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>

#include "order/lines/csv_rows.h"
#include "sort/output/memory_sink.h"
#include "sort/output/output.h"
#include "sort/output/staging.h"

namespace hetsort::sort {

/// Makes the sinks. They share the thread's memory for blocks. Thread safety: one thread.
class OutputSinks {
 public:
  /// `staging`: the thread's memory for `blocks` blocks that are being written.
  OutputSinks(Output& output, std::span<std::byte> staging, std::size_t blocks)
      : output_(output), staging_(staging), blocks_(blocks) {}

  /// Returns a sink for this rank's records from byte `first_byte` of them on.
  std::unique_ptr<RecordSink> sink_at(std::uint64_t first_byte, std::size_t record_bytes) {
    if (output_.is_memory())
      return std::make_unique<MemorySink>(output_.memory().subspan(first_byte), staging_, record_bytes);
    return std::make_unique<FileSink>(*this, record_bytes, first_byte);
  }

 private:
  /// Writes to the volumes in which the records lie, one after the other.
  class FileSink : public RecordSink {
   public:
    FileSink(OutputSinks& sinks, std::size_t record_bytes, std::uint64_t first_byte)
        : sinks_(sinks), record_bytes_(record_bytes), filtered_(open(first_byte), sinks.output_.filter()) {}

    std::span<std::byte> room() override {
      if (at_ == end_) {
        writer_->finish();
        open(at_);
      }
      const std::span<std::byte> room = filtered_.room();
      return room_ = room.first(std::min<std::uint64_t>(room.size(), end_ - at_));
    }
    void commit(std::size_t bytes) override {
      at_ += bytes;
      if (sinks_.output_.hides_newlines()) order::show_newlines(room_.first(bytes));
      filtered_.commit(bytes);
    }
    void finish() override { filtered_.finish(); }
    UniqueFilter* take_filter() override { return filtered_.take_filter(); }

   private:
    RangeWriter& open(std::uint64_t byte) {
      const Output& output = sinks_.output_;
      const std::size_t number = output.volume_at(byte);
      const Volume& volume = *output.volumes()[number];
      at_ = byte;
      end_ = output.first_of(number + 1);
      return writer_.emplace(volume.files(), sinks_.ring_of(number), record_bytes_,
                             volume.first_byte() + byte - output.first_of(number));
    }

    OutputSinks& sinks_;
    std::size_t record_bytes_;
    std::uint64_t at_ = 0;   // place of the next byte in this rank's records
    std::uint64_t end_ = 0;  // end of the volume
    std::span<std::byte> room_;
    std::optional<RangeWriter> writer_;
    FilteredSink filtered_;  // filters what goes to writer_, which stays where it is
  };

  /// The thread's blocks, with a queue for one volume.
  StagingRing& ring_of(std::size_t volume) {
    if (ring_ && volume_ == volume) return *ring_;
    ring_.reset();
    queue_ = output_.volumes()[volume]->make_queue(blocks_);
    volume_ = volume;
    return ring_.emplace(staging_, blocks_, *queue_);
  }

  Output& output_;
  std::span<std::byte> staging_;
  std::size_t blocks_;
  std::size_t volume_ = 0;
  std::unique_ptr<io::Queue> queue_;
  std::optional<StagingRing> ring_;
};

}  // namespace hetsort::sort
