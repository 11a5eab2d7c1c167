// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
#include "order/lines/line_fields.h"

#include <algorithm>

#include "order/lines/characters.h"

namespace hetsort::order {

namespace {

std::size_t skip_blanks(std::string_view line, std::size_t at) {
  while (at < line.size() && is_blank(line[at])) ++at;
  return at;
}

/// The end of the field that begins at `at`. Without a separator its leading blanks belong to it.
std::size_t field_end(std::string_view line, std::size_t at, std::optional<char> separator) {
  if (separator) return std::min(line.find(*separator, at), line.size());
  at = skip_blanks(line, at);
  while (at < line.size() && !is_blank(line[at])) ++at;
  return at;
}

/// The begin of the field that comes `count` fields after the one that begins at `at`.
std::size_t skip_fields(std::string_view line, std::size_t at, std::size_t count, std::optional<char> separator) {
  for (; count > 0 && at < line.size(); --count) {
    at = field_end(line, at, separator);
    if (separator && at < line.size()) ++at;
  }
  return at;
}

/// The position of character `count`, counted from 0, or the end of the line.
std::size_t skip_characters(std::string_view line, std::size_t at, std::size_t count) {
  return at + std::min(count, line.size() - at);
}

}  // namespace

std::string_view key_text(std::string_view line, const LineKey& key, std::optional<char> separator) {
  const std::size_t first_field = skip_fields(line, 0, key.first_field - 1, separator);
  std::size_t begin = key.skip_blanks_before_first ? skip_blanks(line, first_field) : first_field;
  begin = skip_characters(line, begin, key.first_character - 1);
  if (key.last_field == 0) return line.substr(begin);
  const bool forward = key.last_field >= key.first_field;
  std::size_t end = forward ? skip_fields(line, first_field, key.last_field - key.first_field, separator)
                            : skip_fields(line, 0, key.last_field - 1, separator);
  if (key.last_character == 0) {
    end = field_end(line, end, separator);
  } else {
    if (key.skip_blanks_before_last) end = skip_blanks(line, end);
    end = skip_characters(line, end, key.last_character);
  }
  return line.substr(begin, end > begin ? end - begin : 0);
}

}  // namespace hetsort::order
