// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
#include "cli/options/line_options.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <limits>
#include <string>
#include <vector>

#include "cli/options/typed_options.h"

namespace hetsort::cli {

namespace {

namespace po = boost::program_options;
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
    Ordering{'V', "version-sort", "lines: compare versions and numbered names of files"}};

/// The orderings among kOrderings that say what a key is; a key has one of them.
struct Kind {
  char letter;
  LineKeyKind kind;
};
constexpr std::array kKinds{Kind{'g', LineKeyKind::kGeneral}, Kind{'h', LineKeyKind::kHuman},
                            Kind{'M', LineKeyKind::kMonth}, Kind{'n', LineKeyKind::kNumber},
                            Kind{'V', LineKeyKind::kVersion}};

bool has(std::string_view letters, char letter) { return letters.find(letter) != letters.npos; }

/// Throws: UsageError if `letters` exclude each other; `origin` stands at the start of the message.
void check_compatible(std::string_view letters, const std::string& origin) {
  const auto count = [&](std::string_view of) {
    return std::count_if(of.begin(), of.end(), [&](char letter) { return has(letters, letter); });
  };
  if (count("ghMn") + (count("Vdi") > 0 ? 1 : 0) <= 1) return;
  std::string listed;
  for (const Ordering& ordering : kOrderings)
    if (ordering.letter != 'b' && has(letters, ordering.letter)) listed += ordering.letter;
  throw UsageError(fmt::format("{}options '-{}' are incompatible", origin, listed));
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
  explicit KeyText(std::string_view text) : text_(text), rest_(text) {}

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
    constexpr std::string_view kOptionLetters = "bdfghiMnrV";
    const std::string_view found = rest_.substr(0, rest_.find_first_not_of(kOptionLetters));
    rest_.remove_prefix(found.size());
    if (rest_.starts_with('R')) fail("hetsort does not shuffle; sort(1) does");
    return std::string(found);
  }
  void end() const {
    if (!rest_.empty()) fail(fmt::format("'{}' is not understood; options of a key are b d f g h i M n r V", rest_));
  }
  std::string origin() const { return fmt::format("-k '{}': ", text_); }

 private:
  [[noreturn]] void fail(const std::string& reason) const { throw UsageError(origin() + reason); }

  std::string_view text_;
  std::string_view rest_;
};

char separator_of(const std::vector<std::string>& given) {
  const auto parse = [](const std::string& text) {
    if (text.empty()) throw UsageError("-t: the separator is empty");
    if (text == "\\0") return '\0';
    if (text.size() > 1)
      throw UsageError(fmt::format("-t '{}': a separator is one byte{}", text,
                                   text == "\\t" ? "; in most shells $'\\t' is a tab" : ""));
    return text.front();
  };
  const char separator = parse(given.front());
  for (const std::string& other : given)
    if (parse(other) != separator)
      throw UsageError(fmt::format("-t '{}' and -t '{}' exclude each other", given.front(), other));
  return separator;
}

bool is_set(const po::variables_map& values, const char* name) {
  return values.count(name) != 0 && value_of<bool>(values, name);
}

/// The options of lines that the command line has, written as there.
std::vector<std::string> given_options(const po::variables_map& values) {
  std::vector<std::string> given;
  for (const char* const name : {"lines", "zero-terminated"})
    if (is_set(values, name)) given.push_back(fmt::format("--{}", name));
  if (values.count("line-key") != 0) given.emplace_back("-k");
  if (values.count("field-separator") != 0) given.emplace_back("-t");
  for (const Ordering& ordering : kOrderings)
    if (is_set(values, ordering.name)) given.push_back(fmt::format("--{}", ordering.name));
  return given;
}

void check_without_records(const po::variables_map& values, const std::string& option) {
  for (const char* const name : {"record-size", "header"})
    if (values.count(name) != 0 && !values[name].defaulted())
      throw UsageError(fmt::format("{} is for lines: it excludes --{}, which is for records", option, name));
  if (values.count("key") != 0)
    throw UsageError(
        fmt::format("{} is for lines: it excludes --key, which is for records; keys of lines are -k", option));
}

}  // namespace

void add_line_options(po::options_description& options, std::string_view taken) {
  const auto name = [&](const char* long_name, char letter) {
    return has(taken, letter) ? std::string(long_name) : fmt::format("{},{}", long_name, letter);
  };
  auto add = options.add_options();
  add("lines", po::bool_switch(), "the INPUTs are lines of text; the options below say so too");
  add(name("line-key", 'k').c_str(),
      po::value<std::vector<std::string>>()->composing()->value_name("F[.C][OPTS][,F[.C][OPTS]]"),
      "lines: a key from field F, character C, to another or the end of the line, with OPTS of bdfghiMnrV; repeatable, "
      "most significant first");
  add(name("field-separator", 't').c_str(), po::value<std::vector<std::string>>()->composing()->value_name("CHARACTER"),
      "lines: what separates fields; without it they begin where blanks do");
  add(name("zero-terminated", 'z').c_str(), po::bool_switch(), "lines end with a zero byte, not with a newline");
  for (const Ordering& ordering : kOrderings)
    add(name(ordering.name, ordering.letter).c_str(), po::bool_switch(), ordering.help);
}

order::LineKey parse_line_key(std::string_view text) {
  KeyText rest(text);
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

std::optional<order::LineOptions> requested_lines(const po::variables_map& values) {
  const std::vector<std::string> given = given_options(values);
  if (given.empty()) return std::nullopt;
  check_without_records(values, given.front());
  order::LineOptions lines;
  if (is_set(values, "zero-terminated")) lines.terminator = '\0';
  if (const auto separators = optional_value<std::vector<std::string>>(values, "field-separator"))
    lines.separator = separator_of(*separators);
  for (const std::string& key :
       optional_value<std::vector<std::string>>(values, "line-key").value_or(std::vector<std::string>{}))
    lines.keys.push_back(parse_line_key(key));
  std::string letters;
  for (const Ordering& ordering : kOrderings)
    if (is_set(values, ordering.name)) letters += ordering.letter;
  if (lines.keys.empty() || std::any_of(lines.keys.begin(), lines.keys.end(), order::has_default_style))
    check_compatible(letters, "");
  lines.style = style_of(letters);
  lines.style.skip_blanks = has(letters, 'b');
  lines.reverse = is_set(values, "reverse");
  lines.last_resort = !is_set(values, "unique") && !is_set(values, "stable");
  return lines;
}

bool is_lone_h(Arguments arguments) {
  return arguments.size() == 1 && arguments.front() == "-h" && ::isatty(STDIN_FILENO) == 1;
}

}  // namespace hetsort::cli
