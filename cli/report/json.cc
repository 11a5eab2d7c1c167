// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
#include "cli/report/json.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <iterator>
#include <nlohmann/json.hpp>
#include <vector>

#include "cli/shared/messages.h"

namespace hetsort::cli {
namespace {

using Json = nlohmann::ordered_json;

/// "line L, column C" of the byte at `offset`.
std::string line_and_column(std::string_view text, std::size_t offset) {
  const std::string_view before = text.substr(0, std::min(offset, text.size()));
  const auto line = 1 + std::count(before.begin(), before.end(), '\n');
  const std::size_t line_begin = before.rfind('\n') + 1;  // npos + 1 = 0
  return fmt::format("line {}, column {}", line, before.size() - line_begin + 1);
}

/// Reads the text for the parser and counts how much it has taken.
class CountingIterator {
 public:
  // The names that iterators must have.
  // NOLINTBEGIN(readability-identifier-naming)
  using difference_type = std::ptrdiff_t;
  using value_type = char;
  using pointer = const char*;
  using reference = const char&;
  using iterator_category = std::input_iterator_tag;
  // NOLINTEND(readability-identifier-naming)

  CountingIterator(const char* at, std::size_t* taken) : at_(at), taken_(taken) {}
  reference operator*() const { return *at_; }
  CountingIterator& operator++() {
    ++at_;
    ++*taken_;
    return *this;
  }
  bool operator==(const CountingIterator& other) const { return at_ == other.at_; }
  bool operator!=(const CountingIterator& other) const { return at_ != other.at_; }

 private:
  const char* at_;
  std::size_t* taken_;
};

/// Checks syntax and limits without building values, so that a hostile file takes no memory beyond its text.
class Check : public nlohmann::json_sax<Json> {
 public:
  Check(const std::string& text, const std::string& file) : text_(text), file_(file) {}

  void run() {
    const char* const begin = text_.data();
    Json::sax_parse(CountingIterator(begin, &taken_), CountingIterator(begin + text_.size(), &taken_), this);
  }

  bool null() override { return count_value(); }
  bool boolean(bool) override { return count_value(); }
  bool number_integer(number_integer_t) override { return count_value(); }
  bool number_unsigned(number_unsigned_t) override { return count_value(); }
  bool number_float(number_float_t, const string_t&) override { return count_value(); }
  bool string(string_t&) override { return count_value(); }
  bool binary(binary_t&) override { return count_value(); }
  bool start_object(std::size_t) override { return open(); }
  bool start_array(std::size_t) override { return open(); }
  bool end_object() override { return close(); }
  bool end_array() override { return close(); }
  bool key(string_t&) override {
    if (++members_.back() > kMaxMembers) fail(fmt::format("an object of more than {} members", kMaxMembers));
    return true;
  }
  bool parse_error(std::size_t position, const std::string&, const nlohmann::detail::exception& error) override {
    constexpr int kNumberOverflow = 406;
    throw ReportError(file_, line_and_column(text_, position == 0 ? 0 : position - 1),
                      error.id == kNumberOverflow ? "a number too large for any use" : "this is not JSON");
  }

 private:
  bool count_value() {
    if (++values_ > kMaxReportValues) fail(fmt::format("more than {} values", kMaxReportValues));
    return true;
  }
  bool open() {
    if (members_.size() == kMaxReportDepth) fail(fmt::format("nested deeper than {} levels", kMaxReportDepth));
    members_.push_back(0);
    return count_value();
  }
  bool close() {
    members_.pop_back();
    return true;
  }
  [[noreturn]] void fail(const std::string& reason) const {
    throw ReportError(file_, line_and_column(text_, taken_ == 0 ? 0 : taken_ - 1), reason);
  }

  const std::string& text_;
  const std::string& file_;
  std::size_t taken_ = 0;
  std::uint64_t values_ = 0;
  std::vector<std::uint64_t> members_;  // number of members of each open object or array
};

/// The name of a member, escaped as one step of a JSON pointer.
std::string pointer_step(const std::string& key) {
  std::string step;
  for (const char c : key) step += c == '~' ? std::string("~0") : c == '/' ? std::string("~1") : std::string(1, c);
  return step;
}

}  // namespace

ReportError::ReportError(std::string_view file, std::string_view place, std::string_view reason)
    : std::runtime_error(fmt::format("report {}: {}: {}", printable(file), printable(place), printable(reason))) {}

std::string json_text(const Json& json) { return json.dump(-1, ' ', true, Json::error_handler_t::replace); }

std::string printable(std::string_view text) { return with_replacements(text, "?"); }

Json parse_report_json(const std::string& text, const std::string& file) {
  if (text.size() > kMaxReportBytes)
    throw ReportError(file, line_and_column(text, kMaxReportBytes),
                      fmt::format("larger than {} MiB, too large for a report", kMaxReportBytes >> 20));
  Check(text, file).run();
  return Json::parse(text);
}

Place Place::at(const std::string& key) const {
  const Json& members = object();
  const auto found = members.find(key);
  if (found == members.end()) fail(fmt::format("'{}' is missing", key));
  return {*found, *this, pointer_step(key)};
}

Place Place::at(std::size_t index) const {
  if (index >= size()) fail(fmt::format("element {} is missing", index));
  return {value_[index], *this, std::to_string(index)};
}

bool Place::has(const std::string& key) const {
  const Json& members = object();
  const auto found = members.find(key);
  return found != members.end() && !found->is_null();
}

std::size_t Place::size() const {
  if (!value_.is_array()) fail("not an array");
  return value_.size();
}

std::string Place::text() const {
  if (!value_.is_string()) fail("not a string");
  return value_.get<std::string>();
}

std::uint64_t Place::count() const {
  if (!value_.is_number_unsigned()) fail("not a whole number from 0 to 2^64 - 1");
  return value_.get<std::uint64_t>();
}

double Place::seconds() const {
  if (!value_.is_number()) fail("not a number of seconds");
  const double seconds = value_.get<double>();
  if (seconds < 0) fail("a negative time");
  if (!(seconds <= kMaxReportSeconds)) fail(fmt::format("a time beyond {:g} seconds", kMaxReportSeconds));
  return seconds;
}

const Json& Place::object() const {
  if (!value_.is_object()) fail("not an object");
  return value_;
}

void Place::fail(std::string_view reason) const { throw ReportError(file_, pointer(), reason); }

std::string Place::pointer() const {
  std::string path;
  for (const Place* place = this; place->parent_ != nullptr; place = place->parent_) path = "/" + place->step_ + path;
  return path.empty() ? "/" : path;
}

}  // namespace hetsort::cli
