// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
#include "cli/terminal/columns.h"

#include <algorithm>

#include "job/plan/plan_json.h"

namespace hetsort::cli {

std::string shortened(std::string_view text, std::size_t max_characters, std::string_view mark) {
  std::size_t characters = 0;
  std::size_t cut = 0;  // where the text ends if the mark follows
  for (std::size_t i = 0; i < text.size(); ++i) {
    const bool begins_character = (static_cast<unsigned char>(text[i]) & 0xc0U) != 0x80U;
    if (!begins_character) continue;
    if (++characters == max_characters) cut = i;
    if (characters > max_characters) return std::string(text.substr(0, cut)).append(mark);
  }
  return std::string(text);
}

std::string node_label(std::string_view name, std::size_t number, std::size_t max_characters) {
  const std::string suffix = job::node_label("", number);
  return shortened(name, max_characters - std::min(max_characters - 1, suffix.size())) + suffix;
}

}  // namespace hetsort::cli
