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

#include "cli/options/spelling.h"

namespace hetsort::cli {

namespace po = boost::program_options;

namespace {

/// An option that other programs have, and the option of hetsort that serves the purpose.
struct OtherOption {
  std::string_view command;  ///< empty = every command that has the option `serves`
  std::string_view name;
  std::string_view advice;
  std::string_view serves{};  ///< a long name
};

constexpr std::string_view kLinesAreChecked = "'hetsort sort -c' checks lines";

constexpr std::array kOtherOptions{
    OtherOption{"sort", "-R", "hetsort does not shuffle; sort(1) does"},
    OtherOption{"sort", "--random-sort", "hetsort does not shuffle; sort(1) does"},
    OtherOption{"sort", "--sort", "its WORDs are options here, such as --numeric-sort"},
    OtherOption{"sort", "--compress-program", "runs spill as they are; -T names the folders"},
    OtherOption{"validate", "--lines", kLinesAreChecked},
    OtherOption{"validate", "-k", kLinesAreChecked},
    OtherOption{"validate", "-n", kLinesAreChecked},
    OtherOption{"validate", "-z", kLinesAreChecked},
    OtherOption{"", "-t", "hetsort has -j", "threads"},
    OtherOption{"", "-p", "hetsort has -j", "threads"},
    OtherOption{"", "--parallel", "hetsort has -j", "threads"},
    OtherOption{"", "--jobs", "hetsort has -j", "threads"},
    OtherOption{"", "--cores", "hetsort has -j", "threads"},
    OtherOption{"", "--cpus", "hetsort has -j", "threads"},
    OtherOption{"", "--num-threads", "hetsort has -j", "threads"},
    OtherOption{"", "--nthreads", "hetsort has -j", "threads"},
    OtherOption{"", "--ram", "hetsort has -S", "memory"},
    OtherOption{"", "--max-memory", "hetsort has -S", "memory"},
    OtherOption{"", "--memory-limit", "hetsort has -S", "memory"},
    OtherOption{"", "--tmp", "hetsort has -T", "temp"},
    OtherOption{"", "--tmpdir", "hetsort has -T", "temp"},
    OtherOption{"", "--record-length", "hetsort has --record-size", "record-size"},
    OtherOption{"", "--record-bytes", "hetsort has --record-size", "record-size"},
    OtherOption{"", "--reclen", "hetsort has --record-size", "record-size"},
    OtherOption{"", "--size", "hetsort has --record-size", "record-size"},
    OtherOption{"", "--key-size", "hetsort has --key OFFSET:BYTES", "key"},
    OtherOption{"", "--text", "hetsort has --lines", "lines"},
    OtherOption{"", "--count", "hetsort has --records", "records"},
    OtherOption{"", "--num-records", "hetsort has --records", "records"},
};

using Options = std::vector<boost::shared_ptr<po::option_description>>;

bool has_long(const Options& options, std::string_view name) {
  return std::ranges::any_of(options, [&](const auto& option) {
    const auto [names, count] = option->long_names();
    return std::find(names, names + count, name) != names + count;
  });
}

/// The other program's option of this name, if hetsort has one that serves its purpose; else null.
const OtherOption* other_option(const std::string& command, const std::string& name, const Options& options) {
  const auto* const other = std::ranges::find_if(kOtherOptions, [&](const OtherOption& one) {
    const bool is_letter_with_value = one.name.size() == 2 && name.starts_with(one.name);
    if (name != one.name && !is_letter_with_value) return false;
    return one.command.empty() ? has_long(options, one.serves) : command == one.command;
  });
  return other == kOtherOptions.end() ? nullptr : other;
}

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
  const std::string name = given.starts_with("--") ? given.substr(0, given.find('=')) : given;
  const Options& options = visible.options();
  if (const OtherOption* const other = other_option(command, name, options))
    return fmt::format("unknown option '{}'; {}", other->name, other->advice);
  // Every other letter would be as near.
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
    throw UsageError(unknown_option_message(command, error.get_option_name(), visible));
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
