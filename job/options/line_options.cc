// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
#include "job/options/line_options.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <functional>
#include <iterator>
#include <limits>
#include <string>
#include <vector>

#include "io/field.h"
#include "job/options/parse.h"

namespace hetsort::job {

namespace {

using order::LineKeyKind;
using order::LineKeyStyle;

/// An option of all lines that is also a letter in the options of a key.
struct Ordering {
  char letter;
  const char* name;
  const char* help;
};

/// The orderings, in the order in which messages list them.
constexpr std::array kOrderings{
    Ordering{'b', "ignore-leading-blanks",
             "ignore blanks at the start of keys and before their characters are counted"},
    Ordering{'d', "dictionary-order", "lines: only blanks, letters and digits count"},
    Ordering{'f', "ignore-case", "lines: lower case letters count as upper case letters"},
    Ordering{'g', "general-numeric-sort", "lines: compare floating-point numbers"},
    Ordering{'h', "human-numeric-sort", "lines: compare numbers with units, such as 2K and 1G"},
    Ordering{'i', "ignore-nonprinting", "lines: only printable characters count"},
    Ordering{'M', "month-sort", "lines: compare names of months, unknown < JAN < ... < DEC"},
    Ordering{'n', "numeric-sort", "lines: compare decimal numbers of any length"},
    Ordering{'R', "random-sort", "lines: shuffle, but keep equal keys together"},
    Ordering{'V', "version-sort", "lines: compare versions and numbered names of files"}};

/// The orderings among kOrderings that say what a key is; a key has one of them.
struct Kind {
  char letter;
  LineKeyKind kind;
};
constexpr std::array kKinds{Kind{'g', LineKeyKind::kGeneral}, Kind{'h', LineKeyKind::kHuman},
                            Kind{'M', LineKeyKind::kMonth},   Kind{'n', LineKeyKind::kNumber},
                            Kind{'R', LineKeyKind::kRandom},  Kind{'V', LineKeyKind::kVersion}};

constexpr std::uint64_t kMaxHeaderLines = 1'000'000;

/// The options that a key may have.
constexpr std::string_view kKeyLetters = "bdfghiMnRrV";

bool has(std::string_view letters, char letter) { return letters.find(letter) != letters.npos; }

/// Throws: RequestError if `letters` exclude each other; `origin` stands at the start of the message.
void check_compatible(std::string_view letters, const std::string& origin) {
  const auto count = [&](std::string_view of) {
    return std::count_if(of.begin(), of.end(), [&](char letter) { return has(letters, letter); });
  };
  if (count("ghMn") + (count("RVdi") > 0 ? 1 : 0) <= 1 && count("RV") <= 1) return;
  std::string listed;
  for (const Ordering& ordering : kOrderings)
    if (ordering.letter != 'b' && has(letters, ordering.letter)) listed += ordering.letter;
  throw RequestError(fmt::format("{}options '-{}' are incompatible", origin, listed));
}

/// The style for these letters, without skip_blanks.
LineKeyStyle style_of(std::string_view letters) {
  LineKeyStyle style;
  for (const Kind& kind : kKinds)
    if (has(letters, kind.letter)) style.kind = kind.kind;
  style.dictionary = has(letters, 'd');
  style.fold = has(letters, 'f');
  style.printing = has(letters, 'i');
  style.reverse = has(letters, 'r');
  return style;
}

/// Reads the text of a -k from left to right.
class KeyText {
 public:
  KeyText(std::string_view text, const std::string& what) : what_(what), text_(text), rest_(text) {}

  bool skip(char c) {
    if (!rest_.starts_with(c)) return false;
    rest_.remove_prefix(1);
    return true;
  }
  /// Reads a decimal number, after blanks as in sort(1). A number beyond 64 bits counts as the highest one.
  std::size_t number(const char* what) {
    while (skip(' ') || skip('\t')) {
    }
    const std::size_t digits = std::min(rest_.find_first_not_of("0123456789"), rest_.size());
    if (digits == 0) fail(fmt::format("there is no {} at '{}'", what, rest_));
    constexpr std::size_t kHighest = std::numeric_limits<std::size_t>::max();
    std::size_t value = 0;
    for (const char digit : rest_.substr(0, digits)) {
      const auto added = static_cast<std::size_t>(digit - '0');
      value = value > (kHighest - added) / 10 ? kHighest : 10 * value + added;
    }
    rest_.remove_prefix(digits);
    return value;
  }
  /// Reads a number as number() does, but refuses 0.
  std::size_t position(const char* what) {
    const std::size_t value = number(what);
    if (value == 0) fail(fmt::format("the {} is 0, but fields and characters count from 1", what));
    return value;
  }
  std::string letters() {
    const std::string_view found = rest_.substr(0, rest_.find_first_not_of(kKeyLetters));
    rest_.remove_prefix(found.size());
    return std::string(found);
  }
  void end() const {
    if (!rest_.empty()) fail(fmt::format("'{}' is not understood; options of a key are b d f g h i M n R r V", rest_));
  }
  std::string origin() const { return fmt::format("{} '{}': ", what_, text_); }

