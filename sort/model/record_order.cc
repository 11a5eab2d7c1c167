// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
#include "sort/model/record_order.h"

#include <fmt/format.h>

#include "sort/failure/request_error.h"

namespace hetsort::sort {

namespace {

void check_key_length(std::size_t bytes) {
  if (bytes < 1 || bytes > kMaxKeyBytes)
    throw RequestError(fmt::format("key length {} is not within 1 to {} bytes", bytes, kMaxKeyBytes));
}

void check_inside(const RecordLayout& layout, std::size_t offset, std::size_t bytes, const std::string& key) {
  if (offset > layout.record_bytes || bytes > layout.record_bytes - offset)
    throw RequestError(fmt::format("key {} reaches beyond the {}-byte record", key, layout.record_bytes));
}

}  // namespace

void check_layout(const RecordLayout& layout) {
  if (layout.is_lines()) return;
  if (layout.record_bytes < 1 || layout.record_bytes > kMaxRecordBytes)
    throw RequestError(fmt::format("record size {} is not within 1 to {} bytes", layout.record_bytes, kMaxRecordBytes));
  for (const KeyField& field : layout.key_fields()) {
    check_key_length(field.bytes);
    check_inside(layout, field.offset, field.bytes, key_text(field));
  }
  if (!layout.is_plain() && layout.key_bytes > kMaxKeyBytes)
    throw RequestError(fmt::format("the keys have {} bytes together; {} are allowed", layout.key_bytes, kMaxKeyBytes));
  if (!layout.is_plain()) return;
  check_key_length(layout.key_bytes);
  check_inside(layout, layout.key_offset, layout.key_bytes, key_text(layout));
}

}  // namespace hetsort::sort
