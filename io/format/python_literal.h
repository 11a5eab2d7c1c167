// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
//
// Literals of Python, as the headers of NumPy files have them: texts, numbers, True and False, lists, tuples and
// dictionaries.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace hetsort::io {

struct PythonLiteral {
  enum class Kind : std::uint8_t { kText, kNumber, kWord, kSequence, kDictionary };

  Kind kind = Kind::kWord;
  std::string text{};                  ///< the text without quotes, or the word, such as True
  std::uint64_t number = 0;            ///< the value of a number
  std::vector<PythonLiteral> items{};  ///< items of a sequence; keys and values of a dictionary in turn
  std::string_view source{};           ///< the characters of the literal

  bool is(Kind other) const { return kind == other; }
  /// The value of a key that is a text; null if there is none. Requires: a dictionary.
  const PythonLiteral* find(std::string_view key) const;
};

/// Reads the one literal of which `source` consists, besides white space. None if it is none of the above, or is nested
/// deeper than a type of NumPy is. The literal refers to `source`.
std::optional<PythonLiteral> parse_python_literal(std::string_view source);

}  // namespace hetsort::io
