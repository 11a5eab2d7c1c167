// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
#include "order/order.h"

#include <algorithm>
#include <cassert>

namespace hetsort::order {

const std::byte* Order::end_of_record(const std::byte* first, const std::byte* end) const {
  assert(first <= end);
  if (lines_) return lines_->end_of_line(first, end);
  return first + std::min(layout_.record_bytes, static_cast<std::size_t>(end - first));
}

const std::byte* Order::border_behind(const std::byte* first, const std::byte* at, const std::byte* end) const {
  assert(first <= at && at <= end);
  if (lines_) return at == first ? first : lines_->end_of_line(at - 1, end);
  const std::size_t bytes = layout_.record_bytes;
  const std::size_t records = (static_cast<std::size_t>(at - first) + bytes - 1) / bytes;
  return first + std::min(records * bytes, static_cast<std::size_t>(end - first));
}

std::span<const std::byte> Order::first_record(std::span<const std::byte> bytes) const {
  const std::byte* const end = bytes.data() + bytes.size();
  const std::span<const std::byte> record(bytes.data(), end_of_record(bytes.data(), end));
  return !record.empty() && is_whole(record) ? record : record.first(0);
}

bool Order::is_whole(std::span<const std::byte> bytes) const {
  return lines_ ? lines_->is_whole(bytes) : bytes.size() % layout_.record_bytes == 0;
}

std::string Order::lowest_key(Element prefix) const {
  const std::size_t key_bytes = lines_ ? kPrefixBytes : layout_.key_bytes;
  std::string key(key_bytes, '\0');
  for (std::size_t i = 0; i < std::min(key_bytes, kPrefixBytes); ++i)
    key[i] = static_cast<char>(static_cast<unsigned char>(prefix >> (120 - 8 * i)));
  // The keys of lines have any length.
  if (lines_) key.resize(key.find_last_not_of('\0') + 1);
  return key;
}

}  // namespace hetsort::order
