// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
#include "order/record_layout.h"

#include <algorithm>
#include <cassert>

#include "order/lines/line_order.h"

namespace hetsort::order {

namespace {

/// Whether the bytes of the field are their own normalized form.
bool is_plain_field(const KeyField& field) {
  if (field.descending) return false;
  return field.kind == KeyKind::kBytes || (field.kind == KeyKind::kUnsigned && (field.big_endian || field.bytes == 1));
}

void copy_bytes(const KeyField& field, const std::byte* from, std::span<std::byte> to) {
  if (!field.descending) return static_cast<void>(std::memcpy(to.data(), from, to.size()));
  std::transform(from, from + to.size(), to.begin(), [](std::byte byte) { return ~byte; });
}

}  // namespace

RecordLayout layout_with_keys(std::size_t record_bytes, std::span<const KeyField> fields) {
  assert(!fields.empty() && fields.size() <= kMaxKeyFields);
  RecordLayout layout{.record_bytes = record_bytes, .key_offset = fields.front().offset, .key_bytes = 0};
  for (const KeyField& field : fields) {
    layout.key_offset = std::min<std::size_t>(layout.key_offset, field.offset);
    layout.key_bytes += field.bytes;
  }
  if (fields.size() == 1 && is_plain_field(fields.front())) return layout;
  layout.fields.assign(fields.begin(), fields.end());
  return layout;
}

RecordLayout reversed(const RecordLayout& layout) {
  std::vector<KeyField> fields(layout.key_fields().begin(), layout.key_fields().end());
  if (layout.is_plain())
    fields.push_back({.offset = static_cast<std::uint32_t>(layout.key_offset),
                      .bytes = static_cast<std::uint16_t>(layout.key_bytes)});
  for (KeyField& field : fields) field.descending = !field.descending;
  return layout_with_keys(layout.record_bytes, fields);
}

std::optional<std::byte> RecordLayout::terminator() const {
  if (!is_lines()) return std::nullopt;
  return static_cast<std::byte>(lines->terminator());
}

const char* RecordLayout::record_name() const {
  if (!is_lines()) return "record";
  return lines->is_csv() ? "row" : "line";
}

std::size_t RecordLayout::key_span_bytes() const {
  if (is_plain()) return key_bytes;
  std::size_t end = 0;
  for (const KeyField& field : key_fields()) end = std::max<std::size_t>(end, field.offset + field.bytes);
  return end - key_offset;
}

int RecordLayout::compare_fields(const std::byte* a, const std::byte* b, std::size_t depth) const {
  std::size_t end = 0;
  for (const KeyField& field : key_fields()) {
    end += field.bytes;
    if (end <= depth) continue;
    if (field.kind == KeyKind::kBytes) {
      const int order = std::memcmp(a + field.offset, b + field.offset, field.bytes);
      if (order != 0) return (order < 0) != field.descending ? -1 : 1;
      continue;
    }
    const KeyNumber of_a = normalized_number(field, a);
    const KeyNumber of_b = normalized_number(field, b);
    if (of_a != of_b) return of_a < of_b ? -1 : 1;
  }
  return 0;
}

void RecordLayout::normalize(const std::byte* record, std::size_t depth, std::span<std::byte> to) const {
  assert(!is_plain() && depth + to.size() <= key_bytes);
  std::size_t begin = 0;
  for (const KeyField& field : key_fields()) {
    const std::size_t end = begin + field.bytes;
    const std::size_t from = std::max(begin, depth);
    const std::size_t until = std::min(end, depth + to.size());
    if (from < until) {
      const std::span<std::byte> part = to.subspan(from - depth, until - from);
      if (field.kind == KeyKind::kBytes) {
        copy_bytes(field, record + field.offset + (from - begin), part);
      } else {
        const KeyNumber number = normalized_number(field, record);
        for (std::size_t i = 0; i < part.size(); ++i)
          part[i] = static_cast<std::byte>(number >> (120 - 8 * (from - begin + i)));
      }
    }
    begin = end;
  }
}

}  // namespace hetsort::order
