// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
#include "tests/cli/program.h"

namespace hetsort::cli::test {
namespace {

TEST(ValidateCommand, order_is_reported_as_the_public_validator_does) {
  const Shell shell;
  const Outcome outcome = shell.run("$H gen -a 1000 f && LC_ALL=C sort f > g && $H validate g");
  EXPECT_EQ(outcome.exit_code, 0);
  EXPECT_EQ(outcome.err,
            "Records: 1000\nChecksum: 1f5dfb3631a\nDuplicate keys: 0\nSUCCESS - all records are in order\n");
  EXPECT_EQ(outcome.out, "");
}

TEST(ValidateCommand, disorder_is_reported_as_the_public_validator_does) {
  const Shell shell;
  const Outcome outcome = shell.run("$H gen 1000 f && $H validate f");
  EXPECT_EQ(outcome.exit_code, 1);
  EXPECT_EQ(outcome.err,
            "First unordered record is record 2\nRecords: 1000\nChecksum: 1ea6370b955\n"
            "ERROR - there are 483 unordered records\n");
}

TEST(ValidateCommand, quiet_shows_the_result_by_the_exit_status_alone) {
  const Shell shell;
  shell.run("$H gen 1000 f && $H gen --keys sorted 1000 g");
  EXPECT_EQ(shell.run("$H validate -q f").exit_code, 1);
  EXPECT_EQ(shell.run("$H validate -q f").err, "");
  EXPECT_EQ(shell.run("$H validate -q g").exit_code, 0);
  EXPECT_EQ(shell.run("$H validate -q g").err, "");
}

TEST(ValidateCommand, no_record_is_in_order_and_said) {
  const Shell shell;
  shell.write("f", "");
  for (const char* line :
       {"$H validate f", "$H validate /dev/null", "$H validate - < /dev/null", "$H validate f f", "$H validate -s f"}) {
    const Outcome outcome = shell.run(line);
    EXPECT_EQ(outcome.exit_code, 0) << line;
    EXPECT_NE(outcome.err.find("0 records"), std::string::npos) << line;
  }
}

TEST(ValidateCommand, standard_input_is_judged_from_where_it_stands) {
  const Shell shell;
  shell.run("$H gen --keys sorted 9000 f && $H gen 1000 g");
  EXPECT_EQ(shell.run("cat f | $H validate -").exit_code, 0);
  EXPECT_EQ(shell.run("$H validate - < g").exit_code, 1);
  EXPECT_NE(shell.run("{ head -c 400000 > /dev/null; $H validate -; } < f").err.find("Records: 5000"),
            std::string::npos);
}

TEST(ValidateCommand, what_cannot_be_judged_is_an_error_even_if_quiet) {
  const Shell shell;
  shell.run("$H gen 5 f && printf 123 >> f");
  EXPECT_TRUE(failed_with(shell.run("$H validate f"), "f: partial record found at end (3 bytes at offset 500)"));
  EXPECT_TRUE(failed_with(shell.run("$H validate -q f"), "partial record found at end"));
  EXPECT_TRUE(failed_with(shell.run("cat f | $H validate -"), "standard input: partial record found at end"));
  EXPECT_TRUE(failed_with(shell.run("$H validate missing"), "missing: No such file or directory"));
  EXPECT_TRUE(failed_with(shell.run("$H validate ."), "Is a directory"));
  EXPECT_TRUE(failed_with(shell.run("$H validate - <&-"), "standard input"));
  EXPECT_TRUE(failed_with(shell.run("head -c 100 f > g; $H validate -s g"), "partial partition summary found at end"));
  EXPECT_TRUE(failed_with(shell.run("HETSORT_FAULTS=read:1:EIO $H validate f"), "f"));
}

TEST(ValidateCommand, bad_requests_are_errors) {
  const Shell shell;
  shell.write("f", "");
  EXPECT_TRUE(failed_with(shell.run("$H validate"), "FILE"));
  EXPECT_TRUE(failed_with(shell.run("$H validate -i f"), "-i is not supported"));
  EXPECT_TRUE(failed_with(shell.run("$H validate -x f"), "unknown option"));
  EXPECT_TRUE(failed_with(shell.run("$H validate --record-size 0 f"), "--record-size wants 1 to 1048576"));
  EXPECT_TRUE(failed_with(shell.run("$H validate --record-size 1048577 f"), "--record-size wants"));
  EXPECT_TRUE(failed_with(shell.run("$H validate --key 91:10 f"), "key 91:10 reaches beyond the 100-byte record"));
  EXPECT_TRUE(failed_with(shell.run("$H validate --key 18446744073709551615:1 f"), "reaches beyond"));
  EXPECT_TRUE(failed_with(shell.run("$H validate --key 0:0 f"), "key length 0"));
  EXPECT_TRUE(failed_with(shell.run("$H validate --record-size 9999 --key 0:4097 f"), "key length 4097"));
  EXPECT_TRUE(failed_with(shell.run("$H validate --key 5 f"), "OFFSET:LENGTH"));
  EXPECT_TRUE(failed_with(shell.run("$H validate --key x:5 f"), "'x:5' is not OFFSET:LENGTH"));
  EXPECT_TRUE(failed_with(shell.run("$H validate -s --record-size 8 --key 0:8 f"), "exclude"));
  EXPECT_TRUE(failed_with(shell.run("$H validate -o s --key 0:8 f"), "exclude"));
}

TEST(ValidateCommand, names_in_the_order_of_the_shell_get_a_hint) {
  const Shell shell;
  shell.run(
      "$H gen --keys sorted 400 all && split -b 10000 -a 2 --numeric-suffixes=8 all o. && mv o.08 o.8 && mv o.09 o.9");
  const Outcome outcome = shell.run("$H validate o.*");
  EXPECT_EQ(outcome.exit_code, 1) << outcome;
  EXPECT_NE(outcome.err.find("note: FILEs are judged in the order given, in which o.11 stands before o.8"),
            std::string::npos)
      << outcome;
  EXPECT_EQ(shell.run("$H validate o.8 o.9 o.10 o.11").err.find("note"), std::string::npos);
  EXPECT_EQ(shell.run("$H validate o.9 o.8").err.find("note"), std::string::npos);
}

TEST(ValidateCommand, short_records_are_their_own_key_as_for_sort) {
  const Shell shell;
  shell.run("$H gen 1000 in && $H sort --record-size 8 in -o out");
  EXPECT_EQ(shell.run("$H validate --record-size 8 out").exit_code, 0);
  EXPECT_EQ(shell.run("$H validate --record-size 8 --key 0:8 out").exit_code, 0);
}

TEST(ValidateCommand, a_summary_that_cannot_be_written_is_reported_before_the_records_are_read) {
  const Shell shell;
  shell.run("$H gen 100 f");
  const Outcome outcome = shell.run("HETSORT_FAULTS=read:1:EIO $H validate f -o none/s");
  EXPECT_TRUE(failed_with(outcome, "none/s: No such file")) << outcome;
  EXPECT_TRUE(failed_with(shell.run("$H validate - - <f"), "standard input ('-') can be read only once"));
  EXPECT_TRUE(failed_with(shell.run("$H report - - -o r <f"), "standard input ('-') can be read only once"));
}

TEST(ValidateCommand, summaries_of_partitions_join_to_that_of_the_whole) {
  const Shell shell;
  shell.run("$H gen -a --keys few:9 1000 u && LC_ALL=C sort u > f && head -c 30000 f > a && tail -c +30001 f > b");
  EXPECT_EQ(shell.run("$H validate -q -o sf f && $H validate -q -o sa a && $H validate -q -o sb b").exit_code, 0);
  EXPECT_EQ(shell.file("sf").size(), 280U);
  EXPECT_EQ(shell.run("cat sa sb > sums && $H validate -s -o joined sums && cmp joined sf").exit_code, 0);
  EXPECT_EQ(shell.run("$H validate -q -s -o joined sa sb && cmp joined sf").exit_code, 0);
  EXPECT_EQ(shell.run("$H validate -q -o joined a b && cmp joined sf").exit_code, 0);
  const Outcome disorder = shell.run("$H validate -s sb sa");
  EXPECT_EQ(disorder.exit_code, 1);
  EXPECT_NE(disorder.err.find("First unordered record is record 700\n"), std::string::npos);
}

TEST(ValidateCommand, summary_is_also_written_of_records_in_no_order_but_not_of_what_is_unreadable) {
  const Shell shell;
  shell.run("$H gen 100 f && printf x > g");
  EXPECT_EQ(shell.run("$H validate -o s f").exit_code, 1);
  EXPECT_EQ(shell.file("s").size(), 280U);
  shell.write("s", "old");
  EXPECT_EQ(shell.run("$H validate -o s g").exit_code, 2);
  EXPECT_EQ(shell.file("s"), "old");
  EXPECT_TRUE(failed_with(shell.run("$H validate -q -o /dev/full f"), "/dev/full"));
}

TEST(ValidateCommand, other_records_and_keys_are_judged) {
  const Shell shell;
  shell.write("f", "xaayabyba");
  EXPECT_EQ(shell.run("$H validate --record-size 3 --key 1:2 f").exit_code, 0);
  EXPECT_NE(shell.run("$H validate --record-size 3 --key 0:1 f").err.find("Duplicate keys: 1"), std::string::npos);
  EXPECT_EQ(shell.run("$H validate --record-size 3 --key 2:1 f").exit_code, 1);
  EXPECT_TRUE(failed_with(shell.run("$H validate --record-size 2 --key 0:1 f"), "1 bytes at offset 8"));
}

}  // namespace
}  // namespace hetsort::cli::test
