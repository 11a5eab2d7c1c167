// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
//
// No command replaces a file that it also names for something else.
#include "tests/cli/program.h"

namespace hetsort::cli::test {
namespace {

class NamedFiles : public ::testing::Test {
 protected:
  NamedFiles() {
    shell_.run(
        "$H gen 100 in && $H gen 100 other && $H sort in -o out && ln out twin && ln -s out link && ln -s new "
        "dangling");
    shell_.write("c.toml", "[[node]]\nspeed = 1\n");
    shell_.run("$H sort in -o x --report run.json && rm x && ln -s c.toml c.svg");
  }
  /// The command must be refused with this message, and all files stay as they are.
  void refused(const std::string& line, const std::string& message) {
    const std::string before = everything();
    EXPECT_TRUE(failed_with(shell_.run(line), message)) << line;
    EXPECT_EQ(everything(), before) << line;
  }
  std::string everything() const {
    return shell_.run("ls -l --time-style=full-iso; cat in other out c.toml run.json").out;
  }

  Shell shell_;
};

TEST_F(NamedFiles, a_side_file_is_no_input_no_output_and_no_other_side_file) {
  for (const std::string option : {"--report", "--trace", "--learn"}) {
    for (const std::string path : {"out", "./out", "$PWD/out", "none/../out", "twin", "link"})
      refused("$H sort in -o out " + option + " " + path, "-o and " + option + " both name ");
    refused("$H sort in other -o new " + option + " other", option + " names other, which is also INPUT");
    refused("$H sort in -o new " + option + " dangling", "-o and " + option + " both name dangling");
    refused("$H sort in -o dangling " + option + " new", "-o and " + option + " both name new");
    // A cluster file may learn from the sort that it plans.
    if (option != "--learn")
      refused("$H sort in -o out --cluster c.toml " + option + " c.toml",
              option + " names c.toml, which is also --cluster");
    refused("$H sort in -o out " + option + " -", option + " wants a file, not '-'");
    refused("$H sort in -o out " + option + " 'a.{rank}'", option + " a.{rank}: rank 0 has this file for all ranks");
  }
  refused("$H sort in -o new --report r --trace ./r", "--report and --trace both name ./r");
  refused("$H sort in -o c.toml --cluster c.toml", "-o names c.toml, which is also --cluster");
}

TEST_F(NamedFiles, what_is_behind_standard_output_is_seen) {
  const std::string both = "standard output and --report both name ";
  for (const std::string path : {"/dev/stdout", "/dev/fd/1", "/proc/self/fd/1"}) {
    refused("export H; bash -o pipefail -c '$H sort in --report " + path + " | cat'", both + path);
    refused("$H sort in --report " + path + " >>other", both + path);
  }
  refused("$H sort in --report other >>other", both + "other");
  refused("$H validate in -o /dev/stdin <in", "-o names /dev/stdin, which is also FILE");
  refused("$H plan -n 10 --cluster c.toml >>c.toml", "standard output is also --cluster");
  // Nothing else goes there.
  EXPECT_EQ(shell_.run("$H sort in -o out --report /dev/stdout | grep -c '^{.*}$'").out, "1\n");
}

TEST_F(NamedFiles, no_command_replaces_what_it_reads) {
  for (const std::string path : {"out", "twin", "link", "$PWD/./out"})
    refused("$H validate out -o " + path, "which is also FILE: it would be replaced");
  refused("$H validate in out -o in", "-o names in, which is also FILE");
  refused("$H gen 10 c.toml --cluster c.toml", "FILE names c.toml, which is also --cluster");
  refused("$H gen 10 c.svg --cluster c.toml", "FILE names c.svg, which is also --cluster");
  refused("$H plan -n 10 --cluster c.svg --plot c.svg", "--plot names c.svg, which is also --cluster");
  refused("$H plan -n 10 --speeds 1 --learn c.svg --plot c.svg", "--plot names c.svg, which is also --learn");
  refused("$H report run.json -o run.json", "-o names run.json, which is also RUN.json");
  refused("$H report run.json --format text -o run.json", "-o names run.json, which is also RUN.json");
  refused("$H compare in -o in --strategies equal", "-o names in, which is also INPUT");
  refused("$H compare in other -o c.toml --cluster c.toml --strategies equal",
          "-o names c.toml, which is also --cluster");
  refused("$H compare in -o out --strategies equal >>out", "-o and standard output both name out");
  refused("$H calibrate -o 'c.{rank}' --max-seconds 1", "-o c.{rank}: rank 0 has this file for all ranks");
  for (const std::string words : {"gen 10 x --cluster", "sort in -o x --cluster", "validate in -o",
                                  "report run.json -o", "plan -n 10 --cluster", "plan -n 1 --speeds 1 --learn"})
    refused("$H " + words + " 'a.{rank}'", "a.{rank}: rank 0 has this file for all ranks");
}

TEST_F(NamedFiles, that_cannot_be_replaced_are_reported_before_the_work) {
  // Where the file system or the user cannot make a file append-only there is nothing to test.
  if (shell_.run("touch fixed && chattr +a fixed").exit_code != 0) return;
  // A command that read a record would report the fault.
  const std::string read = "HETSORT_FAULTS=read:1+:EIO ";
  for (const std::string line :
       {"$H sort in -o fixed", "$H sort in -o new --report fixed", "$H sort in -o new --trace fixed", "$H gen 10 fixed",
        "$H validate in -o fixed", "$H report run.json -o fixed", "$H calibrate -o fixed",
        "$H compare in -o fixed --strategies equal"})
    refused(read + line, "replace fixed: Operation not permitted (it is append-only)");
  shell_.run("chattr -a fixed; chattr +i fixed");
  refused(read + "$H sort in -o fixed", "write fixed: Operation not permitted");
  shell_.run("chattr -i fixed");
}

TEST_F(NamedFiles, a_sort_may_replace_its_input_and_devices_take_everything) {
  for (const std::string line :
       {"$H sort in -o /dev/null --report /dev/null --trace /dev/null", "$H sort out -o link",
        "$H sort out other -o twin", "$H sort <in >/dev/null --report /dev/null", "$H validate out -q -o /dev/null",
        "$H validate /dev/null -q -o /dev/null", "$H report run.json --format text -o /dev/null >/dev/null"})
    EXPECT_EQ(shell_.run(line).exit_code, 0) << line;
}

}  // namespace
}  // namespace hetsort::cli::test
