// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
#include "cli/report/json.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>

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

/// Counts what stands outside strings, before anything is built of it.
class JsonExtent {
 public:
  /// The limit that `c` breaks, or nothing.
  std::string add(char c) {
    if (c == '[' || c == '{') {
      if (depth_ == kDeepestReport) return fmt::format("nested deeper than {} levels", kDeepestReport);
      commas_.at(++depth_) = 0;
      is_object_.at(depth_) = c == '{';
      ++values_;
    }
    if ((c == ']' || c == '}') && depth_ > 0) --depth_;
    if (c == ',') {
      ++values_;
      if (++commas_.at(depth_) >= kMostMembers && is_object_.at(depth_))
        return fmt::format("an object of more than {} members", kMostMembers);
    }
    return values_ > kMostReportValues ? fmt::format("more than {} values", kMostReportValues) : "";
  }

 private:
  std::uint64_t values_ = 1;
  std::size_t depth_ = 0;
  std::array<std::uint64_t, kDeepestReport + 1> commas_{};  // by depth
  std::array<bool, kDeepestReport + 1> is_object_{};
};

void check_extent(const std::string& text, const std::string& file) {
  JsonExtent extent;
  bool quoted = false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (quoted && c == '\\') ++i;
    if (c == '"') quoted = !quoted;
    if (quoted) continue;
    const std::string broken = extent.add(c);
    if (!broken.empty()) throw ReportError(file, line_and_column(text, i), broken);
  }
}

/// Builds nothing; throws at the first error with its line and column.
class SyntaxCheck : public nlohmann::json_sax<Json> {
 public:
  SyntaxCheck(const std::string& text, const std::string& file) : text_(text), file_(file) {}
  bool null() override { return true; }
  bool boolean(bool) override { return true; }
  bool number_integer(number_integer_t) override { return true; }
  bool number_unsigned(number_unsigned_t) override { return true; }
  bool number_float(number_float_t, const string_t&) override { return true; }
  bool string(string_t&) override { return true; }
  bool binary(binary_t&) override { return true; }
  bool start_object(std::size_t) override { return true; }
  bool key(string_t&) override { return true; }
  bool end_object() override { return true; }
  bool start_array(std::size_t) override { return true; }
  bool end_array() override { return true; }
  bool parse_error(std::size_t position, const std::string&, const nlohmann::detail::exception& error) override {
    constexpr int kNumberOverflow = 406;
    throw ReportError(file_, line_and_column(text_, position == 0 ? 0 : position - 1),
                      error.id == kNumberOverflow ? "a number too large for any use" : "this is not JSON");
  }

 private:
  const std::string& text_;
  const std::string& file_;
};

/// A member's name as a step of a JSON pointer.
std::string pointer_step(const std::string& key) {
  std::string step;
  for (const char c : key) step += c == '~' ? std::string("~0") : c == '/' ? std::string("~1") : std::string(1, c);
  return step;
}

}  // namespace

ReportError::ReportError(std::string_view file, std::string_view place, std::string_view reason)
    : std::runtime_error(fmt::format("report {}: {}: {}", printable(file), printable(place), printable(reason))) {}

std::string json_text(const Json& json) { return json.dump(-1, ' ', false, Json::error_handler_t::replace); }

std::string printable(std::string_view text) {
  constexpr unsigned char kDelete = 0x7f;
  std::string shown(text);
  for (char& c : shown)
    if (static_cast<unsigned char>(c) < ' ' || static_cast<unsigned char>(c) == kDelete) c = '?';
  return shown;
}

Json parse_report_json(const std::string& text, const std::string& file) {
  if (text.size() > kLargestReportBytes)
    throw ReportError(file, line_and_column(text, kLargestReportBytes),
                      fmt::format("larger than {} MiB, too large for a report", kLargestReportBytes >> 20));
  check_extent(text, file);
  SyntaxCheck check(text, file);
  Json::sax_parse(text, &check);
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
  if (!(seconds <= kLongestSeconds)) fail(fmt::format("a time beyond {:g} seconds", kLongestSeconds));
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
