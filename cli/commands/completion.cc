// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
//
// hetsort completion: prints what a shell needs to complete command lines, made from the tables of commands and
// options.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

#include "cli/commands.h"
#include "cli/options/command_line.h"
#include "cli/process/outcome.h"
#include "cli/subcommands.h"
#include "cli/terminal/messages.h"

namespace hetsort::cli {

namespace {

constexpr const char* kCompletionUsage = R"(usage: hetsort completion SHELL

Prints the completions of hetsort's command lines for SHELL: bash, zsh or fish. An installed hetsort has them already.

  source <(hetsort completion bash)

)";

constexpr std::string_view kShells = "bash zsh fish";

/// As on a command line: without the synonym.
std::vector<std::string> spellings(const job::Option& option) {
  std::vector<std::string> all;
  if (option.letter != '\0') all.push_back(fmt::format("-{}", option.letter));
  if (!option.name.empty()) all.push_back("--" + option.name);
  return all;
}

/// `text` with a backslash before each of `letters`.
std::string backslashed(std::string_view text, std::string_view letters) {
  std::string result;
  for (const char letter : text) {
    if (letters.find(letter) != letters.npos) result += '\\';
    result += letter;
  }
  return result;
}

std::string names_of_commands() {
  std::vector<std::string_view> names;
  for (const Subcommand& command : subcommands()) names.push_back(command.name);
  return fmt::format("{}", fmt::join(names, " "));
}

/// The script for bash. Readline splits "--io=uring" at "=". Anything that is neither a known word nor an option is
/// completed as a file name.
std::string bash_completion() {
  std::string options;
  std::string values;
  for (const Subcommand& command : subcommands()) {
    std::vector<std::string> names;
    const job::Options table = command.options();
    for (const job::Option& option : table.all()) {
      const std::vector<std::string> each = spellings(option);
      names.insert(names.end(), each.begin(), each.end());
      if (option.words.empty()) continue;
      values += fmt::format("    {}:{})\n", command.name, fmt::join(each, fmt::format(" | {}:", command.name)));
      values += fmt::format("      mapfile -t COMPREPLY < <(compgen -W '{}' -- \"$word\")\n      return ;;\n",
                            fmt::join(option.words, " "));
    }
    options += fmt::format("    {}) options='{}' ;;\n", command.name, fmt::join(names, " "));
  }
  return fmt::format(R"(# bash completion for hetsort, printed by `hetsort completion bash`
_hetsort() {{
  local word=${{COMP_WORDS[COMP_CWORD]}} before=${{COMP_WORDS[COMP_CWORD - 1]}} command=${{COMP_WORDS[1]}} options=
  COMPREPLY=()
  if [ "$COMP_CWORD" -eq 1 ]; then
    mapfile -t COMPREPLY < <(compgen -W '{0} help --help --version' -- "$word")
    return
  fi
  if [ "$word" = = ]; then
    word=
  elif [ "$before" = = ]; then
    before=${{COMP_WORDS[COMP_CWORD - 2]}}
  fi
  case $command:$before in
    completion:completion)
      mapfile -t COMPREPLY < <(compgen -W '{3}' -- "$word")
      return ;;
    help:help)
      mapfile -t COMPREPLY < <(compgen -W '{0}' -- "$word")
      return ;;
{2}  esac
  [[ $word == -* ]] || return
  case $command in
{1}  esac
  mapfile -t COMPREPLY < <(compgen -W "$options" -- "$word")
}}
complete -o default -F _hetsort hetsort
)",
                     names_of_commands(), options, values, kShells);
}

