// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
#include "sort/record_layout.h"

#include <fmt/format.h>

#include "sort/request_error.h"

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

std::string type_text(const KeyField& field) {
  if (field.kind == KeyKind::kBytes) return std::to_string(field.bytes);
  const char letter = field.kind == KeyKind::kUnsigned ? 'u' : field.kind == KeyKind::kSigned ? 'i' : 'f';
  return fmt::format("{}{}{}", letter, 8 * field.bytes, field.big_endian ? "be" : "");
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

bool keys_are_read_inside(const RecordLayout& layout) {
  if (layout.is_plain()) {
    const std::size_t depth = prefix_is_whole_key(layout) ? 0 : layout.key_bytes - 1;
    return layout.key_offset + depth + kReadableSlackBytes <= layout.record_bytes;
  }
  return std::ranges::all_of(layout.key_fields(), [&](const KeyField& field) {
    return field.kind != KeyKind::kBytes || field.offset + kReadableSlackBytes <= layout.record_bytes;
  });
}

std::string key_text(const KeyField& field) {
  return fmt::format("{}:{}{}", field.offset, type_text(field), field.descending ? ":desc" : "");
}

std::string key_text(const RecordLayout& layout) {
  if (layout.is_plain()) return fmt::format("{}:{}", layout.key_offset, layout.key_bytes);
  std::string text;
  for (const KeyField& field : layout.key_fields()) text += (text.empty() ? "" : ",") + key_text(field);
  return text;
}

}  // namespace hetsort::sort
