// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
#include "job/options/parse.h"

#include <charconv>

#include "job/request/named_files.h"

namespace hetsort::job {

std::uint64_t parse_count(std::string_view text, std::string_view what) {
  std::uint64_t value = 0;
  const auto [end, status] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (text.empty() || status == std::errc::invalid_argument || end != text.data() + text.size())
    throw RequestError(fmt::format("{} '{}' is not a decimal number", what, text));
  if (status == std::errc::result_out_of_range)
    throw RequestError(fmt::format("{} '{}' does not fit 64 bits", what, text));
  return value;
}

Fill turn_on(bool& field) {
  return [&field](const std::string&, const std::string&) { field = true; };
}

Fill turn_off(bool& field) {
  return [&field](const std::string&, const std::string&) { field = false; };
}

Fill take_text(std::string& field) {
  return [&field](const std::string& text, const std::string&) { field = text; };
}

Fill add_text(std::vector<std::string>& field) {
  return [&field](const std::string& text, const std::string&) { field.push_back(text); };
}

Fill take_path(std::string& field, bool stream) {
  return [&field, stream](const std::string& text, const std::string& what) { field = one_file(what, text, stream); };
}

std::function<double(const std::string& text, const std::string& what)> seconds_from(double min, double max) {
  return [=](const std::string& text, const std::string& what) {
    double value = 0;
    const auto [end, status] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (status != std::errc() || end != text.data() + text.size() || !(value >= min && value <= max))
      throw RequestError(fmt::format("{} '{}' is not a number of seconds from {:.0f} to {:.0f}", what, text, min, max));
    return value;
  };
}

}  // namespace hetsort::job
