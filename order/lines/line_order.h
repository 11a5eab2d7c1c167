// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
//
// The order of text lines, as sort(1) of GNU coreutils 9.1 compares them with LC_ALL=C.
//
// In: a line and the options. Out: the line's normalized key, a string of bytes. memcmp of two such keys orders their
// lines; if one key is a prefix of the other, it is the lower one. So lines are sorted and merged as records are.
//
// Idea: each key of a line is encoded such that bytes compare as the key does, and such that no encoding is a prefix of
// another. Keys follow each other; a reversed one is complemented. The bytes of the line, for the last resort, come
// last. docs/formats/keys.md describes the encodings.
#pragma once

#include <array>
#include <cstddef>
#include <optional>
#include <span>
#include <stdexcept>
#include <string>
#include <vector>

#include "order/lines/line_options.h"

namespace hetsort::order {

/// The columns of a file have no such key.
struct ColumnError : std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// Thread safety: const functions may be called by several threads.
class LineOrder {
 public:
  /// Requires: no key has options that exclude each other: -d and -i go with kText, kVersion and kRandom only.
  explicit LineOrder(LineOptions options);

  /// What was asked, with the final styles of all keys.
  const LineOptions& options() const { return options_; }
  /// The byte that ends a line.
  char terminator() const { return options_.terminator; }
  /// What separates fields, if it was given.
  std::optional<char> separator() const { return options_.separator; }

  /// Whether lines are rows of CSV. In memory each newline within quotes is a kHiddenNewline then.
  bool is_csv() const { return options_.csv; }
  /// The number of fields that the keys need.
  std::size_t least_fields() const;
  /// Whether some key is a column that is known by its name only.
  bool needs_columns() const;
  /// The order whose keys have the fields of their columns. `names`: those of all columns. Throws: ColumnError for a
  /// name that no column has, or several ones, and for a field beyond the last column.
  LineOrder with_columns(const std::vector<std::string>& names) const;

  /// Whether the normalized key of a line is the line: no keys, and no options that change the order.
  bool is_plain() const { return plain_; }

  /// Appends the normalized key of `line`, which has no terminator, to `key`. It ends with the last-resort comparison
  /// of the whole line. Without last_resort, lines whose keys compare equal have equal normalized keys.
  void normalize(std::span<const std::byte> line, std::vector<std::byte>& key) const;

  /// Most keys are smaller.
  static constexpr std::size_t kWindowBytes = std::size_t{1} << 20;
  /// How the normalized keys of two lines compare: below, equal to or above 0. The keys are made window by window, of
  /// `window_bytes` or a 16th of the lines. Allocates: some windows.
  int compare(std::span<const std::byte> a, std::span<const std::byte> b,
              std::size_t window_bytes = kWindowBytes) const;

  /// The first 16 bytes of the normalized key, with zeros where it is shorter.
  std::array<std::byte, 16> front(std::span<const std::byte> line) const;

  /// Whether some key has a random order.
  bool is_random() const;
  std::uint64_t random_seed() const { return options_.random_seed; }
  /// The order with another seed.
  LineOrder with_seed(std::uint64_t seed) const;

  bool operator==(const LineOrder&) const = default;

 private:
  LineOptions options_;  ///< `keys` have their final styles
  bool plain_ = false;
};

}  // namespace hetsort::order
