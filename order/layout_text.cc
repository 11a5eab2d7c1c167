// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
#include "order/layout_text.h"

#include <fmt/format.h>

#include "order/lines/line_order.h"

namespace hetsort::order {

namespace {

// The bindings below name all members. A new member must be added here, too.

std::string text_of(const LineKeyStyle& style) {
  const auto& [kind, skip_blanks, dictionary, fold, printing, reverse] = style;
  return fmt::format("{}{}{}{}{}{}", static_cast<int>(kind), skip_blanks ? "b" : "", dictionary ? "d" : "",
                     fold ? "f" : "", printing ? "i" : "", reverse ? "r" : "");
}

std::string text_of(const LineKey& key) {
  const auto& [first_field, first_character, last_field, last_character, blanks_first, blanks_last, style, column] =
      key;
  return fmt::format(" key={}.{}{},{}.{}{}:{}:{}", first_field, first_character, blanks_first ? "b" : "", last_field,
                     last_character, blanks_last ? "b" : "", text_of(style), column);
}

std::string text_of(const LineOptions& options) {
  const auto& [terminator, separator, keys, style, reverse, random_seed, last_resort, csv, empty_first, words] =
      options;
  std::string text = fmt::format("{} terminator={:02x}", csv ? "csv" : "lines", static_cast<unsigned char>(terminator));
  if (separator) text += fmt::format(" separator={:02x}", static_cast<unsigned char>(*separator));
  text += fmt::format(" style={}", text_of(style));
  if (reverse) text += " reverse";
  if (!last_resort) text += " stable";
  if (empty_first) text += " empty-first";
  if (random_seed != 0) text += fmt::format(" seed={:016x}", random_seed);
  if (words) text += fmt::format(" words={}:{:016x}", words->size(), words->fingerprint());
  for (const LineKey& key : keys) text += text_of(key);
  return text;
}

std::string text_of(const KeyField& field) {
  const auto& [offset, bytes, kind, big_endian, descending] = field;
  return fmt::format(" key={}:{}:{}{}{}", offset, bytes, static_cast<int>(kind), big_endian ? "b" : "",
                     descending ? "d" : "");
}

}  // namespace

std::string layout_text(const RecordLayout& layout) {
  const auto& [record_bytes, key_offset, key_bytes, fields, lines] = layout;
  if (lines) return text_of(lines->options());
  std::string text = fmt::format("records of {} bytes", record_bytes);
  if (layout.is_plain()) return text + fmt::format(" key={}:{}", key_offset, key_bytes);
  for (const KeyField& field : fields) text += text_of(field);
  return text;
}

}  // namespace hetsort::order
