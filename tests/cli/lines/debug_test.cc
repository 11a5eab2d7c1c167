// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
#include "tests/cli/program.h"

namespace hetsort::cli::test {
namespace {

TEST(SortDebug, says_what_is_compared) {
  const Shell shell;
  const auto said = [&](const std::string& words) {
    const Outcome outcome = shell.run("printf 'b 2\\na 1\\n' >in; $H sort " + words + " in -o out");
    EXPECT_EQ(outcome.exit_code, 0) << outcome;
    return outcome.err;
  };
  EXPECT_EQ(said("--lines --debug"), "hetsort: the whole line: bytes\n");
  EXPECT_EQ(
      said("--debug -k2,2nr -k1.2b,1.3f"),
      "hetsort: key 1: from field 2, character 1: a decimal number, reversed\n"
      "hetsort: key 2: from field 1, character 2 behind blanks to field 1, character 3: bytes, lower case as upper "
      "case\n"
      "hetsort: then the whole line: bytes\n");
  EXPECT_EQ(said("--debug -s -g"),
            "hetsort: key 1: from field 1, character 1: a floating-point number\n"
            "hetsort: equal lines keep the order of the input\n");
  EXPECT_EQ(said("--record-size 4 --key 0:u32 --debug"),
            "hetsort: records of 4 bytes, key 0:u32; records with equal keys keep the order of the input\n");
  EXPECT_EQ(said("--lines"), "");
}

TEST(SortDebug, says_once_that_the_locale_does_not_count) {
  const Shell shell;
  shell.run("printf 'b\\na\\n' >in");
  const std::string note = "hetsort: text has the order of the locale C, not that of de_DE.UTF-8\n";
  const std::string whole = "hetsort: the whole line: bytes\n";
  EXPECT_EQ(shell.run("LC_ALL=de_DE.UTF-8 $H sort --lines --debug in -o out").err, note + whole);
  EXPECT_EQ(shell.run("LC_ALL= LC_COLLATE=de_DE.UTF-8 $H sort --lines --debug in -o out").err, note + whole);
  EXPECT_EQ(shell.run("LC_ALL=C LANG=de_DE.UTF-8 $H sort --lines --debug in -o out").err, whole);
  EXPECT_EQ(shell.run("LC_ALL=C.UTF-8 $H sort --lines --debug in -o out").err, whole);
}

}  // namespace
}  // namespace hetsort::cli::test
