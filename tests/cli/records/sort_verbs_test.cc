// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
//
// The options of sort(1) for records of fixed size.
#include "tests/cli/program.h"

namespace hetsort::cli::test {
namespace {

/// Records of four letters; the first two are the key.
constexpr const char* kLayout = " --record-size 4 --key 0:2 ";

class SortVerbs : public testing::Test {
 protected:
  SortVerbs() {
    shell_.write("in", "bb1.aa1.bb2.cc1.aa2.");
    shell_.write("sorted", "aa1.aa2.bb1.bb2.cc1.");
  }
  std::string sorted(const std::string& words) const {
    const Outcome outcome = shell_.run(std::string("$H sort") + kLayout + words + " -o out");
    EXPECT_EQ(outcome.exit_code, 0) << words << ": " << outcome;
    return shell_.file("out");
  }
  Outcome check(const std::string& words) const { return shell_.run(std::string("$H sort") + kLayout + words); }
  Outcome validate(const std::string& words) const { return shell_.run(std::string("$H validate") + kLayout + words); }

  const Shell shell_;
};

TEST_F(SortVerbs, reverse_keeps_the_input_order_of_equal_keys) {
  EXPECT_EQ(sorted("-r in"), "cc1.bb1.bb2.aa1.aa2.");
  EXPECT_EQ(sorted("--reverse --key 2:1:desc in"), "cc1.bb1.bb2.aa1.aa2.");
  EXPECT_EQ(validate("-r -q out").exit_code, 0);
  EXPECT_EQ(validate("-q out").exit_code, 1);
  EXPECT_EQ(shell_.run("$H gen 1000 g && $H sort -r g -o h && $H validate -q -r h && $H sort -c -r h").exit_code, 0);
}

TEST_F(SortVerbs, unique_keeps_the_first_of_equal_records) {
  EXPECT_EQ(sorted("-u in"), "aa1.bb1.cc1.");
  EXPECT_EQ(sorted("-r -u in --report r"), "cc1.bb1.aa1.");
  EXPECT_NE(shell_.file("r").find("\"unique_records\":3"), std::string::npos) << shell_.file("r");
  EXPECT_EQ(shell_.run(std::string("cat in in | $H sort -u") + kLayout).out, "aa1.bb1.cc1.");
  EXPECT_EQ(shell_.run(std::string("$H sort -u") + kLayout + "in > out; cat out").out, "aa1.bb1.cc1.");
  EXPECT_EQ(validate("-u -q out").exit_code, 0);
  EXPECT_EQ(validate("-q sorted").exit_code, 0);
  EXPECT_EQ(validate("-u -q sorted").exit_code, 1);
  EXPECT_NE(validate("-u sorted").err.find("First unordered record is record 1\n"), std::string::npos);
  EXPECT_NE(validate("-u sorted").err.find("ERROR - there are 2 unordered records"), std::string::npos);
}

TEST_F(SortVerbs, check_reports_the_first_disorder_and_its_place) {
  EXPECT_EQ(check("-c sorted").exit_code, 0);
  EXPECT_EQ(check("-c sorted").err, "");
  EXPECT_EQ(check("-c < sorted").exit_code, 0);
  const Outcome disorder = check("-c in");
  EXPECT_EQ(disorder.exit_code, 1);
  EXPECT_EQ(disorder.err, "hetsort: check in: record 2 at offset 4 is below the record before it\n");
  const Outcome equal = check("--check -u --header 4 sorted");
  EXPECT_EQ(equal.exit_code, 1);
  EXPECT_EQ(check("-c -u sorted").err,
            "hetsort: check sorted: record 2 at offset 4 is not above the record before it\n");
  EXPECT_EQ(equal.err, "hetsort: check sorted: record 3 at offset 12 is not above the record before it\n");
  EXPECT_EQ(check("-C in").exit_code, 1);
  EXPECT_EQ(check("-C in").err, "");
  EXPECT_EQ(check("-C sorted").exit_code, 0);
  EXPECT_TRUE(failed_with(check("-c in -o out"), "-c writes nothing: it excludes -o"));
  EXPECT_TRUE(failed_with(check("-C in sorted"), "-C checks one INPUT, and 'sorted' is a second one"));
  EXPECT_TRUE(failed_with(check("-c missing"), "missing: No such file"));
  EXPECT_TRUE(failed_with(check("-c -m in"), "-c sorts nothing: it excludes -m"));
  EXPECT_TRUE(failed_with(check("-C in --report r"), "-C sorts nothing: it excludes --report"));
}

TEST_F(SortVerbs, merge_needs_sorted_inputs_and_says_where_one_is_not) {
  shell_.write("a", "aa3.cc2.");
  EXPECT_EQ(sorted("-m sorted a"), "aa1.aa2.aa3.bb1.bb2.cc1.cc2.");
  EXPECT_EQ(sorted("-m a sorted"), "aa3.aa1.aa2.bb1.bb2.cc2.cc1.");
  EXPECT_EQ(sorted("-m -u a - < sorted"), "aa3.bb1.cc2.");
  EXPECT_EQ(sorted("-m sorted"), shell_.file("sorted"));
  EXPECT_TRUE(
      failed_with(check("-m sorted in -o out"), "merge in: record 2 at offset 4 is below the record before it"));
  EXPECT_EQ(shell_.file("out"), shell_.file("sorted"));
  EXPECT_EQ(sorted("-m a out"), "aa3.aa1.aa2.bb1.bb2.cc2.cc1.");
  EXPECT_TRUE(failed_with(check("-m a sorted 1<> sorted"), "an INPUT cannot be standard output; name it with -o"));
  EXPECT_EQ(shell_.file("sorted"), "aa1.aa2.bb1.bb2.cc1.");
}

TEST_F(SortVerbs, merge_of_large_files_equals_their_sort) {
  shell_.run("for i in 1 2 3 4 5; do $H gen -b${i}000000 30000 g && $H sort g -o s$i; done; cat s? > all");
  EXPECT_EQ(shell_.run("$H sort all -o expected").exit_code, 0);
  for (const char* const words :
       {"s? -o out", "-S 2M s? -o out", "--io buffered s? > out", "s1 s2 <(cat s3) s4 s5 -o out"}) {
    const Outcome outcome = shell_.run("export H; bash -c '$H sort -m " + std::string(words) + "'");
    EXPECT_EQ(outcome.exit_code, 0) << words << ": " << outcome;
    EXPECT_TRUE(shell_.file("out") == shell_.file("expected")) << words;
  }
  shell_.run("for i in 1 2 3 4 5; do { printf '%07d' $i; cat s$i; } > h$i; done");
  EXPECT_EQ(shell_.run("$H sort -m --header 7 h? -o out && tail -c +8 out | cmp - expected && head -c 7 out").out,
            "0000001");
  EXPECT_TRUE(failed_with(shell_.run("$H sort -m -S 100K s? -o out"), "merging 5 INPUTs needs"));
}

TEST_F(SortVerbs, batch_size_limits_how_many_runs_are_merged_at_once) {
  shell_.run("$H gen 100000 g && $H sort g -o expected");
  const auto trace_of = [&](const std::string& words) {
    const Outcome outcome = shell_.run("$H sort -S 1M --progress none " + words + " g -o out --trace t");
    EXPECT_EQ(outcome.exit_code, 0) << outcome;
    EXPECT_TRUE(shell_.file("out") == shell_.file("expected")) << words;
    return shell_.file("t");
  };
  EXPECT_EQ(trace_of("").find("merge to fewer runs"), std::string::npos);
  EXPECT_NE(trace_of("--batch-size 2").find("merge to fewer runs"), std::string::npos);
  EXPECT_NE(trace_of("--batch-size=2 -T .").find("merge to fewer runs"), std::string::npos);
}

TEST_F(SortVerbs, synonyms_mean_what_they_mean_in_sort) {
  EXPECT_EQ(sorted("--parallel 1 --buffer-size 1M --temporary-directory . -s in"), shell_.file("sorted"));
  EXPECT_EQ(sorted("--parallel=2 --buffer-size=1M --temporary-directory=. --stable in"), shell_.file("sorted"));
  EXPECT_EQ(shell_.run("printf 'in\\0in\\0' > names").exit_code, 0);
  EXPECT_EQ(sorted("-u --files0-from names"), "aa1.bb1.cc1.");
  EXPECT_EQ(sorted("-u --files0-from - < names"), "aa1.bb1.cc1.");
  EXPECT_TRUE(failed_with(check("--files0-from names in"), "--files0-from excludes other INPUTs, such as 'in'"));
  EXPECT_TRUE(failed_with(check("--files0-from /dev/null"), "/dev/null: it has no names"));
  EXPECT_EQ(shell_.run("printf -- '-\\0' > names").exit_code, 0);
  EXPECT_TRUE(failed_with(check("--files0-from - < names"), "standard input ('-') can be read only once"));
  EXPECT_TRUE(failed_with(check("--files0-from /dev/zero"), "--files0-from /dev/zero: name number 1 is empty"));
  EXPECT_TRUE(failed_with(check("--files0-from /dev/urandom"), "--files0-from /dev/urandom: name number "));
  shell_.write("names", std::string(4096, 'y'));
  EXPECT_TRUE(failed_with(check("--files0-from names"), "name number 1 is longer than 4095 bytes"));
  EXPECT_TRUE(failed_with(check("-u --verify-output in -o out"), "it excludes -u"));
  EXPECT_TRUE(failed_with(check("-u --checksum in -o out"), "it excludes -u"));
}

TEST_F(SortVerbs, an_unsupported_option_names_the_alternative) {
  const auto refused = [&](const std::string& words, const std::string& message) {
    EXPECT_TRUE(failed_with(shell_.run("$H sort " + words + " in -o out"), message)) << words;
  };
  refused("--compress-program=gzip", "hetsort has --compress-spill");
  refused("--batch-size=1", "--batch-size");
}

}  // namespace
}  // namespace hetsort::cli::test
