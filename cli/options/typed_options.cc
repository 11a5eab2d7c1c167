// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
#include "cli/options/typed_options.h"

#include <charconv>

#include "cli/shared/named_files.h"

namespace hetsort::cli {

namespace po = boost::program_options;

OptionValue<std::uint64_t>* count(const char* name, const std::string& option, std::uint64_t min, std::uint64_t max) {
  return parsed<std::uint64_t>(name, [=](const std::string& text) {
    const std::uint64_t value = parse_count(text, option);
    if (value < min || value > max) throw UsageError(fmt::format("{} wants {} to {}, not {}", option, min, max, text));
    return value;
  });
}

OptionValue<double>* seconds(const char* name, const std::string& option, double min, double max) {
  return parsed<double>(name, [=](const std::string& text) {
    double value = 0;
    const auto [end, status] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (status != std::errc() || end != text.data() + text.size() || !(value >= min && value <= max))
      throw UsageError(fmt::format("{} '{}' is not a number of seconds from {:.0f} to {:.0f}", option, text, min, max));
    return value;
  });
}

OptionValue<std::string>* path_of_one_file(const char* name, const std::string& option, bool stream) {
  return parsed<std::string>(name, [=](const std::string& text) { return one_file(option, text, stream); });
}

}  // namespace hetsort::cli
