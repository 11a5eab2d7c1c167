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
