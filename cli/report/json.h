// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
//
// JSON from files nobody vouches for: parsed within limits, and read so that every complaint names file and place. And
// JSON as text, whatever bytes its strings have.
#pragma once

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <stdexcept>
#include <string>
#include <string_view>

namespace hetsort::cli {

/// A report file cannot be understood. what() reads "report FILE: PLACE: REASON" on one line; the place is
/// "line L, column C" or a JSON pointer.
class ReportError : public std::runtime_error {
 public:
  ReportError(std::string_view file, std::string_view place, std::string_view reason);
};

/// Far above what a run of thousands of ranks writes, far below what would exhaust memory.
constexpr std::uint64_t kLargestReportBytes = 64 << 20;
constexpr std::uint64_t kMostReportValues = 4'000'000;
constexpr std::uint64_t kDeepestReport = 32;
/// Members of an object are looked for one by one.
constexpr std::uint64_t kMostMembers = 256;
/// Times beyond this many seconds (31 years) are none; it keeps the axes of pictures sane.
constexpr double kLongestSeconds = 1e9;

/// `text` with control characters as question marks: fit for a message of one line.
std::string printable(std::string_view text);

/// On one line. What is no UTF-8, as the name of a file may be, has U+FFFD in its place.
std::string json_text(const nlohmann::ordered_json& json);

/// Throws: ReportError when `text` is no JSON, or beyond the limits above.
nlohmann::ordered_json parse_report_json(const std::string& text, const std::string& file);

/// One value of a parsed report and where it stands. Lives no longer than the place it was reached from.
/// All reading members throw ReportError when the value is not what they return.
class Place {
 public:
  Place(const nlohmann::ordered_json& value, const std::string& file) : value_(value), file_(file) {}

  /// A member of this object. Throws: ReportError when this is no object or has no such member.
  Place at(const std::string& key) const;
  /// The same of an array.
  Place at(std::size_t index) const;
  /// Whether this object has the member, and it is not null. Throws: ReportError when this is no object.
  bool has(const std::string& key) const;
  /// Number of elements. Throws: ReportError when this is no array.
  std::size_t size() const;

  std::string text() const;
  std::uint64_t count() const;  ///< a whole number from 0, below 2^64
  double seconds() const;       ///< a number from 0 to kLongestSeconds
  const nlohmann::ordered_json& object() const;

  [[noreturn]] void fail(std::string_view reason) const;
  /// JSON pointer; "/" for the whole document.
  std::string pointer() const;

 private:
  Place(const nlohmann::ordered_json& value, const Place& parent, std::string step)
      : value_(value), file_(parent.file_), parent_(&parent), step_(std::move(step)) {}

  const nlohmann::ordered_json& value_;
  const std::string& file_;
  const Place* parent_ = nullptr;
  std::string step_;
};

}  // namespace hetsort::cli
