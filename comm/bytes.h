// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
//
// Values and texts as bytes of a message. All ranks are of one architecture.
#pragma once

#include <cstring>
#include <string_view>

#include "comm/communicator.h"

namespace hetsort::comm {

void append(Bytes& bytes, const void* data, std::size_t count);

inline void append(Bytes& bytes, const Bytes& more) { append(bytes, more.data(), more.size()); }

template <class Value>
void append_value(Bytes& bytes, const Value& value) {
  append(bytes, &value, sizeof(value));
}

/// Requires: the bytes are there.
template <class Value>
Value value_at(const Bytes& bytes, std::size_t offset) {
  Value value{};
  std::memcpy(&value, bytes.data() + offset, sizeof(value));
  return value;
}

inline std::string_view text_from(const Bytes& bytes, std::size_t offset) {
  return {reinterpret_cast<const char*>(bytes.data()) + offset, bytes.size() - offset};
}

/// Two neighbours' bytes, one behind the other: Communicator::Combine.
inline Bytes concatenated(Bytes low, const Bytes& high) {
  append(low, high);
  return low;
}

}  // namespace hetsort::comm
