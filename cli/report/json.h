// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
//
// Parses JSON from untrusted files within limits; every error names the file and the place. Writes JSON whatever bytes
// its strings hold.
#pragma once

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <stdexcept>
#include <string>
#include <string_view>

namespace hetsort::cli {

/// The error of a file that is not a valid report. what() reads "report FILE: PLACE: REASON" on one line; the place is
/// "line L, column C" or a JSON pointer.
class ReportError : public std::runtime_error {
 public:
  ReportError(std::string_view file, std::string_view place, std::string_view reason);
};

/// Limits far above what a run of thousands of ranks writes and far below what would exhaust memory.
constexpr std::uint64_t kMaxReportBytes = 64 << 20;
constexpr std::uint64_t kMaxReportValues = 4'000'000;
constexpr std::uint64_t kMaxReportDepth = 32;
/// Lookups of members are linear, so objects stay small.
constexpr std::uint64_t kMaxMembers = 256;
/// Times beyond 31 years are refused; the axes of charts stay readable.
constexpr double kMaxReportSeconds = 1e9;

/// Returns `text` with question marks for what is not printable, for a message of one line.
std::string printable(std::string_view text);

/// Returns the JSON on one line of ASCII, with escapes for other characters. Bytes that are not UTF-8, as file names
/// may have, become U+FFFD.
std::string json_text(const nlohmann::ordered_json& json);

/// Throws: ReportError if `text` is not JSON or exceeds the limits above.
nlohmann::ordered_json parse_report_json(const std::string& text, const std::string& file);

/// One value of a parsed report together with its position. Must not outlive the Place it was reached from.
/// All reading members throw ReportError if the value has another type.
class Place {
 public:
  Place(const nlohmann::ordered_json& value, const std::string& file) : value_(value), file_(file) {}

  /// Returns a member of this object. Throws: ReportError if this is not an object or lacks the member.
  Place at(const std::string& key) const;
  /// Returns an element of this array.
  Place at(std::size_t index) const;
  /// Whether this object has the member with a value other than null. Throws: ReportError if this is not an object.
  bool has(const std::string& key) const;
  /// Number of elements. Throws: ReportError if this is not an array.
  std::size_t size() const;

  std::string text() const;
  std::uint64_t count() const;  ///< a whole number from 0, below 2^64
  double seconds() const;       ///< a number from 0 to kMaxReportSeconds
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
