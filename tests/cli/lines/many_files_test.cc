// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
#include "tests/cli/program.h"

namespace hetsort::cli::test {
namespace {

TEST(LinesOfManyFiles, more_than_descriptors_are_opened_one_at_a_time) {
  const Shell shell;
  shell.run("seq 30000 >expected && mkdir d && shuf expected | split -a 3 -l 100 - d/");
  for (const std::string words : {"-o out d/*", "-u -o out d/*", "-S 300K -T . -o out d/*", "d/* >out"}) {
    const Outcome outcome = shell.run("rm -f out; ulimit -n 64; $H sort --lines -n " + words);
    EXPECT_EQ(outcome.exit_code, 0) << words << ": " << outcome;
    EXPECT_TRUE(shell.file("out") == shell.file("expected")) << words;
  }
}

}  // namespace
}  // namespace hetsort::cli::test
