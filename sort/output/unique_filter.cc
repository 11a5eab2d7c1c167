// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
#include "sort/output/unique_filter.h"

#include <cstring>

#include "sort/model/record_order.h"

namespace hetsort::sort {

std::size_t UniqueFilter::keep_first(std::span<std::byte> records) {
  const std::size_t record_bytes = layout_.record_bytes;
  const std::byte* last = kept_records_ == 0 ? nullptr : last_.data();
  std::byte* end = records.data();
  for (std::size_t at = 0; at < records.size(); at += record_bytes) {
    std::byte* const record = records.data() + at;
    if (last != nullptr && layout_.compare(last, record) == 0) continue;
    if (end != record) std::memcpy(end, record, record_bytes);
    last = end;
    end += record_bytes;
  }
  const auto kept = static_cast<std::size_t>(end - records.data());
  if (kept > 0) last_.assign(end - record_bytes, end);
  kept_records_ += kept / record_bytes;
  return kept;
}

bool UniqueFilter::keeps(std::span<const std::byte> line) {
  const std::span<const std::byte> key = LineKeys(*layout_.lines).key(line, room_);
  if (kept_records_ > 0 && compare_bytes(last_, key) == 0) return false;
  last_.assign(key.begin(), key.end());
  ++kept_records_;
  return true;
}

}  // namespace hetsort::sort
