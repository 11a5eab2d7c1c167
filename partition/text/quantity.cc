// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
#include "partition/text/quantity.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <initializer_list>
#include <optional>
#include <string>

#include "partition/cost/error.h"

namespace hetsort::partition {
namespace {

/// The unit's bytes, or nothing when `unit` is no unit. `plain` is the meaning of no unit at all.
std::optional<double> unit_bytes(std::string_view unit, double plain) {
  constexpr std::string_view kPrefixes = "KMGTP";
  std::string upper(unit);
  std::transform(upper.begin(), upper.end(), upper.begin(),
                 [](char c) { return c >= 'a' && c <= 'z' ? static_cast<char>(c - 'a' + 'A') : c; });
  if (upper.empty()) return plain;
  if (upper == "B") return 1.0;
  const std::size_t power = kPrefixes.find(upper.front());
  if (power == std::string_view::npos) return std::nullopt;
  const std::string_view rest = std::string_view(upper).substr(1);
  if (rest.empty() || rest == "IB") return std::pow(1024.0, static_cast<double>(power + 1));
  if (rest == "B") return std::pow(1000.0, static_cast<double>(power + 1));
  return std::nullopt;
}

double parse_scaled(std::string_view text, std::string_view what, double plain) {
  double number = 0;
  const char* last = text.data() + text.size();
  const auto [end, status] = std::from_chars(text.data(), last, number, std::chars_format::fixed);
  std::string_view unit(end, static_cast<std::size_t>(last - end));
  unit.remove_prefix(std::min(unit.find_first_not_of(' '), unit.size()));
  const std::optional<double> scale = unit_bytes(unit, plain);
  if (text.empty() || status == std::errc::invalid_argument || !scale || std::isnan(number) || std::isinf(number))
    throw PlanError(fmt::format("{} '{}' is not a size such as 8GiB, 64K, 4GB or 4096", what, text));
  if (std::signbit(number)) throw PlanError(fmt::format("{} '{}' is negative", what, text));
  constexpr double kLimit = 9223372036854775807.0;  // rounds to 2^63, the first value that does not fit
  if (status == std::errc::result_out_of_range || !(number * *scale < kLimit))
    throw PlanError(fmt::format("{} '{}' is beyond 2^63 - 1 bytes", what, text));
  return number * *scale;
}

/// Whole numbers are read exactly: a double would lose digits beyond 2^53.
std::optional<std::int64_t> parse_whole(std::string_view text, std::int64_t unit) {
  std::int64_t number = 0;
  const auto [end, status] = std::from_chars(text.data(), text.data() + text.size(), number);
  std::int64_t bytes = 0;
  if (text.empty() || status != std::errc{} || end != text.data() + text.size() || number < 0) return std::nullopt;
  if (__builtin_mul_overflow(number, unit, &bytes)) return std::nullopt;
  return bytes;
}

struct Unit {
  std::string_view name;
  double scale;
};

/// A number from 0 up before one of these units, times its scale; nothing for any other text.
std::optional<double> parse_in_units(std::string_view text, std::initializer_list<Unit> units) {
  double number = 0;
  const auto [end, status] = std::from_chars(text.data(), text.data() + text.size(), number, std::chars_format::fixed);
  const std::string_view name = text.substr(static_cast<std::size_t>(end - text.data()));
  if (status != std::errc{} || !std::isfinite(number) || std::signbit(number)) return std::nullopt;
  for (const Unit& unit : units)
    if (name == unit.name) return number * unit.scale;
  return std::nullopt;
}

}  // namespace

std::int64_t parse_bytes(std::string_view text, std::string_view what, std::int64_t plain_unit_bytes) {
  if (const auto whole = parse_whole(text, plain_unit_bytes)) return *whole;
  return static_cast<std::int64_t>(parse_scaled(text, what, static_cast<double>(plain_unit_bytes)));
}

double parse_bytes_per_second(std::string_view text, std::string_view what) {
  std::string_view amount = text;
  if (amount.ends_with("/s")) amount.remove_suffix(2);
  const double rate = parse_scaled(amount, what, 1.0);
  if (rate <= 0) throw PlanError(fmt::format("{} '{}' must be above zero", what, text));
  return rate;
}

double parse_link_bytes_per_second(std::string_view text, std::string_view what) {
  if (!text.ends_with("bit")) return parse_bytes_per_second(text, what);
  const auto bits = parse_in_units(text, {{"bit", 1.0}, {"kbit", 1e3}, {"mbit", 1e6}, {"gbit", 1e9}});
  if (!bits) throw PlanError(fmt::format("{} '{}' is not a rate such as 800mbit, 1gbit or 100MB/s", what, text));
  if (*bits <= 0) throw PlanError(fmt::format("{} '{}' must be above zero", what, text));
  return *bits / 8;
}

double parse_seconds(std::string_view text, std::string_view what) {
  const auto seconds = parse_in_units(text, {{"us", 1e-6}, {"ms", 1e-3}, {"s", 1.0}});
  if (!seconds) throw PlanError(fmt::format("{} '{}' is not a time such as 200us, 5ms or 1.5s", what, text));
  return *seconds;
}

}  // namespace hetsort::partition
