// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
#include "io/format/content.h"

#include <algorithm>
#include <array>
#include <string_view>

#include "io/field.h"
#include "io/format/foreign.h"
#include "io/format/numpy.h"
#include "io/format/text.h"

namespace hetsort::io {

namespace {

// All that messages advise is in this file.

/// The words of an advice that depend on what the caller does.
struct Words {
  std::string_view does;    ///< the verb for what the command does with its input
  std::string_view reader;  ///< what reads the output of another command
  std::string lines;        ///< what is for lines
};

Words words_of(ContentUse use) {
  if (use == ContentUse::kSort) return {"sorts", "hetsort sort ...", field("lines") + " sorts lines"};
  if (use == ContentUse::kCheck) return {"checks", "hetsort sort -c ...", field("lines") + " checks lines"};
  return {"checks", "hetsort validate - ...", "'hetsort sort -c --lines' checks lines"};
}

std::string joined(std::initializer_list<std::string_view> parts) {
  std::string text;
  for (const std::string_view part : parts) text += part;
  return text;
}

std::string forced(const Words& words) {
  return joined({field("force_format"), " ", words.does, " its bytes as they are"});
}

std::string numpy_reason(const Words& words) {
  return joined(
      {"this is a NumPy file, whose header is no record: what NumPy files say of their elements counts if all ",
       "inputs are such files, named and not compressed, without ", field("record_size"), ", ", field("header"),
       " and ", field("lines"), "; ", forced(words)});
}

std::string format_reason(const ForeignFormat& format, const Words& words) {
  const std::string way_out =
      format.reader.empty() ? ""
                            : joined({"'", format.reader, " | ", words.reader, "' ", words.does, " what it holds; "});
  return joined({"this is ", format.name, ", which consists of neither records nor lines: ", way_out, forced(words)});
}

std::string text_reason(const Words& words) {
  return joined({"this is text, and the size of a record is not given: ", words.lines, ", ", field("record_size"),
                 " 100 ", words.does, " records of 100 bytes"});
}

/// Why such an input is refused; empty if it is not.
std::string refusal_of(std::span<const std::byte> front, const ContentRules& rules) {
  if (rules.refused == Refused::kNothing) return "";
  const Words words = words_of(rules.use);
  if (is_numpy(front)) return numpy_reason(words);
  if (const ForeignFormat* const format = foreign_format(front)) return format_reason(*format, words);
  return rules.refused == Refused::kFormatsAndText && is_text(front) ? text_reason(words) : "";
}

/// What the user should know about such an input; empty if there is nothing.
std::string note_on(const std::string& name, std::span<const std::byte> front, const ContentRules& rules) {
  if (rules.separator && has_quoted_field(front, *rules.separator, rules.terminator))
    return joined({name, ": fields begin with a quote, but ", field("field_separator"),
                   " separates fields inside of quotes, too; ", field("csv"), " reads such files"});
  if (rules.refused == Refused::kFormatsAndText && !resemble_benchmark_records(front))
    return joined({"the input does not look like benchmark records, but is taken for records of 100 bytes; ",
                   field("record_size"), " BYTES is for others, ", field("lines"), " for lines of text"});
  return "";
}

bool checks_nothing(const ContentRules& rules) { return rules.refused == Refused::kNothing && !rules.note; }

}  // namespace

void check_front(const std::string& name, std::span<const std::byte> front, const ContentRules& rules) {
  if (checks_nothing(rules)) return;
  if (const std::string reason = refusal_of(front, rules); !reason.empty()) throw ContentError("read", name, reason);
  if (!rules.note) return;
  if (const std::string note = note_on(name, front, rules); !note.empty()) rules.note(note);
}

std::vector<std::byte> read_front(const File& file, const ContentRules& rules) {
  std::vector<std::byte> front(checks_nothing(rules) && !rules.decompress ? 0 : kFrontBytes);
  front.resize(file.read_at(front, 0));
  return front;
}

void check_front(const File& file, std::uint64_t offset, const ContentRules& rules) {
  if (checks_nothing(rules)) return;
  std::array<std::byte, kFrontBytes> front{};
  check_front(file.name(), std::span(front).first(file.read_at(front, offset)), rules);
}

StreamFront::StreamFront(ContentRules rules, const std::string& name, std::span<const std::byte> header,
                         std::vector<std::byte> unread)
    : rules_(std::move(rules)), unread_(std::move(unread)) {
  const std::span<const std::byte> looked_at = header.first(std::min(header.size(), kFrontBytes));
  front_.assign(looked_at.begin(), looked_at.end());
  const std::size_t room = std::min(unread_.size(), kFrontBytes - front_.size());
  front_.insert(front_.end(), unread_.begin(), unread_.begin() + static_cast<std::ptrdiff_t>(room));
  is_checked_ = front_.size() == kFrontBytes;
  if (is_checked_) check_front(name, front_, rules_);
}

std::size_t StreamFront::read(const File& file, std::span<std::byte> into) {
  std::size_t filled = std::min(unread_.size(), into.size());
  std::copy_n(unread_.begin(), filled, into.begin());
  unread_.erase(unread_.begin(), unread_.begin() + static_cast<std::ptrdiff_t>(filled));
  while (!is_checked_ && filled < into.size()) {
    const std::span<std::byte> part = into.subspan(filled, std::min(into.size() - filled, kFrontBytes - front_.size()));
    const std::size_t got = file.read(part);
    front_.insert(front_.end(), part.begin(), part.begin() + static_cast<std::ptrdiff_t>(got));
    filled += got;
    const bool ended = got < part.size();
    is_checked_ = ended || front_.size() == kFrontBytes;
    if (is_checked_) check_front(file.name(), front_, rules_);
    if (ended) return filled;
  }
  return filled + (filled < into.size() ? file.read(into.subspan(filled)) : 0);
}

}  // namespace hetsort::io
