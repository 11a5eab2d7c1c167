// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
//
// Inputs that are sorted already and larger than memory: they are read once and written once.
#include <nlohmann/json.hpp>

#include "tests/cli/program.h"

namespace hetsort::cli::test {
namespace {

class SortedInput : public testing::Test {
 protected:
  SortedInput() { shell_.run("$H gen 200000 random && $H sort random -o sorted"); }
  /// Sorts with little memory and returns how many bytes spilled. The output must be that of a sort in memory.
  std::uint64_t spilled_bytes(const std::string& words, const std::string& memory = "4M") const {
    const Outcome large = shell_.run("$H sort " + words + " -o expected");
    EXPECT_EQ(large.exit_code, 0) << large;
    const Outcome small = shell_.run("$H sort -S " + memory + " -j2 --progress none " + words + " -o out --report r");
    EXPECT_EQ(small.exit_code, 0) << small;
    EXPECT_TRUE(shell_.file("out") == shell_.file("expected")) << words;
    return nlohmann::json::parse(shell_.file("r")).at("ranks").at(0).at("bytes_spilled").get<std::uint64_t>();
  }

  const Shell shell_;
};

TEST_F(SortedInput, is_merged_and_spills_nothing) {
  EXPECT_GT(spilled_bytes("random"), 0U);
  EXPECT_EQ(spilled_bytes("sorted"), 0U);
  EXPECT_EQ(spilled_bytes("--verify-output sorted sorted sorted"), 0U);
  EXPECT_GT(spilled_bytes("sorted random"), 0U);
}

TEST_F(SortedInput, in_reverse_is_read_from_its_end) {
  EXPECT_EQ(spilled_bytes("-r sorted"), 0U);
  EXPECT_EQ(shell_.run("$H sort -r random -o reversed").exit_code, 0);
  EXPECT_EQ(spilled_bytes("reversed"), 0U);
  EXPECT_EQ(spilled_bytes("reversed reversed --io buffered"), 0U);
  shell_.run("{ printf 0123456; cat reversed; } > with_header");
  EXPECT_EQ(spilled_bytes("--header 7 with_header"), 0U);
  // Two records with one key in the middle: in reverse they would change places, unless all their bytes are equal.
  shell_.run("{ head -c 10000000 reversed; tail -c +9999901 reversed; } > twice");
  EXPECT_EQ(spilled_bytes("twice"), 0U);
  shell_.run(
      "{ head -c 10000000 reversed; tail -c +9999901 reversed | head -c 99; printf !; tail -c +10000001 reversed; } "
      "> with_equal");
  EXPECT_GT(spilled_bytes("with_equal"), 0U);
}

TEST_F(SortedInput, in_stretches_is_merged) {
  shell_.run("{ printf 0123456; cat sorted sorted sorted; } > with_header");
  EXPECT_EQ(spilled_bytes("--header 7 with_header"), 0U);
  shell_.run("$H sort -r random -o reversed && cat reversed reversed > stretches");
  EXPECT_EQ(spilled_bytes("stretches"), 0U);
  EXPECT_EQ(shell_.run("seq 1000000 1999999 > ascending && cat ascending ascending > stretches").exit_code, 0);
  EXPECT_EQ(spilled_bytes("--lines stretches"), 0U);
}

TEST_F(SortedInput, as_a_part_of_the_input_stays_where_it_is) {
  shell_.run("cat random sorted sorted > mixed && cat random random random > unsorted");
  // With so much memory all runs are merged at once.
  const std::uint64_t unsorted = spilled_bytes("unsorted", "24M");
  EXPECT_LT(spilled_bytes("mixed", "24M"), unsorted * 3 / 4);
  EXPECT_LT(spilled_bytes("--io buffered mixed", "24M"), unsorted * 3 / 4);
  EXPECT_EQ(shell_.run("seq 1000000 1999999 > ascending && seq 99999 | shuf > lines && cat lines ascending > mixed")
                .exit_code,
            0);
  EXPECT_LT(spilled_bytes("--lines mixed"), 4'000'000U);
}

TEST_F(SortedInput, of_many_equal_keys_keeps_the_order_of_the_input) {
  EXPECT_EQ(shell_.run("seq -w 1000000 | sed 's/./same key, &/' > equal").exit_code, 0);
  EXPECT_EQ(spilled_bytes("--record-size 18 --key 0:8 equal equal"), 0U);
}

TEST_F(SortedInput, with_a_record_out_of_place_is_sorted_after_all) {
  // The last but one of the records is too low to be there; no sample finds it.
  shell_.run("head -c 19999800 sorted > almost; head -c 100 sorted >> almost; tail -c 100 sorted >> almost");
  EXPECT_GT(spilled_bytes("almost"), 0U);
  shell_.run("{ printf 0123456; cat almost; } > with_header");
  EXPECT_GT(spilled_bytes("--header 7 with_header"), 0U);
  shell_.run("{ printf 0123456; cat sorted; } > with_header");
  EXPECT_EQ(spilled_bytes("--header 7 with_header"), 0U);
}

/// A folder with 100 files of sorted lines or records, and a limit of open files far below that.
class ManySortedInputs : public testing::Test {
 protected:
  ManySortedInputs() {
    shell_.run(
        "$H gen 20000 in && mkdir d l && split -a 3 -b 20000 in d/ && for f in d/*; do $H sort -q $f -o $f; done");
    shell_.run(
        "seq 30000 | LC_ALL=C sort -R --random-source=in >lines && echo x >>lines && split -n l/100 -a 3 lines l/ && "
        "for f in l/*; do LC_ALL=C sort -n $f -o $f; done");
  }
  /// Merges and expects what a sort of the same files writes.
  void expect_merged(const std::string& words) const {
    const Outcome sorted = shell_.run("$H sort -q " + words + " -o expected");
    EXPECT_EQ(sorted.exit_code, 0) << sorted;
    const Outcome merged = shell_.run("ulimit -n 48; $H sort -q -m -T . " + words + " -o out --report r");
    EXPECT_EQ(merged.exit_code, 0) << words << ": " << merged;
    EXPECT_TRUE(shell_.file("out") == shell_.file("expected")) << words;
    EXPECT_GT(nlohmann::json::parse(shell_.file("r"))["ranks"][0]["bytes_spilled"], 0U) << words;
  }

