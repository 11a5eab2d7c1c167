// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
//
// What the merge reads: sorted streams of records, wherever they come from.
#pragma once

#include <cstddef>
#include <span>
#include <utility>
#include <vector>

namespace hetsort::sort {

/// Each stream owns its memory, so one that waits never keeps another from going on. Thread safety: one thread.
class RecordStreams {
 public:
  RecordStreams() = default;
  RecordStreams(const RecordStreams&) = delete;
  RecordStreams& operator=(const RecordStreams&) = delete;
  virtual ~RecordStreams() = default;

  virtual std::size_t streams() const = 0;
  /// The next records of a stream: waits for them; empty at its end. Gives back the records of the call before.
  /// kReadableSlackBytes are readable behind them. Throws: io::Error and what else the source throws.
  virtual std::span<const std::byte> next(std::size_t stream) = 0;
};

/// Streams of several sources in one order of its own.
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
