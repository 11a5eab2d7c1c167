// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
#include "sort/output/memory_sink.h"

#include <algorithm>

#include "sort/model/record_order.h"

namespace hetsort::sort {

namespace {

std::span<std::byte> whole_records(std::span<std::byte> memory, std::size_t record_bytes) {
  const std::size_t bytes = memory.size() - std::min(memory.size(), kReadableSlackBytes);
  return memory.first(bytes / record_bytes * record_bytes);
}

}  // namespace

std::span<std::byte> MemorySink::room() {
  const std::span<std::byte> direct = whole_records(memory_, record_bytes_);
  return direct.empty() ? whole_records(staging_, record_bytes_) : direct;
}

void MemorySink::commit(std::size_t bytes) {
  const bool staged = whole_records(memory_, record_bytes_).empty();
  if (staged) std::copy_n(staging_.begin(), bytes, memory_.begin());
  memory_ = memory_.subspan(bytes);
}

}  // namespace hetsort::sort