 private:
  [[noreturn]] void fail(const std::string& reason) const { throw RequestError(origin() + reason); }

  const std::string& what_;
  std::string_view text_;
  std::string_view rest_;
};

char parse_separator(const std::string& text, const std::string& what) {
  if (text.empty()) throw RequestError(what + ": the separator is empty");
  if (text == "\\0") return '\0';
  if (text.size() > 1)
    throw RequestError(fmt::format("{} '{}': a separator is one byte{}", what, text,
                                   text == "\\t" ? "; in most shells $'\\t' is a tab" : ""));
  return text.front();
}

/// Whether the text of a key is the name of a column: its first letter, or a ':' in it, says so.
bool is_column(std::string_view text) {
  constexpr std::string_view kFronts = " \t0123456789.,";
  return !text.empty() && (kFronts.find(text.front()) == kFronts.npos || text.find(':') != text.npos);
}

/// Makes a key of CSV of one that is the text of a column, or a field. Letters behind the last ':' of a text are
/// options. Throws: RequestError for a key that is not one field.
order::LineKey key_of_csv(order::LineKey key) {
  const std::size_t colon = key.column.rfind(':');
  if (key.column.empty()) {
    if (key.last_field != 0 && key.last_field != key.first_field)
      throw RequestError(
          fmt::format("a key of CSV is one field: give fields {} to {} one by one", key.first_field, key.last_field));
    key.last_field = key.first_field;
  } else if (colon != key.column.npos && key.column.find_first_not_of(kKeyLetters, colon + 1) == key.column.npos) {
    const std::string letters = key.column.substr(colon + 1);
    key.column.resize(colon);
    check_compatible(letters, fmt::format("{} '{}': ", io::field("line_key"), key.column));
    key.style = style_of(letters);
    key.skip_blanks_before_first = key.skip_blanks_before_last = has(letters, 'b');
  }
  return key;
}

/// Gives the first key the order of the words. Throws: RequestError if it has another one.
void order_by_list(std::shared_ptr<const order::WordList> words, order::LineOptions& lines) {
  if (lines.keys.empty()) lines.keys.emplace_back();
  order::LineKey& key = lines.keys.front();
  if (order::has_default_style(key)) key.style.reverse = lines.reverse;
  LineKeyStyle plain;
  plain.reverse = key.style.reverse;
  if (key.style != plain || (lines.keys.size() == 1 && lines.style.kind != LineKeyKind::kText))
    throw RequestError(fmt::format("{} is the order of the first key, which can have no option but 'r' and 'b'",
                                   io::field("order_list")));
  key.style.kind = LineKeyKind::kListed;
  lines.words = std::move(words);
}

/// Makes the options those of rows of CSV.
void expect_csv(const LineRequest& request, order::LineOptions& lines) {
  lines.csv = true;
  lines.separator = request.separator.value_or(*request.csv);
  lines.empty_first = request.empty_first.value_or(false);
  lines.last_resort = false;
  if (const std::string_view reserved("\"\n\r\0", 4); reserved.find(*lines.separator) != reserved.npos)
    throw RequestError(fmt::format("{}: a quote, a zero byte and the end of a line separate no fields of CSV",
                                   io::field("field_separator")));
  std::ranges::transform(lines.keys, lines.keys.begin(), key_of_csv);
}

/// Several separators must be the same.
Fill take_separator(std::optional<char>& field) {
  return [&field, first = std::string()](const std::string& text, const std::string& what) mutable {
    const char separator = parse_separator(text, what);
    if (field && *field != separator)
      throw RequestError(fmt::format("{} '{}' and {} '{}' exclude each other", what, first, what, text));
    if (!field) first = text;
    field = separator;
  };
}

/// The options of records that options of lines exclude.
std::vector<Exclusion> records_only() {
  const std::string why = "is for lines";
  return {{"record-size", why}, {"header", why, "header-lines"}, {"key", why}};
}

/// --sort, whose words are the names of the kinds.
Option sort_option(LineRequest& request) {
  Option option{.name = "sort", .value = "WORD", .help = "lines: the order of one of the options above, by its name"};
  std::vector<std::pair<std::string, char>> words;
  for (const Kind& kind : kKinds) {
    const std::string_view name = std::ranges::find(kOrderings, kind.letter, &Ordering::letter)->name;
    option.words.emplace_back(name.substr(0, name.rfind('-')));
    words.emplace_back(option.words.back(), kind.letter);
  }
  option.fill = [&request, words = std::move(words)](const std::string& text, const std::string& what) {
    request.orderings += value_of_word(words, text, what);
  };
  return option;
}

using Add = std::function<void(Option)>;

void add_csv_options(const Add& add, LineRequest& request) {
  add({.name = "csv",
       .help = "the INPUTs are CSV: fields may be quoted, the first row is a header that stays on top",
       .excludes = {{"tsv"}, {"zero-terminated"}, {"comment"}},
       .fill = [&request](const std::string&, const std::string&) { request.csv = ','; }});
  add({.name = "tsv",
       .help = "as CSV, but a tab separates fields",
       .excludes = {{"zero-terminated"}, {"comment"}},
       .fill = [&request](const std::string&, const std::string&) { request.csv = '\t'; }});
  add(choice<std::optional<bool>, bool>({.name = "empty",
                                         .value = "WHERE",
                                         .usual = "last",
                                         .help = "CSV: rows with an empty key come first or last, reversed or not"},
                                        request.empty_first, {{"first", true}, {"last", false}}));
}

void add_header_options(const Add& add, LineRequest& request) {
  add({.name = "header-lines",
       .value = "N",
       .help = "lines: the first N lines of each INPUT stay on top, once; they must be the same",
       .excludes = {{"comment"}},
       .fill = take(request.header_lines, count_from(0, kMaxHeaderLines))});
  add({.name = "comment",
       .value = "CHARACTER",
       .help = "lines: those at the start of each INPUT that begin with CHARACTER stay on top, once",
       .fill = [&request](const std::string& text, const std::string& what) {
         if (text.size() != 1) throw RequestError(fmt::format("{} '{}': one byte begins a comment", what, text));
         request.comment = text.front();
       }});
}

}  // namespace

void add_line_options(Options& options, LineRequest& request) {
  const Add add = [&](Option option) {
    std::ranges::move(records_only(), std::back_inserter(option.excludes));
    option.fill = [&request, fill = std::move(option.fill)](const std::string& text, const std::string& what) {
      request.lines = true;
      fill(text, what);
    };
    options.add(std::move(option));
  };
  add({.name = "lines",
       .help = "the INPUTs are lines of text; the options below say so too",
       .fill = turn_on(request.lines)});
  add({.name = "line-key",
       .letter = 'k',
       .value = "F[.C][OPTS][,F[.C][OPTS]]",
       .help = "lines: a key from field F, character C, to another or the end of the line, with OPTS of bdfghiMnRrV; "
               "repeatable, most significant first; CSV also NAME[:OPTS], a column",
       .repeatable = true,
       .fill = [&request](const std::string& text, const std::string& what) {
         request.keys.push_back(is_column(text) ? order::LineKey{.column = text} : parse_line_key(text, what));
       }});
  add_csv_options(add, request);
  add({.name = "field-separator",
       .letter = 't',
       .value = "CHARACTER",
       .help = "lines: what separates fields; without it they begin where blanks do",
       .repeatable = true,
       .fill = take_separator(request.separator)});
  add({.name = "zero-terminated",
       .letter = 'z',
       .help = "lines end with a zero byte, not with a newline",
       .fill = turn_on(request.zero_terminated)});
  add_header_options(add, request);
  for (const Ordering& ordering : kOrderings)
    add({.name = ordering.name,
         .letter = ordering.letter,
         .help = ordering.help,
         .fill = [&request, letter = ordering.letter](const std::string&, const std::string&) {
           request.orderings += letter;
         }});
  add(sort_option(request));
  add({.name = "order-list",
       .value = "FILE",
       .help = "lines: the first key has the order of the words in FILE, one a line; other words come behind them",
       .fill = take_text(request.order_list)});
  add({.name = "random-source",
       .value = "FILE",
       .help = "lines: the first bytes of FILE decide the random order",
       .fill = take_text(request.random_source)});
}

order::LineKey parse_line_key(std::string_view text, const std::string& what) {
  KeyText rest(text, what);
  order::LineKey key;
  key.first_field = rest.position("first field");
  if (rest.skip('.')) key.first_character = rest.position("first character");
  std::string letters = rest.letters();
  key.skip_blanks_before_first = has(letters, 'b');
  if (rest.skip(',')) {
    key.last_field = rest.position("last field");
    if (rest.skip('.')) key.last_character = rest.number("last character");
    const std::string last = rest.letters();
    key.skip_blanks_before_last = has(last, 'b');
    letters += last;
  }
  rest.end();
  check_compatible(letters, rest.origin());
  key.style = style_of(letters);
  return key;
}

order::LineOptions line_options_of(const LineRequest& request, const LineOrdering& ordering) {
  order::LineOptions lines;
  const auto column = std::ranges::find_if(request.keys, [](const order::LineKey& key) { return !key.column.empty(); });
  if (!request.csv && column != request.keys.end())
    static_cast<void>(parse_line_key(column->column, io::field("line_key")));
  if (request.zero_terminated) lines.terminator = '\0';
  if (request.separator) lines.separator = *request.separator;
  lines.keys = request.keys;
  if (lines.keys.empty() || std::any_of(lines.keys.begin(), lines.keys.end(), order::has_default_style))
    check_compatible(request.orderings, "");
  lines.style = style_of(request.orderings);
  lines.style.skip_blanks = has(request.orderings, 'b');
  lines.reverse = ordering.reverse;
  lines.last_resort = !ordering.keeps_equal;
  if (request.csv) expect_csv(request, lines);
  if (!request.csv && request.empty_first) throw RequestError(io::field("empty") + " is for CSV");
  if (ordering.words) order_by_list(ordering.words, lines);
  return lines;
}

}  // namespace hetsort::job
