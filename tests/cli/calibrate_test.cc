// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
#include "tests/cli/program.h"

namespace hetsort::cli::test {
namespace {

TEST(CalibrateCommand, one_process_writes_a_file_that_plan_gen_and_sort_take) {
  const Shell shell;
  const Outcome outcome = shell.run("$H calibrate -o c.toml --max-seconds 1 -q");
  EXPECT_EQ(outcome.exit_code, 0) << outcome;
  EXPECT_EQ(outcome.err, "");
  EXPECT_EQ(outcome.out, "");
  EXPECT_EQ(shell.names(), (Names{"c.toml"}));
  const Outcome use = shell.run(
      "$H plan -n 100000 --cluster c.toml && $H gen 1000 in --cluster c.toml && "
      "$H sort in -o out --cluster c.toml && $H validate -q out");
  EXPECT_EQ(use.exit_code, 0) << use << shell.file("c.toml");
}

TEST(CalibrateCommand, measures_other_records_and_says_which) {
  const Shell shell;
  const Outcome measured = shell.run("$H calibrate -o c.toml --max-seconds 1 -q --record-size 16 --key 8:u64:desc");
  EXPECT_EQ(measured.exit_code, 0) << measured;
  EXPECT_NE(shell.file("c.toml").find("\nrecord_size = 16\nkeys = [\"8:u64:desc\"]\n"), std::string::npos)
      << shell.file("c.toml");
  EXPECT_EQ(shell.run("$H plan -n 1000 --cluster c.toml --record-size 16").err, "");
  const Outcome other = shell.run("$H plan -n 1000 --cluster c.toml");
  EXPECT_EQ(other.exit_code, 0) << other;
  EXPECT_EQ(
      other.err,
      "hetsort: note: c.toml: its costs were measured for 16-byte records with the keys 8:u64:desc, not for 100-byte "
      "records: the prediction is rougher\n");
}

TEST(CalibrateCommand, the_file_can_go_to_standard_output) {
  const Shell shell;
  const Outcome outcome =
      shell.run("mkdir t; $H calibrate -o - -T t --max-seconds 1 -q > c.toml && $H plan -n 10 --cluster c.toml");
  EXPECT_EQ(outcome.exit_code, 0) << outcome;
}

TEST(CalibrateCommand, memory_for_less_than_a_record_makes_the_smallest_file) {
  const Shell shell;
  const Outcome outcome =
      shell.run("$H calibrate -S 100b --max-seconds 1 -o c.toml -T . -q && $H plan -n 10 --cluster c.toml");
  EXPECT_EQ(outcome.exit_code, 0) << outcome;
  EXPECT_EQ(shell.names(), (Names{"c.toml"}));
}

TEST(CalibrateCommand, mistakes_are_reported_before_anything_is_measured) {
  const Shell shell;
  shell.write("c.toml", "as it was\n");
  EXPECT_TRUE(failed_with(shell.run("$H calibrate -o c.toml --key 8:u64 --record-size 8"), "8"));
  EXPECT_TRUE(failed_with(shell.run("$H calibrate"), "calibrate wants -o CLUSTER.toml"));
  EXPECT_TRUE(failed_with(shell.run("$H calibrate -o c.toml x"), "no operands"));
  EXPECT_TRUE(failed_with(shell.run("$H calibrate -o c.toml --max-seconds 0"), "--max-seconds '0'"));
  EXPECT_TRUE(failed_with(shell.run("$H calibrate -o c.toml --max-seconds nan"), "--max-seconds 'nan'"));
  EXPECT_TRUE(failed_with(shell.run("$H calibrate -o c.toml -T none"), "none: No such file"));
  EXPECT_TRUE(failed_with(shell.run("$H calibrate -o none/c.toml"), "none/c.toml"));
  EXPECT_TRUE(failed_with(shell.run("$H calibrate -o c.toml --max-secnods 3"), "did you mean '--max-seconds'"));
  EXPECT_EQ(shell.file("c.toml"), "as it was\n");
  EXPECT_EQ(shell.names(), (Names{"c.toml"}));
}

TEST(CalibrateCommand, a_disk_that_fails_leaves_no_file) {
  const Shell shell;
  EXPECT_TRUE(
      failed_with(shell.run("mkdir t; HETSORT_FAULTS=write:3+:ENOSPC $H calibrate -o c.toml -T t --max-seconds 1"),
                  "No space left on device"));
  EXPECT_EQ(shell.names(), (Names{"t"}));
  EXPECT_EQ(shell.run("ls -A t").out, "");
}

TEST(CalibrateCommand, a_signal_leaves_nothing_behind) {
  const Shell shell;
  const Outcome outcome = shell.run(
      "mkdir t; $H calibrate -o c.toml -T t --max-seconds 30 -q & p=$!; "
      "for i in $(seq 200); do [ -n \"$(ls -A t)\" ] && break; sleep 0.05; done; ls -A t | wc -l; kill -TERM $p; wait "
      "$p");
  EXPECT_EQ(outcome.exit_code, 128 + 15) << outcome;
  EXPECT_NE(outcome.out, "0\n");
  EXPECT_EQ(shell.names(), (Names{"t"}));
  EXPECT_EQ(shell.run("ls -A t").out, "");
}

}  // namespace
}  // namespace hetsort::cli::test