/// The script for zsh: one argument of its _arguments for each option, and one for operands.
std::string zsh_completion() {
  std::string commands;
  std::string options;
  for (const Subcommand& command : subcommands()) {
    commands +=
        fmt::format("    {}\n", single_quoted(fmt::format("{}:{}", command.name, backslashed(command.summary, ":"))));
    options += fmt::format("    {})\n      _arguments -s -S", command.name);
    const job::Options table = command.options();
    for (const job::Option& option : table.all()) {
      std::string rest = fmt::format("[{}]", backslashed(option.help, "[]\\"));
      if (!option.is_switch())
        rest += fmt::format(
            ":{}:{}", backslashed(option.value, ":[]\\"),
            option.words.empty() ? "_files" : backslashed(fmt::format("({})", fmt::join(option.words, " ")), ":"));
      for (const std::string& spelling : spellings(option)) {
        const std::string_view joined = option.is_switch() ? "" : spelling.starts_with("--") ? "=" : "+";
        options += fmt::format(" \\\n        {}", single_quoted(fmt::format("*{}{}{}", spelling, joined, rest)));
      }
    }
    const std::string operand =
        command.name == "completion" ? fmt::format("1:SHELL:({})", kShells) : std::string("*:file:_files");
    options += fmt::format(" \\\n        '{}' ;;\n", operand);
  }
  return fmt::format(R"(#compdef hetsort
# zsh completion for hetsort, printed by `hetsort completion zsh`
_hetsort() {{
  local -a commands=(
{}    'help:the options of a command'
  )
  if (( CURRENT == 2 )); then
    _describe command commands
    return
  fi
  shift words
  (( CURRENT-- ))
  case $words[1] in
    help)
      _describe command commands ;;
{}  esac
}}
if [[ $funcstack[1] == _hetsort ]]; then
  _hetsort "$@"
else
  compdef _hetsort hetsort
fi
)",
                     commands, options);
}

std::string fish_completion() {
  const auto text = [](std::string_view description) { return "'" + backslashed(description, "'\\") + "'"; };
  const std::string names = names_of_commands();
  const std::string none = fmt::format("'not __fish_seen_subcommand_from {}'", names);
  std::string result = "# fish completion for hetsort, printed by `hetsort completion fish`\n";
  for (const Subcommand& command : subcommands())
    result += fmt::format("complete -c hetsort -n {} -f -a {} -d {}\n", none, command.name, text(command.summary));
  for (const Subcommand& command : subcommands()) {
    const job::Options table = command.options();
    for (const job::Option& option : table.all()) {
      result += fmt::format("complete -c hetsort -n '__fish_seen_subcommand_from {}'", command.name);
      if (option.letter != '\0') result += fmt::format(" -s {}", option.letter);
      if (!option.name.empty()) result += " -l " + option.name;
      if (!option.is_switch()) result += option.words.empty() ? " -r" : " -x";
      if (!option.words.empty()) result += fmt::format(" -a '{}'", fmt::join(option.words, " "));
      result += fmt::format(" -d {}\n", text(option.help));
    }
  }
  result += fmt::format("complete -c hetsort -n {} -f -a help -d 'the options of a command'\n", none);
  result += fmt::format("complete -c hetsort -n '__fish_seen_subcommand_from help' -f -a '{}'\n", names);
  result += fmt::format("complete -c hetsort -n '__fish_seen_subcommand_from completion' -f -a '{}'\n", kShells);
  return result;
}

}  // namespace

job::Options completion_options() {
  job::Options options;
  options.add(help_option());
  return options;
}

int completion_command(Arguments arguments) {
  job::Options options = completion_options();
  const CommandLine line = parse_command_line("completion", arguments, options);
  if (line.help) return print_once(line.shared, help_text(kCompletionUsage, options));
  const std::vector<std::string>& shells = line.operands;
  if (shells.size() != 1) throw UsageError("completion wants one SHELL: bash, zsh or fish");
  if (shells.front() == "bash") return print_once(line.shared, bash_completion());
  if (shells.front() == "zsh") return print_once(line.shared, zsh_completion());
  if (shells.front() == "fish") return print_once(line.shared, fish_completion());
  throw UsageError(fmt::format("completion: SHELL '{}' is none of bash, zsh, fish", shells.front()));
}

}  // namespace hetsort::cli
