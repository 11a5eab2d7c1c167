// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
#include "lib/wording.h"

#include <algorithm>
#include <string_view>

#include "cli/commands/sort_request.h"
#include "order/lines/characters.h"

namespace hetsort::lib {

namespace {

namespace po = boost::program_options;

/// The long name of an option as it stands at the start of `text`, and its letters there; no name if none stands there.
struct Found {
  std::string name;
  std::size_t letters = 0;
};

Found option_at(std::string_view text) {
  static const po::options_description options = [] {
    po::options_description of_sort;
    cli::add_one_sort_options(of_sort);
    return of_sort;
  }();
  if (text.starts_with("--")) {
    const std::string_view name = text.substr(2);
    const auto is_of_name = [](char c) { return order::is_lower(c) || c == '-'; };
    const auto length = static_cast<std::size_t>(std::ranges::find_if_not(name, is_of_name) - name.begin());
    if (length == 0 || name.front() == '-') return {};
    return {std::string(name.substr(0, length)), 2 + length};
  }
  constexpr std::size_t kShortLetters = 2;
  if (text.size() < kShortLetters || text[0] != '-' || !order::is_letter(text[1])) return {};
  if (text.size() > kShortLetters && (order::is_letter(text[2]) || order::is_digit(text[2]) || text[2] == '-'))
    return {};
  const auto* const option = options.find_nothrow(std::string(text.substr(0, kShortLetters)), false);
  return option == nullptr ? Found{} : Found{option->long_name(), kShortLetters};
}

}  // namespace

std::string without_dashes(const std::string& message, const std::string& path) {
  std::string text;
  const std::size_t path_begin = path.empty() ? std::string::npos : message.find(path);
  for (std::size_t at = 0; at < message.size();) {
    if (at == path_begin) {
      text += path;
      at += path.size();
      continue;
    }
    const char before = at == 0 ? ' ' : message[at - 1];
    const bool begins = before == ' ' || before == '\'' || before == '(';
    const Found found = begins ? option_at(std::string_view(message).substr(at)) : Found{};
    if (found.letters == 0) {
      text += message[at++];
      continue;
    }
    text += before == '\'' || text.ends_with("option ") ? found.name : "option " + found.name;
    at += found.letters;
  }
  return text;
}

}  // namespace hetsort::lib
