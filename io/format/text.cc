// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
#include "io/format/text.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <string_view>

namespace hetsort::io {

namespace {

// The benchmark record; docs/formats/records.md describes every byte.
constexpr std::size_t kRecordBytes = 100;
constexpr std::size_t kKeyBytes = 10;
constexpr std::size_t kNumberAt = 12;
constexpr std::size_t kNumberDigits = 32;

std::string_view characters(std::span<const std::byte> bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

bool is_ascii_record(std::string_view record) {
  return record.substr(kKeyBytes, 2) == "  " && record.substr(kNumberAt + kNumberDigits, 2) == "  " &&
         record.ends_with("\r\n");
}

/// Calls each(record) for all whole records. Returns false if there is none, or once each() has returned false.
template <typename Each>
bool all_records(std::span<const std::byte> front, const Each& each) {
  if (front.size() < kRecordBytes) return false;
  for (; front.size() >= kRecordBytes; front = front.subspan(kRecordBytes))
    if (!each(front.first(kRecordBytes))) return false;
  return true;
}

bool are_ascii_records(std::span<const std::byte> front) {
  return all_records(front, [](std::span<const std::byte> record) { return is_ascii_record(characters(record)); });
}

/// Control characters that texts have: those of layout and of terminals, and the separators of fields.
bool is_control_of_text(unsigned char c) {
  constexpr std::string_view kAllowed = "\b\t\n\v\f\r\x1b\x01\x1c\x1d\x1e\x1f";
  return kAllowed.find(static_cast<char>(c)) != kAllowed.npos;
}

/// The bytes of `front` by kind.
struct Counts {
  std::size_t controls = 0;  ///< control characters that texts do not have, zero bytes left out
  std::size_t zeros = 0;
  std::size_t high = 0;  ///< bytes beyond ASCII
  std::size_t newlines = 0;
  bool zero_pair = false;
};

Counts count(std::string_view front) {
  Counts counts;
  bool after_zero = false;
  for (const char each : front) {
    const auto c = static_cast<unsigned char>(each);
    counts.zeros += c == 0 ? 1 : 0;
    counts.zero_pair |= after_zero && c == 0;
    after_zero = c == 0;
    counts.high += c >= 0x80 ? 1 : 0;
    counts.newlines += c == '\n' ? 1 : 0;
    counts.controls += (c < ' ' && c != 0 && !is_control_of_text(c)) || c == 0x7f ? 1 : 0;
  }
  return counts;
}

/// The length of the character at the front as its first byte says; 0 if no character begins so.
std::size_t utf8_length(unsigned char first) {
  if (first < 0x80) return 1;
  if (first >= 0xc2 && first < 0xe0) return 2;
  if (first >= 0xe0 && first < 0xf0) return 3;
  return first >= 0xf0 && first < 0xf5 ? 4 : 0;
}

/// The last character may be incomplete.
bool is_utf8(std::string_view front) {
  while (!front.empty()) {
    const std::size_t length = utf8_length(static_cast<unsigned char>(front.front()));
    if (length == 0) return false;
    for (std::size_t i = 1; i < std::min(length, front.size()); ++i)
      if ((static_cast<unsigned char>(front[i]) & 0xc0) != 0x80) return false;
    front.remove_prefix(std::min(length, front.size()));
  }
  return true;
}

}  // namespace

bool is_text(std::span<const std::byte> front) {
  // So many bytes without foreign control characters are never random, whatever language they are in.
  constexpr std::size_t kEnoughForAnyLanguage = 512;
  constexpr std::size_t kBytesAControl = 256;  // a stray control character, as in logs
  constexpr std::size_t kMinZeroDistance = 4;  // the mean length of texts that zero bytes end
  if (front.empty() || are_ascii_records(front)) return false;
  const std::size_t bytes = front.size();
  const Counts counts = count(characters(front));
  if (counts.controls > bytes / kBytesAControl) return false;
  if (counts.zero_pair || counts.zeros * kMinZeroDistance > bytes) return false;
  const bool mostly_ascii = counts.high * 10 <= bytes * 3;
  return mostly_ascii || is_utf8(characters(front)) || (counts.newlines > 0 && bytes >= kEnoughForAnyLanguage);
}

bool resemble_benchmark_records(std::span<const std::byte> front) {
  // Among 90 random bytes, no value occurs more often than this.
  constexpr std::size_t kMaxOfFew = 8;
  constexpr std::size_t kMaxPart = 20;  // of many random bytes, none is a twentieth
  if (front.size() < kRecordBytes || are_ascii_records(front)) return true;
  std::array<std::size_t, 256> occurs{};
  std::size_t bytes = 0;
  all_records(front, [&](std::span<const std::byte> record) {
    for (const std::byte byte : record.subspan(kKeyBytes)) ++occurs[std::to_integer<std::size_t>(byte)];
    bytes += kRecordBytes - kKeyBytes;
    return true;
  });
  return *std::max_element(occurs.begin(), occurs.end()) <= std::max(kMaxOfFew, bytes / kMaxPart);
}

bool is_utf16(std::span<const std::byte> front) {
  // Fewer units must have ASCII characters among them, which random bytes have not.
  constexpr std::size_t kEnoughForAnyLanguage = 512;
  if (front.size() < 6) return false;
  const auto byte = [&](std::size_t at) { return std::to_integer<unsigned>(front[at]); };
  const bool little = byte(0) == 0xff && byte(1) == 0xfe;
  if (!little && !(byte(0) == 0xfe && byte(1) == 0xff)) return false;
  std::size_t ascii = 0;
  bool in_pair = false;
  const std::size_t units = front.size() / 2 - 1;
  for (std::size_t i = 1; i <= units; ++i) {
    const unsigned unit = little ? byte(2 * i + 1) << 8 | byte(2 * i) : byte(2 * i) << 8 | byte(2 * i + 1);
    const bool second = unit >= 0xdc00 && unit < 0xe000;
    if (in_pair != second || unit == 0 || unit >= 0xfffe) return false;
    in_pair = unit >= 0xd800 && unit < 0xdc00;
    if (unit < ' ' && !is_control_of_text(static_cast<unsigned char>(unit))) return false;
    ascii += unit < 0x80 ? 1 : 0;
  }
  return units >= kEnoughForAnyLanguage || 2 * ascii >= units;
}

bool has_quoted_field(std::span<const std::byte> lines, char separator, char terminator) {
  bool begins = true;
  for (const char c : characters(lines)) {
    if (begins && c == '"') return true;
    begins = c == separator || c == terminator;
  }
  return false;
}

}  // namespace hetsort::io
