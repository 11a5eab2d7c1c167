// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
#include "partition/text/toml_hazard.h"

#include <algorithm>

namespace hetsort::partition {
namespace {

class Scanner {
 public:
  Scanner(std::string_view text, std::size_t limit) : text_(text), limit_(limit) {}

  std::optional<TomlHazard> run() {
    constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF";
    if (text_.starts_with(kByteOrderMark)) at_ = kByteOrderMark.size();
    while (at_ < text_.size()) {
      step(text_[at_]);
      if (depth_ > limit_ || dots_ > limit_) return TomlHazard{place(), "nested too deeply"};
      if (foreign_) return TomlHazard{place(), "a character that is not ASCII stands outside a comment"};
    }
    return std::nullopt;
  }

 private:
  void step(char c) {
    switch (c) {
      case '"':
      case '\'':
        skip_string(c);
        return;
      case '#':
        at_ = std::min(text_.find('\n', at_), text_.size());
        return;
      case '[':
      case '{':
        ++depth_;
        dots_ = 0;
        break;
      case ']':
      case '}':
        depth_ -= depth_ > 0;
        dots_ = 0;
        break;
      case '.':
        ++dots_;
        break;
      case ',':
      case '=':
      case '\n':
        dots_ = 0;
        break;
      default:
        foreign_ = is_foreign(c);
        break;
    }
    ++at_;
  }

  static bool is_foreign(char c) { return static_cast<unsigned char>(c) >= 0x80; }

  void skip_string(char quote) {
    const std::string_view rest = text_.substr(at_);
    const bool multiline = rest.size() >= 3 && rest[1] == quote && rest[2] == quote;
    at_ += multiline ? 3 : 1;
    for (; at_ < text_.size(); ++at_) {
      if (quote == '"' && text_[at_] == '\\') {
        ++at_;
      } else if (is_foreign(text_[at_])) {
        foreign_ = true;
        ++at_;
        return;
      } else if (!multiline && text_[at_] == '\n') {
        return;
      } else if (text_[at_] == quote && !multiline) {
        ++at_;
        return;
      } else if (multiline && closes(quote)) {
        at_ += 3;
        for (int extra = 0; extra < 2 && at_ < text_.size() && text_[at_] == quote; ++extra) ++at_;
        return;
      }
    }
    at_ = std::min(at_, text_.size());
  }

  bool closes(char quote) const {
    return at_ + 2 < text_.size() && text_[at_] == quote && text_[at_ + 1] == quote && text_[at_ + 2] == quote;
  }

  TextPlace place() const {
    const std::string_view before = text_.substr(0, at_ - 1);
    const auto line = 1 + static_cast<std::size_t>(std::count(before.begin(), before.end(), '\n'));
    const std::size_t line_start = before.rfind('\n') + 1;  // npos + 1 = 0
    return {line, at_ - line_start};
  }

  std::string_view text_;
  std::size_t limit_;
  std::size_t at_ = 0;
  std::size_t depth_ = 0;
  std::size_t dots_ = 0;
  bool foreign_ = false;
};

}  // namespace

std::optional<TomlHazard> find_hazard(std::string_view text, std::size_t limit) { return Scanner(text, limit).run(); }

}  // namespace hetsort::partition
