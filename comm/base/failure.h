// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
//
// The first failure that a rank knows of, its own or another rank's.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <mutex>
#include <string>

#include "comm/base/types.h"

namespace hetsort::comm {

struct FailureRecord {
  std::int64_t nanoseconds = 0;  ///< time since the job's start
  std::int32_t rank = -1;        ///< -1: none failed
  std::string text;
  FailurePlace place{};

  bool any() const { return rank >= 0; }
};

/// The earlier of two failures; if both came at the same time, the one of the lower rank.
FailureRecord earlier(FailureRecord a, FailureRecord b);
Bytes encode(const FailureRecord& record, std::size_t max_text_bytes);
/// Reads a record. Throws: std::runtime_error if the bytes are none.
FailureRecord decode_failure(const Bytes& bytes);

/// The first failure known here. Thread safety: any thread.
class Failure {
 public:
  /// Takes the record if it is the earliest so far. Returns whether it is the first one.
  bool merge(FailureRecord record);
  bool any() const { return any_; }
  FailureRecord first() const;
  /// See Communicator::on_failure().
  void on_failure(std::function<void()> wake);
  void wake();

 private:
  std::atomic<bool> any_{false};
  mutable std::mutex mutex_;  // guards first_
  FailureRecord first_;
  std::mutex wake_mutex_;  // held while wake_ runs
  std::function<void()> wake_;
};

}  // namespace hetsort::comm
