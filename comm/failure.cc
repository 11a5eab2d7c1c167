// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
#include "comm/failure.h"

#include <algorithm>
#include <tuple>
#include <utility>

#include "comm/bytes.h"

namespace hetsort::comm {

FailureRecord earlier(FailureRecord a, FailureRecord b) {
  if (!a.any()) return b;
  if (!b.any()) return a;
  const auto a_key = std::tuple(a.nanoseconds, a.rank);
  const auto b_key = std::tuple(b.nanoseconds, b.rank);
  // The same failure may have travelled with its text cut off.
  if (a_key == b_key) return a.text.size() >= b.text.size() ? a : b;
  return a_key < b_key ? a : b;
}

Bytes encode(const FailureRecord& record, std::size_t longest_text) {
  Bytes bytes;
  append_value(bytes, record.nanoseconds);
  append_value(bytes, record.rank);
  append(bytes, record.text.data(), std::min(record.text.size(), longest_text));
  return bytes;
}

FailureRecord decode_failure(const Bytes& bytes, std::size_t offset) {
  FailureRecord record;
  record.nanoseconds = value_at<std::int64_t>(bytes, offset);
  offset += sizeof(record.nanoseconds);
  record.rank = value_at<std::int32_t>(bytes, offset);
  offset += sizeof(record.rank);
  record.text = text_from(bytes, offset);
  return record;
}

bool Failure::merge(FailureRecord record) {
  const std::lock_guard lock(mutex_);
  const bool first = !first_.any();
  first_ = earlier(std::move(first_), std::move(record));
  any_ = first_.any();
  return first && first_.any();
}

FailureRecord Failure::first() const {
  const std::lock_guard lock(mutex_);
  return first_;
}

void Failure::on_failure(std::function<void()> wake) {
  const std::lock_guard lock(wake_mutex_);
  wake_ = std::move(wake);
  if (any_ && wake_) wake_();
}

void Failure::wake() {
  const std::lock_guard lock(wake_mutex_);
  if (wake_) wake_();
}

}  // namespace hetsort::comm
