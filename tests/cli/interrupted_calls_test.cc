// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
//
// File systems may interrupt any call on files (NFS mounted with `intr`, FUSE). Every command repeats such calls.
#include "tests/cli/program.h"

namespace hetsort::cli::test {
namespace {

TEST(InterruptedCalls, are_repeated_by_every_command) {
  const Shell shell;
  shell.run("printf '[[node]]\\nspeed = 1\\n' >c.toml; seq 1000 | LC_ALL=C sort >l; cp l victim");
  std::string faults;
  for (const std::string kind :
       {"open", "read", "write", "sync", "allocate", "truncate", "link", "rename", "stat", "chmod", "unlink", "map"})
    faults += (faults.empty() ? "" : ",") + kind + ":~2:EINTR";
  for (const std::string line :
       {"gen 3000 in", "gen 3000 - >in2", "sort in -o out", "sort in -o out -o out2", "sort <in >out3",
        "sort -S 4M -j 2 in -T . -o out --report r.json --trace t.json", "sort --lines -m l l -o l2",
        "sort --lines l -o l", "sort -m out out3 >both", "sort -c out", "sort --verify-output in -o out",
        "validate out", "validate -o sum out", "validate -s sum", "plan -n 100 --cluster c.toml",
        "plan -n 100 --speeds 1,2 --plot p.svg", "compare in -o out --strategies equal --rounds 1",
        "report r.json --no-pictures -o r.html"}) {
    const Outcome outcome = shell.run("HETSORT_FAULTS=" + faults + " $H " + line);
    EXPECT_EQ(outcome.exit_code, 0) << line << ": " << outcome;
  }
  EXPECT_EQ(shell.run("$H validate -q out && cmp l victim && LC_ALL=C sort -m l l | cmp - l2").exit_code, 0);
}

}  // namespace
}  // namespace hetsort::cli::test
