// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
//
// Standard output that other processes write to as well, and standard error that is the same file.
#include "tests/cli/program.h"

namespace hetsort::cli::test {
namespace {

constexpr int kRepetitions = 5;

class StandardOutput : public ::testing::Test {
 protected:
  StandardOutput() {
    shell_.run(
        "export LC_ALL=C; for i in 1 2 3 4; do seq $i 7 20000 | sort >x$i; shuf x$i >u$i; done; sort x? >all\n"
        "(cat x1 x2; echo begin; echo end) | sort >framed\n"
        "seq 3000 | awk '{ print ($1 % 30 ? \"chr\" : \"#\") $1 }' >table; sort table >sorted-table\n"
        "$H gen 3000 r1; $H gen -b 3000 2000 r2; $H sort r1 -o s1; $H sort r2 -o s2; cat s1 s2 >s12; cat s2 s1 >s21");
  }

  /// Runs `line`, whose standard output is the file `got`; then `judge` must succeed.
  void expect(const std::string& line, const std::string& judge) const {
    for (int i = 0; i < kRepetitions; ++i) {
      const Outcome outcome =
          shell_.run("export H LC_ALL=C; { " + line + "; } >got && sort got >sorted && { " + judge + "; }");
      ASSERT_EQ(outcome.exit_code, 0) << line << ": " << outcome;
    }
  }

