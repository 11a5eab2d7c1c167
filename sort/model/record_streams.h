// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
//
// What a merge reads: sorted streams of records.
#pragma once

#include <cstddef>
#include <span>
#include <utility>
#include <vector>

namespace hetsort::sort {

/// Several sorted streams. Each has memory of its own, so a stream that waits never blocks another. Thread safety: one
/// thread.
class RecordStreams {
 public:
  RecordStreams() = default;
  RecordStreams(const RecordStreams&) = delete;
  RecordStreams& operator=(const RecordStreams&) = delete;
  virtual ~RecordStreams() = default;

  virtual std::size_t streams() const = 0;
  /// The next records of a stream, for which it waits; empty at the stream's end. The records of the previous call for
  /// this stream become invalid. kReadableSlackBytes are readable behind the records. Throws: what the source throws.
  virtual std::span<const std::byte> next(std::size_t stream) = 0;
};

/// Streams of several sources, in the order in which they were added.
class JoinedStreams : public RecordStreams {
 public:
  void add(RecordStreams& source, std::size_t stream) { entries_.emplace_back(&source, stream); }

  std::size_t streams() const override { return entries_.size(); }
  std::span<const std::byte> next(std::size_t stream) override {
    return entries_[stream].first->next(entries_[stream].second);
  }

 private:
  std::vector<std::pair<RecordStreams*, std::size_t>> entries_;
};

}  // namespace hetsort::sort
