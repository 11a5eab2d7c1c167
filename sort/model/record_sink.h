// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
//
// Takes sorted records: they are put into staging blocks, which are written while the next one fills.
#pragma once

#include <cstddef>
#include <span>

namespace hetsort::sort {

class UniqueFilter;

class RecordSink {
 public:
  RecordSink() = default;
  RecordSink(const RecordSink&) = delete;
  RecordSink& operator=(const RecordSink&) = delete;
  virtual ~RecordSink() = default;

  /// The free staging memory, for whole records, at least one; readable kReadableSlackBytes beyond its end. Waits for a
  /// write to end when all blocks are full. Throws: io::Error of a write that failed.
  virtual std::span<std::byte> room() = 0;
  /// Says that the first `bytes` of the last room() hold records now.
  virtual void commit(std::size_t bytes) = 0;
  /// Writes what is left and waits for all. Throws: io::Error.
  virtual void finish() = 0;
  /// The filter that decides which records are written; null = all are. The caller then asks it before it puts a record
  /// into room(): this sink does not filter any more.
  virtual UniqueFilter* take_filter() { return nullptr; }
};

}  // namespace hetsort::sort
