// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
//
// The man pages describe the options of the tables, all of them and no others.
#include <gtest/gtest.h>

#include <regex>
#include <set>
#include <sstream>
#include <string>

#include "cli/subcommands.h"
#include "tests/io/scratch.h"

namespace hetsort::cli::test {
namespace {

/// The options in `text`, as on a command line.
std::set<std::string> options_in(const std::string& text) {
  static const std::regex kOption("(^|[^-A-Za-z0-9])(--[a-z][a-z0-9-]*|-[A-Za-z])(?![-A-Za-z0-9])");
  std::set<std::string> found;
  for (std::sregex_iterator at(text.begin(), text.end(), kOption), end; at != end; ++at) found.insert((*at)[2].str());
  return found;
}

/// The options that entries (.TP) of a man page are headed by.
std::set<std::string> options_of_page(const std::string& command) {
  std::istringstream page(io::test::read_all(std::string(HETSORT_MAN_PAGES "/hetsort-") + command + ".1"));
  std::set<std::string> found;
  bool heads = false;
  for (std::string line; std::getline(page, line);) {
    if (heads) {
      line = std::regex_replace(line, std::regex(R"(\\f[A-Z])"), "");
      found.merge(options_in(std::regex_replace(line, std::regex(R"(\\-)"), "-")));
    }
    heads = line == ".TP" || line == ".TQ";
  }
  return found;
}

/// With synonyms, which a page may leave out.
std::set<std::string> options_of_table(const job::Options& options, bool synonyms) {
  std::set<std::string> all;
  for (const job::Option& option : options.all()) {
    if (option.letter != '\0') all.insert(std::string("-") + option.letter);
    if (!option.name.empty()) all.insert("--" + option.name);
    if (synonyms && !option.synonym.empty()) all.insert("--" + option.synonym);
  }
  return all;
}

TEST(ManPages, describe_every_option_and_no_other) {
  const std::set<std::string> of_sort = options_of_page("sort");
  for (const Subcommand& command : subcommands()) {
    const std::string name(command.name);
    std::set<std::string> page = options_of_page(name);
    // Its page refers to that of sort.
    if (name == "compare") page.insert(of_sort.begin(), of_sort.end());
    for (const std::string& option : options_of_table(command.options(), false))
      EXPECT_TRUE(page.contains(option)) << name << " " << option;
    if (name == "compare") continue;
    const std::set<std::string> table = options_of_table(command.options(), true);
    for (const std::string& option : page) EXPECT_TRUE(table.contains(option)) << name << " " << option;
  }
}

}  // namespace
}  // namespace hetsort::cli::test
