// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
#include "cli/options/options.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <set>
#include <sstream>

#include "cli/options/other_programs.h"
#include "cli/options/spelling.h"

namespace hetsort::cli {

namespace po = boost::program_options;

namespace {

using Options = std::vector<boost::shared_ptr<po::option_description>>;

/// What may be meant by an option of two dashes: the options that begin so, else the nearest one. "" = nothing.
std::string meant_by(const std::string& name, const Options& options) {
  std::vector<std::string> known;
  for (const auto& option : options) {
    known.push_back(option->canonical_display_name(po::command_line_style::allow_long));
    known.push_back(option->canonical_display_name(po::command_line_style::allow_dash_for_short));
  }
  std::vector<std::string> begun;
  std::ranges::copy_if(known, std::back_inserter(begun),
                       [&](const std::string& one) { return name.size() > 3 && one.starts_with(name); });
  constexpr std::size_t kMaxNamed = 3;
  if (begun.empty() || begun.size() > kMaxNamed) begun = {nearest(name, known)};
  return begun.front().empty() ? "" : fmt::format("'{}'", fmt::join(begun, "' or '"));
}

/// `given`: as on the command line, perhaps with a value.
std::string unknown_option_message(const std::string& command, const std::string& given,
                                   const po::options_description& visible) {
  if (const OtherOption* const other = other_option(command, given, visible))
    return fmt::format("unknown option '{}'; {}", other->name, other->advice);
  const std::string name = given.starts_with("--") ? given.substr(0, given.find('=')) : given;
  const Options& options = visible.options();
  // Every other letter is as near.
  const std::string meant = name.size() <= 2 ? "" : meant_by(name, options);
  return meant.empty() ? fmt::format("unknown option '{}'", name)
                       : fmt::format("unknown option '{}'; did you mean {}?", name, meant);
}

/// Options that may differ from rank to rank.
constexpr std::array<std::string_view, 7> kOptionsOfOneRank{"memory",   "temp",    "threads", "io",
                                                            "progress", "verbose", "quiet"};

std::vector<comm::SharedSetting> shared_settings(const std::string& command, const po::parsed_options& parsed) {
  std::vector<comm::SharedSetting> settings{{"command", command}};
  for (const po::option& option : parsed.options) {
    const std::string& key = option.string_key;
    if (std::find(kOptionsOfOneRank.begin(), kOptionsOfOneRank.end(), key) != kOptionsOfOneRank.end()) continue;
    const bool is_plain = key == "operand" || key.starts_with('-');
    settings.push_back({is_plain ? key : "--" + key, fmt::format("{}", fmt::join(option.value, " "))});
  }
  return settings;
}

/// A switch that is given twice means the same, as in sort(1).
void drop_repeated_switches(po::parsed_options& parsed) {
  std::set<std::string> seen;
  std::erase_if(parsed.options, [&](const po::option& option) {
    return option.value.empty() && option.position_key < 0 && !seen.insert(option.string_key).second;
  });
}

}  // namespace

std::vector<std::string> operands_of(const po::variables_map& values) {
  if (values.count("operand") == 0) return {};
  return values["operand"].as<std::vector<std::string>>();
}

std::string help_text(const char* usage, const po::options_description& options) {
  std::ostringstream text;
  text << usage << options;
  return text.str();
}

CommandLine parse_options(const std::string& command, Arguments arguments, const po::options_description& visible) {
  po::options_description all;
  all.add(visible);
  all.add_options()("operand", po::value<std::vector<std::string>>());
  po::positional_options_description positional;
  positional.add("operand", -1);
  const int style = po::command_line_style::unix_style & ~po::command_line_style::allow_guessing;
  CommandLine line;
  try {
    auto parsed = po::command_line_parser(std::vector<std::string>(arguments.begin(), arguments.end()))
                      .options(all)
                      .positional(positional)
                      .style(style)
                      .run();
    drop_repeated_switches(parsed);
    line.shared = shared_settings(command, parsed);
    po::store(parsed, line.values);
    po::notify(line.values);
    const std::vector<std::string> operands = operands_of(line.values);
    if (std::count(operands.begin(), operands.end(), "-") > 1)
      throw UsageError("standard input ('-') can be read only once");
  } catch (const po::unknown_option& error) {
    const std::string old_key = command == "sort" ? old_key_message(arguments, error.get_option_name()) : "";
    throw UsageError(old_key.empty() ? unknown_option_message(command, error.get_option_name(), visible) : old_key);
  } catch (const po::invalid_command_line_syntax& error) {
    for (const std::string& given : arguments)
      if (given.starts_with(error.get_option_name() + "="))
        if (const OtherOption* const other = other_option(command, given, visible))
          throw UsageError(fmt::format("unknown option '{}'; {}", given, other->advice));
    throw UsageError(error.what());
  } catch (const po::error& error) {
    throw UsageError(error.what());
  }
  return line;
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
