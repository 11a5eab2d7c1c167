// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
#include "tests/cli/program.h"

namespace hetsort::cli::test {
namespace {

TEST(GenCommand, checksum_is_the_only_line) {
  const Shell shell;
  const Outcome outcome = shell.run("$H gen -c 1000000 f");
  EXPECT_EQ(outcome.exit_code, 0) << outcome;
  EXPECT_EQ(outcome.err, "7a0e0d4868cd4\n");
  EXPECT_EQ(outcome.out, "");
  EXPECT_EQ(shell.run("stat -c %s f").out, "100000000\n");
}

TEST(GenCommand, letters_may_be_combined_and_carry_their_value) {
  const Shell shell;
  shell.run("$H gen -a -s -b 77 50 expected");
  ASSERT_EQ(shell.file("expected").substr(12, 32), "0000000000000000000000000000004D");
  for (const char* letters : {"-as -b77", "-asb77", "-sab 77", "-b77 -sa", "-a -s -b77 -j1"}) {
    EXPECT_EQ(shell.run(std::string("$H gen ") + letters + " 50 f").exit_code, 0) << letters;
    EXPECT_EQ(shell.file("f"), shell.file("expected")) << letters;
  }
}

TEST(GenCommand, ranges_concatenate_to_the_whole) {
  const Shell shell;
  EXPECT_EQ(shell.run("$H gen 1000 all && $H gen 300 a && $H gen -b300 700 b && cat a b | cmp - all").exit_code, 0);
  const std::string near_the_end = "340282366920938463463374607431768211000";
  EXPECT_EQ(shell.run("$H gen -b" + near_the_end + " 455 f").exit_code, 0);
  EXPECT_EQ(shell.file("f").size(), 45'500U);
}

TEST(GenCommand, standard_output_gets_the_same_bytes) {
  const Shell shell;
  shell.run("$H gen 30000 f");
  for (const char* line :
       {"$H gen 30000 - | cmp - f", "$H gen 30000 /dev/stdout | cmp - f", "$H gen 30000 - > g; cmp f g",
        "$H gen 30000 /dev/stdout > g; cmp f g", "$H gen 1 - > g; $H gen -b1 29999 - >> g; cmp f g"})
    EXPECT_EQ(shell.run(line).exit_code, 0) << line;
}

TEST(GenCommand, closed_pipe_ends_it) {
  const Shell shell;
  const Outcome outcome = shell.run("$H gen 18446744073709551615 - | head -c 250 | wc -c");
  EXPECT_EQ(outcome.out.find("250"), outcome.out.find_first_not_of(' '));
}

TEST(GenCommand, zero_records_make_an_empty_file) {
  const Shell shell;
  EXPECT_EQ(shell.run("$H gen -c 0 f").err, "0\n");
  EXPECT_EQ(shell.names(), Names{"f"});
  EXPECT_EQ(shell.file("f"), "");
}

TEST(GenCommand, bad_requests_are_errors_that_make_nothing) {
  const Shell shell;
  EXPECT_TRUE(failed_with(shell.run("$H gen"), "NUM_RECS"));
  EXPECT_TRUE(failed_with(shell.run("$H gen 10"), "NUM_RECS and FILE"));
  EXPECT_TRUE(failed_with(shell.run("$H gen 10 f g"), "two operands"));
  EXPECT_TRUE(failed_with(shell.run("$H gen 10x f"), "'10x' is not a decimal number"));
  EXPECT_TRUE(failed_with(shell.run("$H gen 1.5 f"), "'1.5' is not a decimal number"));
  EXPECT_TRUE(failed_with(shell.run("$H gen '' f"), "not a decimal number"));
  EXPECT_TRUE(failed_with(shell.run("$H gen +5 f"), "not a decimal number"));
  EXPECT_TRUE(failed_with(shell.run("$H gen -- -5 f"), "'-5' is not a decimal number"));
  EXPECT_TRUE(failed_with(shell.run("$H gen -5 f"), "-5"));
  EXPECT_TRUE(failed_with(shell.run("$H gen 18446744073709551616 f"), "does not fit 64 bits"));
  EXPECT_TRUE(failed_with(shell.run("$H gen -bx 5 f"), "-b 'x'"));
  EXPECT_TRUE(failed_with(shell.run("$H gen -b-1 5 f"), "-b '-1'"));
  EXPECT_TRUE(failed_with(shell.run("$H gen -b340282366920938463463374607431768211456 5 f"), "128 bits"));
  EXPECT_TRUE(failed_with(shell.run("$H gen 5 f -b"), "-b"));
  EXPECT_TRUE(failed_with(shell.run("$H gen -j0 5 f"), "-j wants 1 to 1024, not 0"));
  EXPECT_TRUE(failed_with(shell.run("$H gen --kyes few:2 5 f"), "did you mean '--keys'"));
  EXPECT_TRUE(failed_with(shell.run("$H gen --keys some 5 f"), "unknown keys 'some'"));
  EXPECT_TRUE(failed_with(shell.run("$H gen --keys few:0 5 f"), "few:K"));
  EXPECT_TRUE(failed_with(shell.run("$H gen -s --keys equal 5 f"), "exclude"));
  EXPECT_TRUE(failed_with(shell.run("$H gen -t4 5 f"), "unknown option '-t'; hetsort has -j"));
  EXPECT_TRUE(failed_with(shell.run("$H gen 5 f,buf"), "FILE 'f,buf': hetsort has no ',buf'"));
  EXPECT_TRUE(failed_with(shell.run("$H gen 92233720368547759 f"), "do not fit a file"));
  EXPECT_TRUE(failed_with(shell.run("$H gen 90000000000000000 f"), "output folder"));
  EXPECT_EQ(shell.names(), Names{});
}

TEST(GenCommand, every_kind_of_keys_is_made_and_combines_with_ascii_and_checksum) {
  const Shell shell;
  for (const char* keys : {"uniform", "sorted", "reverse", "equal", "few:3", "zipf:1.1"}) {
    const std::string kind = keys;
    EXPECT_EQ(shell.run("$H gen -c --keys " + kind + " 1000 f && $H gen -a --keys=" + kind + " 1000 g").exit_code, 0)
        << kind;
    EXPECT_EQ(shell.file("f").size() + shell.file("g").size(), 200'000U);
  }
  EXPECT_EQ(shell.run("$H gen --keys sorted 1000 f && $H validate -q f").exit_code, 0);
  EXPECT_NE(shell.run("$H gen -a --keys equal 1000 f && $H validate f").err.find("Duplicate keys: 999"),
            std::string::npos);
}

TEST(GenCommand, unwritable_outputs_are_errors_with_their_path) {
  const Shell shell;
  EXPECT_TRUE(failed_with(shell.run("$H gen 100000 /dev/full"), "/dev/full: No space left on device"));
  EXPECT_TRUE(failed_with(shell.run("$H gen 100000 - > /dev/full"), "No space left on device"));
  EXPECT_TRUE(failed_with(shell.run("$H gen 10 - >&-"), "standard output"));
  EXPECT_TRUE(failed_with(shell.run("$H gen 10 missing/f"), "missing/f"));
  EXPECT_TRUE(failed_with(shell.run("$H gen 10 ."), "directory"));
}

TEST(GenCommand, folder_without_rights_is_an_error) {
  const Shell shell;
  // A copy, since the other user may not reach the program where it is.
  shell.run("mkdir locked && chmod 555 locked && cp $H program");
  const int status = io::test::as_nobody(
      [&] { return failed_with(shell.run("./program gen 10 locked/f"), "locked/f: Permission denied") ? 0 : 1; });
  EXPECT_EQ(status, 0);
  EXPECT_EQ(shell.run("ls -A locked").out, "");
}

TEST(GenCommand, failure_midway_leaves_the_old_file_and_no_other) {
  const Shell shell;
  shell.write("f", "old");
  for (const char* faults :
       {"write:1:ENOSPC", "write:3:EIO", "write:4+:ENOSPC", "sync:1:EIO", "link:1:EIO", "rename:1:EIO"}) {
    const Outcome outcome = shell.run(std::string("HETSORT_FAULTS=") + faults + " $H gen 100000 f");
    EXPECT_TRUE(failed_with(outcome, "f: ")) << faults;
    EXPECT_EQ(shell.names(), Names{"f"}) << faults;
    EXPECT_EQ(shell.file("f"), "old") << faults;
  }
}

TEST(GenCommand, short_and_interrupted_writes_do_not_matter) {
  const Shell shell;
  shell.run("$H gen 100000 f");
  for (const char* faults : {"write:~2:short", "write:~3:EINTR"})
    EXPECT_EQ(shell.run(std::string("HETSORT_FAULTS=") + faults + " $H gen 100000 g && cmp f g").exit_code, 0)
        << faults;
}

TEST(GenCommand, killed_midway_leaves_nothing) {
  const Shell shell;
  for (const char* signal : {"INT", "TERM", "KILL"}) {
    // Its second write takes a minute: whenever the signal comes, the output is not complete.
    shell.run(std::string("HETSORT_FAULTS=write:2:delay60000 timeout -s ") + signal + " 0.1 $H gen 100000 f");
    EXPECT_EQ(shell.names(), Names{}) << signal;
  }
}

TEST(GenCommand, help_names_every_option) {
  const Shell shell;
  const Outcome outcome = shell.run("$H gen --help");
  EXPECT_EQ(outcome.exit_code, 0);
  for (const char* option : {"-a", "-b", "-c", "-s", "--keys", "--threads", "--no-sync"})
    EXPECT_NE(outcome.out.find(option), std::string::npos) << option;
}

}  // namespace
}  // namespace hetsort::cli::test
