// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
//
// Where rows of CSV end: at each newline that is not within quotes.
//
// In: the bytes of a file, from front to back or from a known state on. Out: what is wrong with them, and bytes in
// which each newline ends a row. Idea: a byte is within quotes if an odd number of quotes precedes it (a quote within a
// quoted field is doubled). So counts of quotes decide, whatever the position at which a scan begins. While rows are
// sorted, another byte stands for each newline within quotes; then rows are lines, and only what reads inputs and
// writes outputs knows the difference. Cost: some instructions for 64 bytes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

namespace hetsort::order {

/// Stands for a newline within quotes while rows are sorted. Inputs that contain this byte are refused.
inline constexpr std::byte kHiddenNewline{0};

/// What rows must have.
struct CsvFormat {
  char separator = ',';
  std::size_t least_fields = 1;  ///< number of fields that keys need; an empty line is a row without fields
};

/// What is wrong with rows.
struct CsvFault {
  enum class Kind : std::uint8_t { kZeroByte, kQuoteInField, kTextBehindQuote, kNoEnd, kFewFields };
  Kind kind{};
  std::uint64_t line = 0;  ///< newlines before it in the file; that of a row that has too few fields: of its start
  std::uint64_t quote_line = 0;  ///< newlines before the quote that begins the last quoted field
  std::uint64_t fields = 0;      ///< number of fields of a row that has too few
};

/// Scans consecutive bytes of a file. Thread safety: one thread.
class RowScanner {
 public:
  /// Begins where a row begins. `lines`: newlines before it in the file.
  explicit RowScanner(const CsvFormat& format, std::uint64_t lines = 0) : format_(format), lines_(lines) {}
  /// Begins anywhere. `inside`: whether an odd number of quotes precedes. `before`: the two bytes before. The row that
  /// has begun before counts in head_separators() only; lines do not count.
  RowScanner(const CsvFormat& format, bool inside, std::span<const std::byte, 2> before);

  /// Scans the next bytes.
  void scan(std::span<const std::byte> bytes);
  /// Scans the next bytes, in which another byte then stands for each newline within quotes.
  void scan_and_hide(std::span<std::byte> bytes);
  /// Ends the last row, which needs no newline.
  void finish();

  const CsvFormat& format() const { return format_; }
  bool inside() const { return inside_ != 0; }
  /// The first fault so far.
  const std::optional<CsvFault>& fault() const { return fault_; }
  /// Whether the row that ends last so far has no newline yet.
  bool has_begun_row() const { return row_bytes_ > 0; }
  /// Newlines within quotes so far.
  std::uint64_t hidden_newlines() const { return hidden_; }
  /// Whether a row has ended so far.
  bool has_row_end() const { return !in_head_; }
  /// Separators of the row that was begun before the scan; of the row that is begun now. They count only if keys need
  /// more than one field.
  std::uint64_t head_separators() const { return in_head_ ? separators_ : head_separators_; }
  std::uint64_t separators() const { return separators_; }

 private:
  struct Masks;
  static Masks masks_of(const std::byte* block, char separator);
  std::uint64_t scan_block(const Masks& masks, unsigned bytes);
  void end_rows(const Masks& masks, std::uint64_t ends, std::uint64_t separators, std::uint64_t hidden);
  void end_row(bool is_blank, std::uint64_t line);

  CsvFormat format_;
  std::uint64_t lines_ = 0;          // newlines before the next byte
  std::uint64_t quote_line_ = 0;     // newlines before the quote that begins the last quoted field
  std::uint64_t inside_ = 0;         // 1 within quotes
  std::uint64_t closed_ = 0;         // 1 behind a quote that ends a field
  std::uint64_t may_open_ = 1;       // 1 where a quote may begin a field or continue it
  std::uint64_t closed_return_ = 0;  // 1 behind a carriage return behind such a quote
  std::uint64_t last_return_ = 0;    // 1 behind a carriage return
  std::uint64_t separators_ = 0;     // of the row that is begun
  std::uint64_t row_bytes_ = 0;      // of this row
  std::uint64_t row_hidden_ = 0;     // newlines within quotes in this row
  std::uint64_t hidden_ = 0;
  bool in_head_ = false;
  std::uint64_t head_separators_ = 0;
  std::optional<CsvFault> fault_;
};

/// Whether the number of quotes is odd.
bool has_odd_quotes(std::span<const std::byte> bytes);
/// Replaces each newline within quotes. `inside`: whether `bytes` begin within quotes.
void hide_newlines(std::span<std::byte> bytes, bool inside);
/// Restores newlines that were replaced.
void show_newlines(std::span<std::byte> bytes);

}  // namespace hetsort::order
