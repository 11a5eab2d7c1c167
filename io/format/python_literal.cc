// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
#include "io/format/python_literal.h"

#include <algorithm>
#include <charconv>
#include <utility>

namespace hetsort::io {

namespace {

using Kind = PythonLiteral::Kind;

constexpr std::size_t kMaxNesting = 32;

bool is_word_character(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
}

/// Reads literals from the front of a text. After a mistake all functions return false.
class Parser {
 public:
  explicit Parser(std::string_view source) : source_(source) {}

  bool parse(PythonLiteral& into, std::size_t depth = 0) {
    skip_space();
    if (depth > kMaxNesting || at_ == source_.size()) return false;
    const std::size_t begin = at_;
    if (!parse_kind(into, depth)) return false;
    into.source = source_.substr(begin, at_ - begin);
    return true;
  }
  bool at_end() {
    skip_space();
    return at_ == source_.size();
  }

 private:
  bool parse_kind(PythonLiteral& into, std::size_t depth) {
    const char first = source_[at_];
    if (first == '\'' || first == '"') return parse_text(into);
    if (first == '{') return parse_items(into, Kind::kDictionary, '}', depth);
    if (first == '[') return parse_items(into, Kind::kSequence, ']', depth);
    if (first == '(') return parse_items(into, Kind::kSequence, ')', depth);
    if (first >= '0' && first <= '9') return parse_number(into);
    // Python 2 wrote u'name' and b'name'.
    const bool prefix = (first == 'u' || first == 'b') && at_ + 1 < source_.size();
    if (prefix && (source_[at_ + 1] == '\'' || source_[at_ + 1] == '"')) return ++at_, parse_text(into);
    return parse_word(into);
  }

  bool parse_text(PythonLiteral& into) {
    into.kind = Kind::kText;
    const char quote = source_[at_++];
    while (at_ < source_.size() && source_[at_] != quote) {
      char c = source_[at_++];
      if (c == '\\') {
        if (at_ == source_.size()) return false;
        c = source_[at_++];
        // Other escapes stay as they are: names with them are only compared.
        if (c != '\\' && c != '\'' && c != '"') into.text += '\\';
      }
      into.text += c;
    }
    return at_++ < source_.size();
  }

  bool parse_number(PythonLiteral& into) {
    into.kind = Kind::kNumber;
    const char* const end = source_.data() + source_.size();
    const auto [stop, status] = std::from_chars(source_.data() + at_, end, into.number);
    at_ = static_cast<std::size_t>(stop - source_.data());
    if (status != std::errc{}) return false;
    if (at_ < source_.size() && source_[at_] == 'L') ++at_;  // as Python 2 wrote it
    return at_ == source_.size() || !is_word_character(source_[at_]);
  }

  bool parse_word(PythonLiteral& into) {
    into.kind = Kind::kWord;
    while (at_ < source_.size() && is_word_character(source_[at_])) into.text += source_[at_++];
    return !into.text.empty();
  }

  bool parse_items(PythonLiteral& into, Kind kind, char close, std::size_t depth) {
    into.kind = kind;
    ++at_;
    for (;;) {
      if (is_next(close)) return true;
      if (!parse(into.items.emplace_back(), depth + 1)) return false;
      if (kind == Kind::kDictionary && (!is_next(':') || !parse(into.items.emplace_back(), depth + 1))) return false;
      if (!is_next(',')) return is_next(close);
    }
  }

  /// Takes `c` if it comes next behind white space.
  bool is_next(char c) {
    skip_space();
    if (at_ == source_.size() || source_[at_] != c) return false;
    ++at_;
    return true;
  }
  void skip_space() {
    while (at_ < source_.size() && std::string_view(" \t\r\n").find(source_[at_]) != std::string_view::npos) ++at_;
  }

  std::string_view source_;
  std::size_t at_ = 0;
};

}  // namespace

const PythonLiteral* PythonLiteral::find(std::string_view key) const {
  for (std::size_t i = 0; i + 1 < items.size(); i += 2)
    if (items[i].is(Kind::kText) && items[i].text == key) return &items[i + 1];
  return nullptr;
}

std::optional<PythonLiteral> parse_python_literal(std::string_view source) {
  Parser parser(source);
  PythonLiteral literal;
  if (!parser.parse(literal) || !parser.at_end()) return std::nullopt;
  return literal;
}

}  // namespace hetsort::io
