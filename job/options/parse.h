// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
//
// Values of options from their texts. `what` is the word for the value in messages.
#pragma once

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "job/options/option.h"
#include "job/request/request_error.h"

namespace hetsort::job {

/// A non-negative decimal number of at most 64 bits, digits only. Throws: RequestError.
std::uint64_t parse_count(std::string_view text, std::string_view what);

// Ways to fill a field, for the rows of tables.

using Fill = decltype(Option::fill);

/// For switches.
Fill turn_on(bool& field);
Fill turn_off(bool& field);
/// A text as it is.
Fill take_text(std::string& field);
/// A further text.
Fill add_text(std::vector<std::string>& field);
/// The path of a file that rank 0 alone reads or writes, see one_file(); with `stream` also "-".
Fill take_path(std::string& field, bool stream = false);

/// What parse(text, what) makes of it.
template <class T, class Parse>
Fill take(T& field, const Parse& parse) {
  return [&field, parse](const std::string& text, const std::string& what) { field = parse(text, what); };
}

/// Whole numbers from `min` to `max`.
inline auto count_from(std::uint64_t min, std::uint64_t max) {
  return [=](const std::string& text, const std::string& what) {
    const std::uint64_t value = parse_count(text, what);
    if (value < min || value > max) throw RequestError(fmt::format("{} wants {} to {}, not {}", what, min, max, text));
    return value;
  };
}

/// Numbers of seconds from `min` to `max`.
std::function<double(const std::string& text, const std::string& what)> seconds_from(double min, double max);

/// The value of a word. Throws: RequestError if it is none of `words`.
template <class T>
const T& value_of_word(const std::vector<std::pair<std::string, T>>& words, const std::string& text,
                       const std::string& what) {
  std::vector<std::string> known;
  for (const auto& [word, value] : words) {
    if (word == text) return value;
    known.push_back(word);
  }
  throw RequestError(fmt::format("{} '{}' is none of {}", what, text, fmt::join(known, ", ")));
}

/// The option with one of several words as its value.
template <class Field, class T>
Option choice(Option option, Field& field, std::vector<std::pair<std::string, T>> words) {
  for (const auto& word : words) option.words.push_back(word.first);
  option.fill = [&field, words = std::move(words)](const std::string& text, const std::string& what) {
    field = value_of_word(words, text, what);
  };
  return option;
}

}  // namespace hetsort::job
