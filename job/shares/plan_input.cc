// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
#include "job/shares/plan_input.h"

#include <fcntl.h>
#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <limits>
#include <regex>
#include <span>

#include "io/file.h"
#include "job/options/parse.h"
#include "job/request/request_error.h"
#include "sort/model/memory_plan.h"

namespace hetsort::job {

namespace {

double parse_number(std::string_view text, const std::string& what) {
  double value = 0;
  const auto [end, status] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (text.empty() || status == std::errc::invalid_argument || end != text.data() + text.size())
    throw RequestError(fmt::format("{} '{}' is not a number", what, text));
  if (status == std::errc::result_out_of_range)
    throw RequestError(fmt::format("{} '{}' does not fit a double", what, text));
  return value;
}

/// The values of a list with commas between them.
template <class T, class Parse>
std::vector<T> parse_list(std::string_view list, const std::string& what, const Parse& parse) {
  if (list.empty()) throw RequestError(what + " wants a list of numbers");
  std::vector<T> values;
  while (!list.empty()) {
    const std::size_t comma = std::min(list.find(','), list.size());
    values.push_back(parse(list.substr(0, comma), fmt::format("{}: number {}", what, values.size() + 1)));
    if (comma + 1 == list.size()) throw RequestError(what + ": the list ends with a comma");
    list.remove_prefix(std::min(comma + 1, list.size()));
  }
  return values;
}

/// "1.5e3" and "1.5K" become "1500". A text of another form, or of a number that is not whole, stays as it is.
std::string plain_digits(const std::string& text) {
  static const std::regex kForm("([0-9]+)(?:\\.([0-9]+))?(?:[eE]\\+?([0-9]{1,2})|([KMGT]))?");
  static constexpr std::string_view kSuffixes = "KMGT";
  constexpr std::size_t kMaxLetters = 64;
  std::smatch parts;
  if (text.size() > kMaxLetters || !std::regex_match(text, parts, kForm)) return text;
  std::string digits = parts.str(1) + parts.str(2);
  std::size_t zeros = parts[3].matched ? std::stoul(parts.str(3)) : 0;
  if (parts[4].matched) zeros = 3 * (kSuffixes.find(parts.str(4)) + 1);
  for (std::size_t behind_point = parts.str(2).size(); behind_point > zeros; --behind_point) {
    if (digits.back() != '0') return text;
    digits.pop_back();
  }
  return digits.append(zeros - std::min(zeros, parts.str(2).size()), '0');
}

}  // namespace

std::string read_text_file(const std::string& path) {
  // A cluster file may have as many. A limit ends the reading of what is endless, such as /dev/zero.
  constexpr std::size_t kMaxFileBytes = std::size_t{256} << 20;
  const io::File file = io::File::open(path, O_RDONLY, 0, "read");
  std::string text;
  std::vector<char> buffer(1 << 16);
  while (const std::size_t got = file.read(std::as_writable_bytes(std::span(buffer)))) {
    text.append(buffer.data(), got);
    if (text.size() > kMaxFileBytes) throw RequestError(fmt::format("{}: more than {} bytes", path, kMaxFileBytes));
  }
  return text;
}

std::string read_on_root(const std::function<std::string()>& read, comm::Communicator& ranks) {
  return ranks.broadcast_text(ranks.rank() == 0 ? read() : std::string());
}

std::vector<double> parse_speeds(std::string_view list, const std::string& what) {
  return parse_list<double>(list, what, parse_number);
}

std::vector<std::uint64_t> parse_shares(std::string_view list, const std::string& what) {
  return parse_list<std::uint64_t>(list, what, [](std::string_view text, const std::string& place) {
    return static_cast<std::uint64_t>(parse_records(std::string(text), place));
  });
}

partition::CostPtr parse_cost_shape(const std::string& text, const std::string& what) {
  constexpr std::string_view kPower = "power:";
  if (text == "nlogn") return partition::nlogn_cost();
  if (text == "linear") return partition::linear_cost(1);
  if (text.starts_with(kPower))
    return partition::power_cost(1, parse_number(std::string_view(text).substr(kPower.size()), what + ": exponent"));
  throw RequestError(fmt::format("{} '{}' is none of nlogn, linear, power:E", what, text));
}

std::function<std::int64_t(std::int64_t memory_bytes)> records_in_memory(std::int64_t record_bytes) {
  return [record_bytes](std::int64_t memory_bytes) {
    // Plans are made for larger records than those that can be sorted.
    if (record_bytes > static_cast<std::int64_t>(sort::kMaxRecordBytes)) return memory_bytes / record_bytes;
    sort::RecordLayout layout;
    layout.record_bytes = static_cast<std::size_t>(record_bytes);
    return static_cast<std::int64_t>(sort::records_in_memory(layout, static_cast<std::uint64_t>(memory_bytes)));
  };
}

std::uint64_t parse_many_records(const std::string& text, std::string_view what) {
  try {
    return parse_count(plain_digits(text), what);
  } catch (const RequestError&) {
    return parse_count(text, what);  // the message shows what the user wrote
  }
}

std::int64_t parse_records(const std::string& text, std::string_view what) {
  const std::uint64_t value = parse_many_records(text, what);
  if (value > static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max()))
    throw RequestError(fmt::format("{} '{}' is beyond 2^63 - 1", what, text));
  return static_cast<std::int64_t>(value);
}

}  // namespace hetsort::job
