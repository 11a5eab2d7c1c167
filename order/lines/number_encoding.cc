// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
#include "order/lines/number_encoding.h"

#include <algorithm>
#include <array>
#include <bit>
#include <clocale>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <string>

namespace hetsort::order {

namespace {

using Limits = std::numeric_limits<long double>;
static_assert(Limits::is_iec559, "a long double whose bits do not order numbers");
/// Bytes of a long double, without the padding of the 80-bit type of x86.
constexpr std::size_t kLongDoubleBytes = Limits::digits == 64 ? 10 : sizeof(long double);

/// Its decimal point is '.' in a program of any locale. Lives as long as the process.
locale_t c_locale() {
  static const locale_t locale = ::newlocale(LC_ALL_MASK, "C", nullptr);
  return locale;
}

/// The long double at the start of `text`, if there is one. `text` ends with NUL.
GeneralNumber convert(const char* text) {
  GeneralNumber number;
  char* end = nullptr;
  long double value = ::strtold_l(text, &end, c_locale());
  if (end == text) return number;
  if (value == 0) value = 0;  // -0 equals 0
  std::memcpy(number.text.data(), &value, kLongDoubleBytes);
  number.size = kLongDoubleBytes;
  number.kind = GeneralNumber::Class::kNan;
  if (std::isnan(value)) return number;
  number.kind = GeneralNumber::Class::kNumber;
  char* const bytes = number.text.data();
  if constexpr (std::endian::native == std::endian::little) std::reverse(bytes, bytes + kLongDoubleBytes);
  const bool negative = std::signbit(value);
  for (std::size_t i = 0; i < kLongDoubleBytes; ++i)
    if (negative || i == 0) bytes[i] = static_cast<char>(bytes[i] ^ (negative ? 0xff : 0x80));
  return number;
}

}  // namespace

GeneralNumber parse_general(std::string_view text) {
  std::array<char, 128> copy;
  if (text.size() >= copy.size()) return convert(std::string(text).c_str());
  *std::copy(text.begin(), text.end(), copy.begin()) = '\0';
  return convert(copy.data());
}

}  // namespace hetsort::order
