// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
//
// What sort(1)'s options say about the lines of a file and their order.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "order/lines/word_list.h"

namespace hetsort::order {

/// How the characters of a key are compared: one of the types of sort(1).
enum class LineKeyKind : std::uint8_t {
  kText,     ///< a text, byte by byte
  kNumber,   ///< -n: a decimal number of any length
  kGeneral,  ///< -g: a floating-point number
  kHuman,    ///< -h: a number with a unit, such as 2K or 1G
  kMonth,    ///< -M: the name of a month
  kVersion,  ///< -V: a version or the name of a file
  kRandom,   ///< -R: a random order of keys; equal keys stay together
  kListed,   ///< a word of LineOptions::words: in the order of this list, others behind all of these
};

/// The ordering options of a key.
struct LineKeyStyle {
  LineKeyKind kind = LineKeyKind::kText;
  bool skip_blanks = false;  ///< -b for both positions; LineKey has the -b of a single position
  bool dictionary = false;   ///< -d: only blanks, letters and digits count
  bool fold = false;         ///< -f: lower case letters count as upper case letters
  bool printing = false;     ///< -i: only printable characters count
  bool reverse = false;      ///< -r
  bool operator==(const LineKeyStyle&) const = default;
};

/// A key: -k FIRST_FIELD.FIRST_CHARACTER,LAST_FIELD.LAST_CHARACTER. Numbers count from 1.
struct LineKey {
  std::size_t first_field = 1;
  std::size_t first_character = 1;
  std::size_t last_field = 0;             ///< 0 = the key goes to the end of the line
  std::size_t last_character = 0;         ///< 0 = the last one of the field
  bool skip_blanks_before_first = false;  ///< -b of the first position: characters count from the first non-blank
  bool skip_blanks_before_last = false;   ///< -b of the last position
  LineKeyStyle style{};
  /// The name of the column that is the key: LineOrder::with_columns() finds its field. Empty = the fields above count.
  /// Requires: csv.
  std::string column{};
  bool operator==(const LineKey&) const = default;
};

/// Whether a key has no option of its own: it takes those of all lines.
inline bool has_default_style(const LineKey& key) {
  return key.style == LineKeyStyle{} && !key.skip_blanks_before_first && !key.skip_blanks_before_last;
}

struct LineOptions {
  char terminator = '\n';         ///< the byte that ends a line
  std::optional<char> separator;  ///< -t; without it a field begins where a blank follows a non-blank
  std::vector<LineKey> keys;      ///< most significant first; without keys the whole line is compared
  LineKeyStyle style;             ///< options of the whole line without keys, and of keys that have none of their own
  bool reverse = false;           ///< -r for the whole line; the same as style.reverse
  std::uint64_t random_seed = 0;  ///< decides the order of random keys
  bool last_resort = true;        ///< lines with equal keys are ordered by all their bytes; -s and -u turn it off
  /// The lines are rows of CSV whose fields may be quoted. A key is the value of one field, from first_character to
  /// last_character. Requires: a separator; the first field of each key is its last one.
  bool csv = false;
  bool empty_first = false;  ///< empty values of CSV come before all others, reversed or not; else behind them
  std::shared_ptr<const WordList> words{};  ///< the order of keys that are kListed
  bool operator==(const LineOptions&) const = default;
};

}  // namespace hetsort::order
