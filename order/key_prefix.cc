// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
#include "order/key_prefix.h"

#include <fmt/format.h>

#include "order/key_types.h"

namespace hetsort::order {

namespace {

std::string type_text(const KeyField& field) {
  if (field.kind == KeyKind::kBytes) return std::to_string(field.bytes);
  const auto* const type = std::ranges::find_if(
      kKeyTypes, [&](const KeyType& each) { return each.kind == field.kind && each.bytes == field.bytes; });
  assert(type != kKeyTypes.end());
  return fmt::format("{}{}", type->name, field.big_endian ? kBigEndian : "");
}

std::string mistake_in_key(const RecordLayout& layout, std::size_t offset, std::size_t bytes, const std::string& key) {
  if (bytes < 1 || bytes > kMaxKeyBytes)
    return fmt::format("key length {} is not within 1 to {} bytes", bytes, kMaxKeyBytes);
  if (offset <= layout.record_bytes && bytes <= layout.record_bytes - offset) return "";
  return fmt::format("key {} reaches beyond the {}-byte record", key, layout.record_bytes);
}

}  // namespace

std::string mistake_in(const RecordLayout& layout) {
  if (layout.is_lines()) return "";
  if (layout.record_bytes < 1 || layout.record_bytes > kMaxRecordBytes)
    return fmt::format("record size {} is not within 1 to {} bytes", layout.record_bytes, kMaxRecordBytes);
  if (layout.is_plain()) return mistake_in_key(layout, layout.key_offset, layout.key_bytes, key_text(layout));
  for (const KeyField& field : layout.key_fields())
    if (const std::string mistake = mistake_in_key(layout, field.offset, field.bytes, key_text(field));
        !mistake.empty())
      return mistake;
  if (layout.key_bytes <= kMaxKeyBytes) return "";
  return fmt::format("the keys have {} bytes together; {} are allowed", layout.key_bytes, kMaxKeyBytes);
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

}  // namespace hetsort::order