  const Shell shell_;
};

TEST_F(ManySortedInputs, are_merged_in_batches) {
  expect_merged("d/*");
  expect_merged("-S 2M -j2 d/* d/* d/*");
  expect_merged("--compress-spill lz4 d/*");
  expect_merged("-u d/* d/*");
}

TEST_F(ManySortedInputs, of_lines_are_merged_in_batches) {
  expect_merged("--lines -n l/???");
  expect_merged("--lines -n -s -S 2M l/??? l/???");
  expect_merged("--lines -n -u l/??? l/???");
  EXPECT_EQ(
      shell_.run("cat l/* | LC_ALL=C sort -n >e && ulimit -n 48; $H sort --lines -q -m -n l/* | cmp - e").exit_code, 0);
  EXPECT_EQ(shell_.run("$H sort --lines -c -n out").exit_code, 0);
}

TEST_F(ManySortedInputs, keep_one_header_and_newlines_in_quotes) {
  shell_.run("for f in l/*; do awk 'BEGIN { print \"n,t\" } { printf \"%s,\\\"a\\n,\\\"\\n\", $0 }' $f >$f.csv; done");
  shell_.run("for f in l/???; do { echo '# top'; cat $f; } >$f.top; gzip -k $f; done");
  expect_merged("--csv -k n:n l/*.csv");
  expect_merged("--header-lines 1 -n l/*.top");
  expect_merged("--lines -n l/*.gz");
  shell_.run("sed -i 's/top/other/' l/abc.top");
  EXPECT_TRUE(failed_with(shell_.run("ulimit -n 48; $H sort -q -m --header-lines 1 -n l/*.top -o out"),
                          "l/abc.top: its header differs from that of l/aaa.top"));
}

TEST_F(ManySortedInputs, out_of_order_are_named_and_leave_the_output) {
  shell_.run("cp in d/abc; echo old >out");
  EXPECT_TRUE(failed_with(shell_.run("ulimit -n 48; $H sort -q -m d/* -o out"), "merge d/abc: record "));
  EXPECT_TRUE(failed_with(shell_.run("ulimit -n 48; $H sort -q -m d/* none -o out"), "none: No such file"));
  EXPECT_EQ(shell_.file("out"), "old\n");
}

TEST_F(SortedInput, of_lines_is_merged_too) {
  EXPECT_EQ(shell_.run("seq 2000000 > numbers && LC_ALL=C sort numbers > words").exit_code, 0);
  EXPECT_EQ(spilled_bytes("-n numbers"), 0U);
  EXPECT_EQ(spilled_bytes("--lines words words"), 0U);
  EXPECT_GT(spilled_bytes("--lines numbers"), 0U);
  shell_.run("printf 'no newline' >> words");
  EXPECT_EQ(spilled_bytes("--lines words words"), 0U);
}

}  // namespace
}  // namespace hetsort::cli::test
