// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
#include "cli/options/command_line.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <boost/program_options.hpp>
#include <functional>
#include <map>
#include <sstream>

#include "cli/options/other_programs.h"
#include "io/field.h"
#include "job/options/spelling.h"

namespace hetsort::cli {

namespace po = boost::program_options;

namespace {

using job::Options;

/// What may be meant by an option of two dashes: the options that begin so, else the nearest one. "" = nothing.
std::string meant_by(const std::string& name, const Options& options) {
  std::vector<std::string> known;
  for (const job::Option& option : options.all()) {
    if (!option.name.empty()) known.push_back("--" + option.name);
    if (option.letter != '\0') known.push_back(fmt::format("-{}", option.letter));
  }
  std::vector<std::string> begun;
  std::ranges::copy_if(known, std::back_inserter(begun),
                       [&](const std::string& one) { return name.size() > 3 && one.starts_with(name); });
  constexpr std::size_t kMaxNamed = 3;
  if (begun.empty() || begun.size() > kMaxNamed) begun = {job::nearest(name, known)};
  return begun.front().empty() ? "" : fmt::format("'{}'", fmt::join(begun, "' or '"));
}

/// `given`: as on the command line, perhaps with a value.
std::string unknown_option_message(const std::string& command, const std::string& given, const Options& options) {
  if (const OtherOption* const other = other_option(command, given, options))
    return fmt::format("unknown option '{}'; {}", other->name, other->advice);
  const std::string name = given.starts_with("--") ? given.substr(0, given.find('=')) : given;
  // Every other letter is as near.
  const std::string meant = name.size() <= 2 ? "" : meant_by(name, options);
  return meant.empty() ? fmt::format("unknown option '{}'", name)
                       : fmt::format("unknown option '{}'; did you mean {}?", name, meant);
}

/// How Boost is to read an option, and how --help shows its value.
class Semantic final : public po::value_semantic_codecvt_helper<char> {
 public:
  explicit Semantic(const job::Option& option)
      : name_(option.usual.empty() ? option.value : fmt::format("{} (={})", option.value, option.usual)),
        tokens_(option.is_switch() ? 0 : 1) {}

  std::string name() const override { return name_; }
  unsigned min_tokens() const override { return tokens_; }
  unsigned max_tokens() const override { return tokens_; }
  bool is_composing() const override { return false; }
  bool is_required() const override { return false; }
  bool apply_default(boost::any& /*value*/) const override { return false; }
  void notify(const boost::any& /*value*/) const override {}

 private:
  void xparse(boost::any& /*value*/, const std::vector<std::string>& /*words*/) const override {}

  std::string name_;
  unsigned tokens_;
};

/// The options in groups, in the order in which the groups begin.
std::vector<po::options_description> groups_of(const Options& options) {
  std::vector<std::string> names;
  std::vector<po::options_description> groups;
  for (const job::Option& option : options.all()) {
    std::size_t at = static_cast<std::size_t>(std::ranges::find(names, option.group) - names.begin());
    if (at == names.size()) {
      names.push_back(option.group);
      groups.emplace_back(option.group.empty() ? "Options" : option.group);
    }
    std::string spellings = option.name;
    if (!option.synonym.empty()) spellings += "," + option.synonym;
    if (option.letter != '\0') spellings += fmt::format(",{}", option.letter);
    groups[at].add_options()(spellings.c_str(), new Semantic(option), option.help.c_str());
  }
  return groups;
}

po::options_description description_of(const Options& options) {
  po::options_description all;
  for (const po::options_description& group : groups_of(options)) all.add(group);
  return all;
}

/// The words of the options of the command that runs, by the names of fields.
std::map<std::string, std::string, std::less<>>& words_of_fields() {
  static std::map<std::string, std::string, std::less<>> words;
  return words;
}

std::string option_of_field(std::string_view field) {
  const auto found = words_of_fields().find(field);
  if (found != words_of_fields().end()) return found->second;
  std::string name(field);
  std::ranges::replace(name, '_', '-');
  return "--" + name;
}

/// Messages name the options of this command from now on.
void spell_fields_as(const Options& options) {
  words_of_fields().clear();
  for (const job::Option& option : options.all()) {
    std::string field = option.id();
    std::ranges::replace(field, '-', '_');
    words_of_fields()[field] = option.letter != '\0' ? fmt::format("-{}", option.letter) : "--" + option.name;
  }
  io::spell_field = option_of_field;
}

/// Fills the request. Returns the operands.
std::vector<std::string> fill(Options& options, const po::parsed_options& parsed) {
  std::vector<std::string> operands;
  for (const po::option& option : parsed.options) {
    const std::string& key = option.string_key;
    if (option.position_key >= 0 || key == "operand")
      operands.insert(operands.end(), option.value.begin(), option.value.end());
    else
      options.set(key.starts_with('-') ? key.substr(1) : key, option.value.empty() ? "" : option.value.front());
  }
  return operands;
}

std::vector<comm::SharedSetting> shared_settings(const std::string& command, const Options& options,
                                                 const std::vector<std::string>& operands) {
  std::vector<comm::SharedSetting> settings{{"command", command}};
  for (comm::SharedSetting setting : options.shared()) {
    setting.name = (setting.name.size() == 1 ? "-" : "--") + setting.name;
    settings.push_back(std::move(setting));
  }
  for (const std::string& operand : operands) settings.push_back({"operand", operand});
  return settings;
}

}  // namespace

job::Option help_option(char letter) {
  return {.name = "help", .letter = letter, .help = "this text", .fill = [](const std::string&, const std::string&) {}};
}

std::string help_text(const char* usage, const Options& options) {
  std::ostringstream text;
  text << usage << description_of(options);
  return text.str();
}

CommandLine parse_command_line(const std::string& command, Arguments arguments, Options& options) {
  spell_fields_as(options);
  po::options_description all = description_of(options);
  all.add_options()("operand", po::value<std::vector<std::string>>());
  po::positional_options_description positional;
  positional.add("operand", -1);
  std::vector<std::string> words;
  for (const std::string& argument : arguments) {
    // It would count as short for an option that begins so.
    if (argument == "--version") throw UsageError(unknown_option_message(command, argument, options));
    words.push_back(spelled_here(command, argument));
  }
  CommandLine line;
  try {
    line.operands = fill(options, po::command_line_parser(words).options(all).positional(positional).run());
  } catch (const po::unknown_option& error) {
    const std::string old_key = command == "sort" ? old_key_message(arguments, error.get_option_name()) : "";
    throw UsageError(old_key.empty() ? unknown_option_message(command, error.get_option_name(), options) : old_key);
  } catch (const po::invalid_command_line_syntax& error) {
    for (const std::string& given : arguments)
      if (given.starts_with(error.get_option_name() + "="))
        if (const OtherOption* const other = other_option(command, given, options))
          throw UsageError(fmt::format("unknown option '{}'; {}", given, other->advice));
    throw UsageError(error.what());
  } catch (const po::error& error) {
    throw UsageError(error.what());
  }
  line.shared = shared_settings(command, options, line.operands);
  if (std::count(line.operands.begin(), line.operands.end(), "-") > 1)
    throw UsageError("standard input ('-') can be read only once");
  line.help = options.is_given("help");
  if (line.help) return line;
  if (options.find("line-key") != nullptr)
    for (const std::string& operand : line.operands)
      if (const std::string old_key = old_key_message(operand); !old_key.empty()) throw UsageError(old_key);
  options.check_exclusions();
  return line;
}

}  // namespace hetsort::cli
