// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
//
// Keeps the first of records with equal keys, among sorted records on their way to the output.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "sort/model/record_order.h"
#include "sort/model/record_sink.h"

namespace hetsort::sort {

/// Decides which records are the first with their key. Thread safety: one thread at a time, in the order of the
/// records.
class UniqueFilter {
 public:
  explicit UniqueFilter(const RecordLayout& layout) : layout_(layout) {}

  /// Moves the records to keep to the front of `records`, which follow those of earlier calls. Returns their bytes.
  /// Not for lines.
  std::size_t keep_first(std::span<std::byte> records);
  /// Whether `line`, which follows those of earlier calls, is the first with its key.
  bool keeps(std::span<const std::byte> line);
  const RecordLayout& layout() const { return layout_; }
  std::uint64_t kept_records() const { return kept_records_; }

 private:
  RecordLayout layout_;
  std::vector<std::byte> last_;  // the last record that was kept, or the key of the last line
  std::vector<std::byte> room_;  // room for a key
  std::uint64_t kept_records_ = 0;
};

/// Passes on what a filter keeps, or everything if there is no filter or the writer has taken it.
class FilteredSink : public RecordSink {
 public:
  /// `filter`: may be null.
  FilteredSink(RecordSink& sink, UniqueFilter* filter) : sink_(sink), filter_(filter) {}

  std::span<std::byte> room() override { return room_ = sink_.room(); }
  void commit(std::size_t bytes) override {
    sink_.commit(filter_ == nullptr || taken_ ? bytes : filter_->keep_first(room_.first(bytes)));
  }
  UniqueFilter* take_filter() override {
    taken_ = true;
    return filter_;
  }
  void finish() override { sink_.finish(); }

 private:
  RecordSink& sink_;
  UniqueFilter* filter_;
  bool taken_ = false;
  std::span<std::byte> room_;
};

}  // namespace hetsort::sort
