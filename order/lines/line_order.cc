// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
#include "order/lines/line_order.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <xxhash.h>

#include <algorithm>
#include <array>
#include <cassert>
#include <cstring>
#include <string>
#include <string_view>
#include <utility>

#include "order/lines/characters.h"
#include "order/lines/csv_fields.h"
#include "order/lines/key_sinks.h"
#include "order/lines/line_fields.h"
#include "order/lines/number_encoding.h"
#include "order/lines/version_encoding.h"

namespace hetsort::order {

namespace {

/// Whether the number at the start of a field that is `key`, and its unit, always end before this separator.
bool ends_within_field(const LineKey& key, char separator) {
  if (key.style.kind != LineKeyKind::kNumber && key.style.kind != LineKeyKind::kHuman) return false;
  if (key.first_character != 1 || key.last_character != 0) return false;
  return !is_blank(separator) && !is_digit(separator) && !is_letter(separator) && separator != '-' && separator != '.';
}

/// `options` with the final options of each key in the key, and with the whole line as a key if its comparison needs
/// more than bytes.
LineOptions resolved(LineOptions options) {
  options.reverse = options.style.reverse = options.reverse || options.style.reverse;
  LineKeyStyle bytes;
  bytes.reverse = options.reverse;
  if (options.keys.empty() && options.style != bytes) options.keys.emplace_back();
  for (LineKey& key : options.keys) {
    if (has_default_style(key)) key.style = options.style;
    key.skip_blanks_before_first |= key.style.skip_blanks;
    key.skip_blanks_before_last |= key.style.skip_blanks;
    key.style.skip_blanks = false;
    key.style.printing &= !key.style.dictionary;  // -d ignores more characters than -i
    // A blank within a field without separator ends a number as well. Then the end need not be found.
    if (!options.csv && key.last_field >= key.first_field && ends_within_field(key, options.separator.value_or(',')))
      key.last_field = 0;
  }
  options.style = {};
  options.last_resort |= options.keys.empty();
  return options;
}

bool counts(char c, const LineKeyStyle& style) {
  if (style.dictionary) return is_blank(c) || is_digit(c) || is_letter(c);
  return !style.printing || is_printable(c);
}

bool changes_text(const LineKeyStyle& style) { return style.dictionary || style.printing || style.fold; }

/// Copies the characters of `text` that the style compares, in the form in which it compares them. Returns the end of
/// the copy.
char* copy_changed(std::string_view text, const LineKeyStyle& style, char* to) {
  for (const char c : text)
    if (counts(c, style)) *to++ = style.fold ? upper(c) : c;
  return to;
}

template <class Sink>
void encode_text(Sink& sink, std::string_view text, const LineKeyStyle& style) {
  if (!changes_text(style)) {
    append_escaped(sink, text);
  } else {
    std::array<char, 32> part;  // front() needs few characters
    for (; !text.empty() && !sink.full(); text.remove_prefix(std::min(text.size(), part.size()))) {
      const char* const end = copy_changed(text.substr(0, part.size()), style, part.data());
      append_escaped(sink, {part.data(), end});
    }
  }
  sink.put(kTextEnd);
}

/// The number of the month with whose name `text` begins, 1 to 12; 0 if it begins with none.
unsigned month_of(std::string_view text) {
  constexpr std::string_view kMonths = "JANFEBMARAPRMAYJUNJULAUGSEPOCTNOVDEC";
  text = without_leading(text, is_blank);
  if (text.size() < 3) return 0;
  const std::array<char, 3> name{upper(text[0]), upper(text[1]), upper(text[2])};
  for (std::size_t at = 0; at < kMonths.size(); at += 3)
    if (kMonths.substr(at, 3) == std::string_view(name.data(), 3)) return static_cast<unsigned>(at / 3 + 1);
  return 0;
}

/// The characters that the style compares: `text` itself, or a copy in `room`.
std::string_view compared_text(std::string_view text, const LineKeyStyle& style, std::string& room) {
  if (!changes_text(style)) return text;
  room.resize(text.size());
  return {room.data(), copy_changed(text, style, room.data())};
}

/// 128 bits: two of 2^40 different keys have the same hash with a chance of 2^-49.
template <class Sink>
void encode_random(Sink& sink, std::string_view text, std::uint64_t seed) {
  const XXH128_hash_t hash = XXH3_128bits_withSeed(text.data(), text.size(), seed);
  sink.put_bits(KeyBits{hash.high64} << 64 | hash.low64, kBitsBytes);
}

/// The number of a listed word. Other words follow in the order of their bytes.
template <class Sink>
void encode_listed(Sink& sink, std::string_view text, const WordList& words) {
  const std::uint32_t number = words.number_of(text);
  sink.put_bits(KeyBits{number} << 96, sizeof number);
  if (number == words.size()) encode_text(sink, text, {});
}

template <class Sink>
void encode_key(Sink& sink, std::string_view text, const LineKeyStyle& style, const LineOptions& options) {
  std::string room;
  switch (style.kind) {
    case LineKeyKind::kText:
      return encode_text(sink, text, style);
    case LineKeyKind::kNumber:
      return encode_number(sink, text);
    case LineKeyKind::kGeneral:
      return encode_general(sink, text);
    case LineKeyKind::kHuman:
      return encode_human(sink, text, style.fold);
    case LineKeyKind::kMonth:
      return sink.put(month_of(text));
    case LineKeyKind::kVersion:
      return encode_version(sink, compared_text(text, style, room));
    case LineKeyKind::kRandom:
      return encode_random(sink, compared_text(text, style, room), options.random_seed);
    case LineKeyKind::kListed:
      return encode_listed(sink, text, *options.words);
  }
}

/// The characters of a field of a row that a key consists of. More may follow a number.
std::string_view csv_text(std::string_view row, const LineKey& key, char separator, std::string& room) {
  std::optional<CsvField> field = csv_field(row, key.first_field, separator);
  if (!field) return {};
  // A number ends before a quote: a long text behind it need not be copied.
  if (field->has_escapes && ends_within_field(key, '"')) {
    const std::size_t quote = field->text.find('"');
    field->text = field->text.substr(0, quote == 0 ? 2 : quote);
  }
  std::string_view text = value_of(*field, room);
  if (key.skip_blanks_before_first) text = without_leading(text, is_blank);
  if (key.last_character > 0) text = text.substr(0, key.last_character);
  text = text.substr(std::min(key.first_character - 1, text.size()));
  const bool in_row = !text.empty() && text.data() >= row.data() && text.data() < row.data() + row.size();
  return in_row && ends_within_field(key, separator) ? row.substr(static_cast<std::size_t>(text.data() - row.data()))
                                                     : text;
}

/// Empty values have a byte of their own, which no other key begins with. It is not reversed.
template <class Sink>
void encode_csv_key(Sink& sink, std::string_view row, const LineKey& key, const LineOptions& options) {
  constexpr unsigned kLowest = 0;
  constexpr unsigned kHighest = 0xff;
  const LineKeyKind kind = key.style.kind;
  // The encodings of texts and numbers begin with other bytes, if those of texts are kept below the highest one.
  const bool is_text = kind == LineKeyKind::kText && !key.style.dictionary && !key.style.printing;
  const bool is_marked = !is_text && kind != LineKeyKind::kNumber;
  std::string room;
  const std::string_view text = csv_text(row, key, *options.separator, room);
  if (text.empty()) return sink.put(options.empty_first ? kLowest : kHighest);
  if (is_marked) sink.put(kLowest + 1);
  const std::size_t begin = sink.size();
  if (is_text && static_cast<std::uint8_t>(text.front()) >= kHighest - 1) sink.put(kHighest - 1);
  encode_key(sink, text, key.style, options);
  if (key.style.reverse) sink.complement_from(begin);
}

template <class Sink>
void encode_line(Sink& sink, std::string_view line, const LineOptions& options) {
  for (const LineKey& key : options.keys) {
    if (sink.full()) return;
    if (options.csv && key.last_field != 0) {
      encode_csv_key(sink, line, key, options);
      continue;
    }
    const std::size_t begin = sink.size();
    encode_key(sink, key_text(line, key, options.separator), key.style, options);
    if (key.style.reverse) sink.complement_from(begin);
  }
  if (!options.last_resort) return;
  if (!options.reverse) return sink.append(line);
  const std::size_t begin = sink.size();
  encode_text(sink, line, {});
  sink.complement_from(begin);
}

std::string_view text_of(std::span<const std::byte> line) {
  return {reinterpret_cast<const char*>(line.data()), line.size()};
}

}  // namespace

LineOrder::LineOrder(LineOptions options)
    : options_(resolved(std::move(options))), plain_(options_.keys.empty() && !options_.reverse) {
  for ([[maybe_unused]] const LineKey& key : options_.keys) {
    assert((key.first_field > 0 || !key.column.empty()) && key.first_character > 0);
    assert(key.style.kind != LineKeyKind::kListed || options_.words != nullptr);
    assert(key.style.kind == LineKeyKind::kText || key.style.kind == LineKeyKind::kVersion ||
           key.style.kind == LineKeyKind::kRandom || !(key.style.dictionary || key.style.printing));
  }
}

std::size_t LineOrder::least_fields() const {
  std::size_t least = 1;
  for (const LineKey& key : options_.keys)
    if (key.last_field != 0) least = std::max(least, key.first_field);
  return least;
}

bool LineOrder::needs_columns() const {
  return std::ranges::any_of(options_.keys, [](const LineKey& key) { return !key.column.empty(); });
}

LineOrder LineOrder::with_columns(const std::vector<std::string>& names) const {
  LineOrder order = *this;
  for (LineKey& key : order.options_.keys) {
    if (!key.column.empty()) {
      const auto found = std::ranges::find(names, key.column);
      if (found == names.end())
        throw ColumnError(
            fmt::format("no column is named '{}'; the columns are {}", key.column, fmt::join(names, ", ")));
      if (std::ranges::count(names, key.column) > 1)
        throw ColumnError(fmt::format("several columns are named '{}': give the number of one", key.column));
      key.first_field = key.last_field = static_cast<std::size_t>(found - names.begin()) + 1;
    } else if (key.last_field > names.size()) {
      throw ColumnError(fmt::format("field {} is a key, but there are {} columns", key.last_field, names.size()));
    }
  }
  return order;
}

bool LineOrder::is_random() const {
  return std::ranges::any_of(options_.keys, [](const LineKey& key) { return key.style.kind == LineKeyKind::kRandom; });
}

LineOrder LineOrder::with_seed(std::uint64_t seed) const {
  LineOrder order = *this;
  order.options_.random_seed = seed;
  return order;
}

void LineOrder::normalize(std::span<const std::byte> line, std::vector<std::byte>& key) const {
  WholeKeySink sink(key);
  encode_line(sink, text_of(line), options_);
}

int LineOrder::compare(std::span<const std::byte> a, std::span<const std::byte> b, std::size_t window_bytes) const {
  // Each window costs the encoding of all before it: long lines have larger ones.
  window_bytes = std::max(window_bytes, std::min(a.size(), b.size()) / 16);
  for (std::size_t first = 0;; first += window_bytes) {
    WindowSink of_a(first, window_bytes);
    WindowSink of_b(first, window_bytes);
    encode_line(of_a, text_of(a), options_);
    encode_line(of_b, text_of(b), options_);
    const std::size_t common = std::min(of_a.bytes().size(), of_b.bytes().size());
    const int order = common == 0 ? 0 : std::memcmp(of_a.bytes().data(), of_b.bytes().data(), common);
    if (order != 0) return order;
    if (of_a.bytes().size() != of_b.bytes().size()) return of_a.bytes().size() < of_b.bytes().size() ? -1 : 1;
    if (common < window_bytes) return 0;
  }
}

std::array<std::byte, 16> LineOrder::front(std::span<const std::byte> line) const {
  FrontSink sink;
  encode_line(sink, text_of(line), options_);
  return sink.bytes();
}

}  // namespace hetsort::order