  Shell shell_;
};

TEST_F(StandardOutput, of_several_processes_loses_no_byte) {
  expect("$H sort --lines -q u1 & $H sort --lines -q -o - u2 & $H sort --lines -q u3 & $H sort --lines -q u4 & wait",
         "cmp sorted all");
  expect("echo begin; $H sort --lines -q u1 & $H sort --lines -q <u2 & wait; echo end",
         "cmp sorted framed && head -n 1 got | grep -q begin && tail -n 1 got | grep -q end");
  expect("ls u? | xargs -P4 -n1 $H sort --lines -q", "cmp sorted all");
  expect("awk -v sort=\"$H sort --lines -q\" '/^#/ { print; next } { print | sort }' table", "cmp sorted sorted-table");
  expect(
      "$H sort --lines -m -q x1 & cat x2 | $H sort --lines -m -q & $H sort --lines -q -u u3 & "
      "$H sort --lines -q -o /dev/stdout u4 & wait",
      "cmp sorted all");
  expect("$H sort --lines -q --io buffered u1 & $H sort --lines -q -o /dev/fd/1 u2 & cat u3; cat u4; wait",
         "cmp sorted all");
  expect("$H gen -q 50 - & $H gen -q 50 /dev/stdout & $H validate -q -o - s1 & wait",
         "$H validate -q -o sum s1 && test $(stat -c %s got) = $((10000 + $(stat -c %s sum)))");
}

TEST_F(StandardOutput, holds_the_records_of_each_of_several_sorts_in_one_piece) {
  expect("$H sort -q r1 & $H sort -q r2 & wait", "cmp -s got s12 || cmp got s21");
  expect("$H sort -q -S 4M -j 2 r1 & $H sort -q -S 4M -j 2 r2 & wait", "cmp -s got s12 || cmp got s21");
}

TEST_F(StandardOutput, is_taken_in_one_step_before_the_first_record_is_written) {
  expect("(HETSORT_FAULTS=write:1:delay400 $H sort -q r1) & sleep 0.2; cat r2; wait",
         "test $(stat -c %s got) = 500000 && { tail -c 200000 got | cmp -s - r2 || head -c 200000 got | cmp - r2; }");
}

TEST_F(StandardOutput, goes_on_where_it_was_also_with_a_header) {
  const Outcome outcome = shell_.run(
      "printf 'HEAD' >h; cat h r1 >hr; printf 'before' >f; { printf 'x'; $H sort --header 4 hr; printf 'y'; } 1<>f && "
      "{ printf 'x'; cat h s1; printf 'y'; } | cmp - f");
  EXPECT_EQ(outcome.exit_code, 0) << outcome;
  EXPECT_EQ(shell_.run("printf 'a\\nb' >n && { echo x; $H sort --lines -m n n; echo y; } >f && cat f").out,
            "x\na\na\nb\nb\ny\n");
  EXPECT_EQ(
      shell_.run("cat x1 x2 >x; { $H sort --lines x1; $H sort --lines x2; } >>f && tail -n +7 f | cmp - x").exit_code,
      0);
}

TEST_F(StandardOutput, that_is_standard_error_gets_records_only) {
  const std::string slow = "HETSORT_FAULTS=read:1:delay700 ";
  for (const std::string options : {"--progress bar", "-v --explain", "--mpi auto --progress bar -S 4M"}) {
    EXPECT_EQ(shell_.run(slow + "$H sort --lines " + options + " u1 >got 2>&1 && cmp got x1").exit_code, 0) << options;
    EXPECT_EQ(shell_.run(slow + "$H sort --lines " + options + " u1 2>&1 | cmp - x1").exit_code, 0) << options;
    EXPECT_EQ(shell_.run(slow + "$H sort --lines " + options + " u1 -o /dev/stderr 2>got; cmp got x1").exit_code, 0);
    EXPECT_EQ(shell_
                  .run(slow + "$H sort --lines " + options +
                       " u1 -o out --report /dev/stderr 2>got && "
                       "grep -q '^{.*}$' got && ! grep -v '^{' got")
                  .exit_code,
              0)
        << options;
  }
  EXPECT_EQ(shell_.run("$H gen --progress bar 3000 - >got 2>&1 && cmp got r1").exit_code, 0);
  EXPECT_EQ(shell_.run("$H validate -o - s1 >got 2>&1 && $H validate -q -o sum s1 && cmp got sum").exit_code, 0);
  EXPECT_EQ(shell_.run("$H calibrate --max-seconds 1 -T . -o - >got 2>&1 && ! grep hetsort: got").exit_code, 0);
  // Where it is another file, messages are there.
  EXPECT_NE(shell_.run("$H sort --lines -v u1 -o out").err.find("hetsort: publish"), std::string::npos);
}

TEST_F(StandardOutput, that_is_standard_error_has_an_error_behind_the_records) {
  EXPECT_EQ(shell_.run("$H sort --lines missing >got 2>&1; test $? = 2 && cat got").out,
            "hetsort: open missing: No such file or directory; output untouched\n");
  const Outcome outcome = shell_.run(
      "HETSORT_FAULTS=write:1:EIO $H sort -q r1 >got 2>&1; test $? = 2 && tail -c +300001 got; "
      "cat x1 | HETSORT_FAULTS=write:1:EIO $H sort --lines -m - x2 >got 2>&1; test $? = 2 && cat got");
  EXPECT_TRUE(outcome.out.starts_with("hetsort: write standard output: Input/output error")) << outcome.out;
  EXPECT_NE(outcome.out.find("\nhetsort: write standard output: Input/output error"), std::string::npos) << outcome.out;
  EXPECT_EQ(shell_.run("$H gen -c 10 - >got 2>&1; test $? = 2 && cat got").out,
            "hetsort: -c prints the checksum to standard error, which gets the records: name another FILE\n");
}

TEST_F(StandardOutput, is_not_called_untouched_once_it_has_records) {
  shell_.run("$H gen 100000 big");
  for (const std::string command : {"sort -q big", "gen 100000 -"}) {
    const Outcome outcome = shell_.run("rm -f got; HETSORT_FAULTS=write:2:delay60000 $H " + command +
                                       " >got & until [ -s got ]; do sleep 0.1; done; kill -TERM $!; wait $!");
    EXPECT_EQ(outcome.exit_code, 143) << command << outcome;
    EXPECT_EQ(outcome.err, "hetsort: terminated (SIGTERM)\n") << command;
  }
}

}  // namespace
}  // namespace hetsort::cli::test
