// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
#include "order/lines/csv_rows.h"

#ifdef __SSE2__
#include <emmintrin.h>
#endif

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>

namespace hetsort::order {

namespace {

constexpr std::size_t kBlockBytes = 64;

/// Bit i says whether byte i of the block is `byte`.
std::uint64_t mask_of(const std::byte* block, char byte) {
  std::uint64_t mask = 0;
#ifdef __SSE2__
  const __m128i wanted = _mm_set1_epi8(byte);
  for (unsigned part = 0; part < 4; ++part) {
    const __m128i bytes = _mm_loadu_si128(reinterpret_cast<const __m128i*>(block) + part);
    const auto found = static_cast<unsigned>(_mm_movemask_epi8(_mm_cmpeq_epi8(bytes, wanted)));
    mask |= std::uint64_t{found} << 16 * part;
  }
#else
  constexpr std::uint64_t kOnes = 0x0101010101010101;
  constexpr std::uint64_t kLow = 0x7f * kOnes;
  for (unsigned part = 0; part < 8; ++part) {
    std::uint64_t word = 0;
    std::memcpy(&word, block + 8 * part, sizeof word);
    word ^= kOnes * static_cast<std::uint8_t>(byte);
    const std::uint64_t zeros = ~(((word & kLow) + kLow) | word | kLow);  // the top bits of bytes that are 0
    mask |= ((zeros >> 7) * 0x0102040810204080 >> 56) << 8 * part;        // collects them in the top byte
  }
#endif
  return mask;
}

/// Bit i says whether the number of set bits up to bit i is odd.
constexpr std::uint64_t parities(std::uint64_t bits) {
  for (unsigned shift = 1; shift < 64; shift *= 2) bits ^= bits << shift;
  return bits;
}

constexpr std::uint64_t bits_below(unsigned bit) { return (std::uint64_t{1} << bit) - 1; }
constexpr std::uint64_t first_bits(unsigned count) { return count == 64 ? ~std::uint64_t{0} : bits_below(count); }

std::uint64_t count(std::uint64_t bits) { return static_cast<std::uint64_t>(std::popcount(bits)); }
unsigned lowest(std::uint64_t bits) { return static_cast<unsigned>(std::countr_zero(bits)); }
unsigned highest(std::uint64_t bits) { return 63 - static_cast<unsigned>(std::countl_zero(bits)); }

/// Calls visit(block, bytes) for each 64 bytes, and for a copy of the last ones if these are fewer.
template <typename Visit>
void for_each_block(std::span<const std::byte> bytes, const Visit& visit) {
  std::size_t at = 0;
  for (; at + kBlockBytes <= bytes.size(); at += kBlockBytes) visit(bytes.data() + at, at, kBlockBytes);
  if (at == bytes.size()) return;
  std::array<std::byte, kBlockBytes> last;
  last.fill(std::byte{'x'});
  std::copy(bytes.begin() + static_cast<std::ptrdiff_t>(at), bytes.end(), last.begin());
  visit(last.data(), at, bytes.size() - at);
}

void hide_at(std::byte* block, std::uint64_t newlines) {
  for (; newlines != 0; newlines &= newlines - 1) block[lowest(newlines)] = kHiddenNewline;
}

}  // namespace

struct RowScanner::Masks {
  std::uint64_t quotes;
  std::uint64_t separators;
  std::uint64_t newlines;
  std::uint64_t returns;
  std::uint64_t zeros;
};

RowScanner::Masks RowScanner::masks_of(const std::byte* block, char separator) {
  return {mask_of(block, '"'), mask_of(block, separator), mask_of(block, '\n'), mask_of(block, '\r'),
          mask_of(block, '\0')};
}

RowScanner::RowScanner(const CsvFormat& format, bool inside, std::span<const std::byte, 2> before)
    : format_(format), inside_(inside ? 1 : 0), in_head_(true) {
  const auto is = [](std::byte byte, char c) { return byte == static_cast<std::byte>(c); };
  closed_ = !inside && is(before[1], '"') ? 1 : 0;
  may_open_ = !inside && (is(before[1], '"') || is(before[1], format.separator) || is(before[1], '\n')) ? 1 : 0;
  last_return_ = is(before[1], '\r') ? 1 : 0;
  closed_return_ = !inside && last_return_ == 1 && is(before[0], '"') ? 1 : 0;
}

/// Returns the newlines within quotes. `bytes`: number of bytes of the block.
std::uint64_t RowScanner::scan_block(const Masks& masks, unsigned bytes) {
  const std::uint64_t within = parities(masks.quotes) ^ (0 - inside_);
  const std::uint64_t opening = masks.quotes & within;
  const std::uint64_t closing = masks.quotes & ~within;
  const std::uint64_t hidden = masks.newlines & within;
  const std::uint64_t row_ends = masks.newlines & ~within;
  const std::uint64_t separators = masks.separators & ~within & first_bits(bytes);  // others may be of the copy
  const std::uint64_t openers = separators | row_ends | closing;
  const std::uint64_t closed = closing << 1 | closed_;
  const std::uint64_t may_open = openers << 1 | may_open_;
  const std::uint64_t closed_returns = masks.returns & closed;
  const std::uint64_t wrong_quotes = opening & ~may_open;
  const std::uint64_t wrong_texts = ((closed & ~(masks.separators | masks.newlines | masks.returns | masks.quotes)) |
                                     ((closed_returns << 1 | closed_return_) & ~masks.newlines)) &
                                    first_bits(bytes);
  const std::uint64_t begins = opening & ~closed;  // quotes that begin fields
  const std::uint64_t wrong = wrong_quotes | wrong_texts | masks.zeros;
  const auto line_at = [&](unsigned bit) { return lines_ + count(masks.newlines & bits_below(bit)); };
  if (format_.least_fields > 1 || in_head_)
    end_rows(masks, wrong == 0 ? row_ends : row_ends & bits_below(lowest(wrong)), separators, hidden);
  if (wrong != 0 && !fault_) {
    const unsigned bit = lowest(wrong);
    if (const std::uint64_t before = begins & bits_below(bit); before != 0) quote_line_ = line_at(highest(before));
    const bool is_quote = (wrong_quotes >> bit & 1) != 0;
    const bool is_zero = (masks.zeros >> bit & 1) != 0;
    fault_ = {is_zero    ? CsvFault::Kind::kZeroByte
              : is_quote ? CsvFault::Kind::kQuoteInField
                         : CsvFault::Kind::kTextBehindQuote,
              line_at(bit), quote_line_};
  }
  if (begins != 0) quote_line_ = line_at(highest(begins));
  const unsigned last = bytes - 1;
  inside_ = within >> last & 1;
  closed_ = closing >> last & 1;
  may_open_ = openers >> last & 1;
  closed_return_ = closed_returns >> last & 1;
  last_return_ = masks.returns >> last & 1;
  lines_ += count(masks.newlines);
  hidden_ += count(hidden);
  // Behind the last byte of the block a row has the bytes behind its last end.
  row_bytes_ = row_ends == 0 ? row_bytes_ + bytes : last - highest(row_ends);
  return hidden;
}

void RowScanner::end_rows(const Masks& masks, std::uint64_t ends, std::uint64_t separators, std::uint64_t hidden) {
  std::uint64_t left = ~std::uint64_t{0};  // bits of rows that have not ended
  for (std::uint64_t bytes = row_bytes_; ends != 0; ends &= ends - 1, bytes = 0) {
    const unsigned end = lowest(ends);
    const std::uint64_t row = left & bits_below(end);
    separators_ += count(separators & row);
    row_hidden_ += count(hidden & row);
    bytes += count(row);
    const bool returns = end == 0 ? last_return_ == 1 : (masks.returns >> (end - 1) & 1) != 0;
    end_row(bytes == 0 || (bytes == 1 && returns), lines_ + count(masks.newlines & bits_below(end)));
    left = ~(bits_below(end) | std::uint64_t{1} << end);
  }
  separators_ += count(separators & left);
  row_hidden_ += count(hidden & left);
}

/// `line`: newlines before the end of the row.
void RowScanner::end_row(bool is_blank, std::uint64_t line) {
  if (in_head_) {
    head_separators_ = separators_;
    in_head_ = false;
  } else if (separators_ + 1 < format_.least_fields && !is_blank && !fault_) {
    fault_ = {CsvFault::Kind::kFewFields, line - row_hidden_, 0, separators_ + 1};
  }
  separators_ = row_hidden_ = 0;
}

void RowScanner::scan(std::span<const std::byte> bytes) {
  for_each_block(bytes, [&](const std::byte* block, std::size_t, std::size_t size) {
    scan_block(masks_of(block, format_.separator), static_cast<unsigned>(size));
  });
}

void RowScanner::scan_and_hide(std::span<std::byte> bytes) {
  for_each_block(bytes, [&](const std::byte* block, std::size_t at, std::size_t size) {
    hide_at(bytes.data() + at, scan_block(masks_of(block, format_.separator), static_cast<unsigned>(size)));
  });
}

void RowScanner::finish() {
  if (fault_) return;
  if (inside_ == 1)
    fault_ = {CsvFault::Kind::kNoEnd, quote_line_, quote_line_};
  else if (row_bytes_ > 0)
    end_row(row_bytes_ == 1 && last_return_ == 1, lines_);
}

bool has_odd_quotes(std::span<const std::byte> bytes) {
  std::uint64_t all = 0;
  for_each_block(bytes, [&](const std::byte* block, std::size_t, std::size_t) { all ^= mask_of(block, '"'); });
  return std::popcount(all) % 2 == 1;
}

void hide_newlines(std::span<std::byte> bytes, bool inside) {
  std::uint64_t carried = inside ? 1 : 0;
  for_each_block(bytes, [&](const std::byte* block, std::size_t at, std::size_t) {
    const std::uint64_t within = parities(mask_of(block, '"')) ^ (0 - carried);
    hide_at(bytes.data() + at, mask_of(block, '\n') & within);
    carried = within >> 63;
  });
}

void show_newlines(std::span<std::byte> bytes) {
  for (std::byte *at = bytes.data(), *const end = at + bytes.size(); at != end;) {
    at = static_cast<std::byte*>(
        std::memchr(at, std::to_integer<int>(kHiddenNewline), static_cast<std::size_t>(end - at)));
    if (at == nullptr) return;
    *at++ = std::byte{'\n'};
  }
}

}  // namespace hetsort::order
