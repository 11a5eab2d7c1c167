// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
#include "comm/base/failure.h"

#include <algorithm>
#include <tuple>
#include <utility>

#include "comm/base/packing.h"

namespace hetsort::comm {

FailureRecord earlier(FailureRecord a, FailureRecord b) {
  if (!a.any()) return b;
  if (!b.any()) return a;
  const auto a_key = std::tuple(a.nanoseconds, a.rank);
  const auto b_key = std::tuple(b.nanoseconds, b.rank);
  // Both may be copies of one failure, of which one has a shortened text.
  if (a_key == b_key) return a.text.size() >= b.text.size() ? a : b;
  return a_key < b_key ? a : b;
}

Bytes encode(const FailureRecord& record, std::size_t max_text_bytes) {
  Packer packer;
  packer.value(record.nanoseconds);
  packer.value(record.rank);
  for (const std::string* text : {&record.text, &record.place.operation, &record.place.path})
    packer.text(std::string_view(*text).substr(0, max_text_bytes));
  packer.value(record.place.kind);
  return packer.take();
}

FailureRecord decode_failure(const Bytes& bytes) {
  Unpacker unpacker(bytes);
  FailureRecord record;
  record.nanoseconds = unpacker.value<std::int64_t>();
  record.rank = unpacker.value<std::int32_t>();
  for (std::string* text : {&record.text, &record.place.operation, &record.place.path}) *text = unpacker.text();
  record.place.kind = unpacker.value<FailureKind>();
  unpacker.end();
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
