// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
#include "cli/commands/sort_debug.h"

#include <fmt/format.h>

#include <cstdlib>

namespace hetsort::cli {

namespace {

using order::LineKey;
using order::LineKeyKind;
using order::LineKeyStyle;

std::string kind_text(LineKeyKind kind) {
  switch (kind) {
    case LineKeyKind::kText:
      return "bytes";
    case LineKeyKind::kNumber:
      return "a decimal number";
    case LineKeyKind::kGeneral:
      return "a floating-point number";
    case LineKeyKind::kHuman:
      return "a number with a unit";
    case LineKeyKind::kMonth:
      return "the name of a month";
    case LineKeyKind::kVersion:
      return "a version";
    case LineKeyKind::kRandom:
      return "a random order";
    case LineKeyKind::kListed:
      return "the place in --order-list";
  }
  return "";
}

std::string style_text(const LineKeyStyle& style) {
  std::string text = kind_text(style.kind);
  if (style.dictionary) text += ", only blanks, letters and digits";
  if (style.printing) text += ", only printable characters";
  if (style.fold) text += ", lower case as upper case";
  return text + (style.reverse ? ", reversed" : "");
}

std::string position_text(std::size_t field, std::size_t character, bool skip_blanks) {
  return fmt::format("field {}{}{}", field, character > 0 ? fmt::format(", character {}", character) : ", its end",
                     skip_blanks ? " behind blanks" : "");
}

/// Whether a key of this kind ends by itself: behind the number or the name.
bool ends_itself(LineKeyKind kind) {
  return kind == LineKeyKind::kNumber || kind == LineKeyKind::kGeneral || kind == LineKeyKind::kHuman ||
         kind == LineKeyKind::kMonth;
}

std::string key_text(const LineKey& key) {
  std::string text = key.column.empty() ? "" : fmt::format("column '{}', ", key.column);
  text += "from " + position_text(key.first_field, key.first_character, key.skip_blanks_before_first);
  if (ends_itself(key.style.kind)) return text + ": " + style_text(key.style);
  text += key.last_field == 0 ? " to the end of the line"
                              : " to " + position_text(key.last_field, key.last_character, key.skip_blanks_before_last);
  return text + ": " + style_text(key.style);
}

void explain_lines(const order::LineOptions& lines, std::vector<std::string>& found) {
  if (lines.keys.empty()) {
    found.push_back("the whole line: " + style_text(lines.style));
  } else {
    std::size_t number = 0;
    for (const LineKey& key : lines.keys) found.push_back(fmt::format("key {}: {}", ++number, key_text(key)));
  }
  const bool whole = lines.keys.empty() && lines.style.kind == LineKeyKind::kText && !lines.style.dictionary &&
                     !lines.style.printing && !lines.style.fold;
  if (!whole)
    found.push_back(!lines.last_resort
                        ? "equal lines keep the order of the input"
                        : fmt::format("then the whole line: bytes{}", lines.reverse ? ", reversed" : ""));
}

}  // namespace

std::string locale_of_order() {
  for (const char* const name : {"LC_ALL", "LC_COLLATE", "LANG"}) {
    const char* const value = std::getenv(name);
    if (value == nullptr || *value == '\0') continue;
    const std::string locale = value;
    return locale == "C" || locale == "POSIX" || locale.starts_with("C.") ? "" : locale;
  }
  return "";
}

std::vector<std::string> explain_order(const sort::RecordLayout& layout) {
  std::vector<std::string> found;
  const std::string locale = locale_of_order();
  if (layout.lines) {
    if (!locale.empty()) found.push_back(fmt::format("text has the order of the locale C, not that of {}", locale));
    explain_lines(layout.lines->options(), found);
  } else {
    found.push_back(fmt::format("records of {} bytes, key {}; records with equal keys keep the order of the input",
                                layout.record_bytes, sort::key_text(layout)));
  }
  return found;
}

}  // namespace hetsort::cli
