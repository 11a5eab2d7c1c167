// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
#include "cli/shared/options.h"

#include <fmt/format.h>

#include <charconv>
#include <sstream>

#include "cli/shared/spelling.h"

namespace hetsort::cli {

namespace po = boost::program_options;

namespace {

std::string unknown_option_message(const std::string& name, const po::options_description& visible) {
  std::vector<std::string> known;
  for (const auto& option : visible.options()) {
    known.push_back(option->canonical_display_name(po::command_line_style::allow_long));
    known.push_back(option->canonical_display_name(po::command_line_style::allow_dash_for_short));
  }
  const std::string near = nearest(name, known);
  return near.empty() ? fmt::format("unknown option '{}'", name)
                      : fmt::format("unknown option '{}'; did you mean '{}'?", name, near);
}

}  // namespace

bool answers_help(const po::variables_map& values, const char* usage, const po::options_description& options) {
  if (!values["help"].as<bool>()) return false;
  std::ostringstream text;
  text << usage << options;
  fmt::print("{}", text.str());
  return true;
}

po::variables_map parse_options(Arguments arguments, const po::options_description& visible) {
  po::options_description all;
  all.add(visible);
  all.add_options()("operand", po::value<std::vector<std::string>>());
  po::positional_options_description positional;
  positional.add("operand", -1);
  const int style = po::command_line_style::unix_style & ~po::command_line_style::allow_guessing;
  po::variables_map values;
  try {
    po::store(po::command_line_parser(std::vector<std::string>(arguments.begin(), arguments.end()))
                  .options(all)
                  .positional(positional)
                  .style(style)
                  .run(),
              values);
    po::notify(values);
  } catch (const po::unknown_option& error) {
    throw UsageError(unknown_option_message(error.get_option_name(), visible));
  } catch (const po::error& error) {
    throw UsageError(error.what());
  }
  return values;
}

std::uint64_t parse_count(std::string_view text, std::string_view what) {
  std::uint64_t value = 0;
  const auto [end, status] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (text.empty() || status == std::errc::invalid_argument || end != text.data() + text.size())
    throw UsageError(fmt::format("{} '{}' is not a decimal number", what, text));
  if (status == std::errc::result_out_of_range)
    throw UsageError(fmt::format("{} '{}' does not fit 64 bits", what, text));
  return value;
}

}  // namespace hetsort::cli
