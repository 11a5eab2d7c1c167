// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
//
// Typed keys and headers of files, as their users meet them.
#include <cstdint>
#include <cstring>
#include <limits>
#include <vector>

#include "tests/cli/program.h"

namespace hetsort::cli::test {
namespace {

template <typename Number>
std::string bytes_of(const std::vector<Number>& numbers) {
  std::string bytes(numbers.size() * sizeof(Number), '\0');
  std::memcpy(bytes.data(), numbers.data(), bytes.size());
  return bytes;
}

TEST(TypedKeysCommand, numbers_are_sorted_and_validated_by_value) {
  const Shell shell;
  shell.write("in", bytes_of<std::uint64_t>({256, 1, 2, 300}));
  EXPECT_EQ(shell.run("$H sort --record-size 8 --key 0:u64 in -o out").exit_code, 0);
  EXPECT_EQ(shell.file("out"), bytes_of<std::uint64_t>({1, 2, 256, 300}));
  EXPECT_EQ(shell.run("$H validate -q --record-size 8 --key 0:u64 out").exit_code, 0);
  EXPECT_EQ(shell.run("$H validate -q --record-size 8 --key 0:8 out").exit_code, 1);
  EXPECT_EQ(shell.run("$H sort --record-size 8 --key 0:u64:desc < in > out").exit_code, 0);
  EXPECT_EQ(shell.file("out"), bytes_of<std::uint64_t>({300, 256, 2, 1}));
  EXPECT_EQ(shell.run("$H validate -q --record-size 8 --key 0:u64:desc out").exit_code, 0);
  EXPECT_EQ(shell.run("$H validate -q --record-size 8 --key 0:u64 out").exit_code, 1);
}

TEST(TypedKeysCommand, floating_point_keys_have_nan_last_and_one_zero) {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  const double infinity = std::numeric_limits<double>::infinity();
  const Shell shell;
  shell.write("in", bytes_of<double>({nan, 0.0, 1.5, -0.0, -infinity, -nan, infinity}));
  EXPECT_EQ(shell.run("$H sort --record-size 8 --key 0:f64 in -o out").exit_code, 0);
  EXPECT_EQ(shell.file("out"), bytes_of<double>({-infinity, 0.0, -0.0, 1.5, infinity, nan, -nan}));
  EXPECT_NE(shell.run("$H validate --record-size 8 --key 0:f64 out").err.find("Duplicate keys: 2"), std::string::npos);
}

TEST(TypedKeysCommand, a_later_key_decides_among_equal_ones) {
  const Shell shell;
  shell.write("in", bytes_of<std::int32_t>({1, -5, 0, 7, 1, 9, -1, 3}));
  EXPECT_EQ(shell.run("$H sort --record-size 8 --key 0:i32:desc --key 4:i32 in -o out --report r").exit_code, 0);
  EXPECT_EQ(shell.file("out"), bytes_of<std::int32_t>({1, -5, 1, 9, 0, 7, -1, 3}));
  EXPECT_NE(shell.file("r").find("0:i32:desc,4:i32"), std::string::npos);
}

TEST(TypedKeysCommand, bad_keys_name_what_is_wrong) {
  const Shell shell;
  shell.write("in", std::string(100, 'x'));
  const auto refused = [&](const std::string& words, const std::string& message) {
    for (const char* const command : {"sort ", "validate "})
      EXPECT_TRUE(failed_with(shell.run(std::string("$H ") + command + words + " in"), message)) << words;
  };
  refused("--key 93:u64", "key 93:u64 reaches beyond the 100-byte record");
  refused("--key 0:8 --key 99:i16be:desc", "key 99:i16be:desc reaches beyond the 100-byte record");
  refused("--key 0:q64", "--key '0:q64': 'q64' is neither a length in bytes nor a type; types are u8");
  refused("--key 0:f128", "'f128' is neither");
  refused("--key 0:", "--key length '' is not a decimal number");
  refused("--key 0:u64:up", "--key '0:u64:up': 'up' is not 'desc'");
  refused("--key -1:u64", "--key offset '-1' is not a decimal number");
  refused("--key 18446744073709551615:u64", "key 18446744073709551615:u64 reaches beyond");
  refused("--key 18446744073709551616:u64", "--key offset '18446744073709551616' does not fit 64 bits");
  refused("--key 0:18446744073709551615", "key length 18446744073709551615 is not within 1 to 4096 bytes");
  std::string keys;
  for (int key = 0; key < 1025; ++key) keys += " --key " + std::to_string(key % 100) + ":u8";
  refused(keys, "--key is given 1025 times; 1024 keys are allowed");
}

class HeaderCommand : public testing::Test {
 protected:
  HeaderCommand() {
    shell_.run("$H gen 20000 records && $H sort records -o sorted && printf 1234567 > head && cat head records > in");
    shell_.run("cat head sorted > expected");
  }
  void expect_sorted(const std::string& words) const {
    const Outcome outcome = shell_.run("rm -f out; " + words);
    EXPECT_EQ(outcome.exit_code, 0) << words << ": " << outcome;
    EXPECT_TRUE(shell_.file("out") == shell_.file("expected")) << words;
  }

  const Shell shell_;
};

TEST_F(HeaderCommand, the_first_headers_bytes_begin_the_output) {
  expect_sorted("$H sort --header 7 in -o out");
  expect_sorted("$H sort --header 7 --verify-output in -o out");
  expect_sorted("$H sort --header 7 < in > out");
  expect_sorted("cat in | $H sort --header 7 | cat > out");
  expect_sorted("cp in out && $H sort --header 7 out -o out");
  expect_sorted("$H sort -S 1M -T . --header 7 in -o out");
  expect_sorted("cat in | $H sort -S 1M -T . --header 7 -o out");
  expect_sorted(
      "head -c 500007 in > a && { printf ABCDEFG; tail -c +500008 in; } > b && $H sort --header 7 a b -o out");
  expect_sorted("{ printf before; $H sort --header 7 in; } > o && tail -c +7 o > out");
}

TEST_F(HeaderCommand, a_file_of_nothing_but_a_header_becomes_one) {
  const auto sorts_to_the_header = [&](const std::string& words) {
    EXPECT_EQ(shell_.run("rm -f out; " + words).exit_code, 0) << words;
    EXPECT_EQ(shell_.file("out"), "1234567") << words;
  };
  sorts_to_the_header("$H sort --header 7 head -o out");
  sorts_to_the_header("$H sort --header 7 head > out");
  sorts_to_the_header("cat head | $H sort --header 7 | cat > out");
  sorts_to_the_header("$H sort --header 7 --verify-output head head -o out");
  EXPECT_NE(shell_.run("$H validate --header 7 head").err.find("0 records"), std::string::npos);
}

TEST_F(HeaderCommand, an_empty_input_has_no_header) {
  shell_.write("empty", "");
  const std::string message = "it has 0 bytes, fewer than the header of 7";
  for (const char* const words : {"sort --header 7 empty -o out", "sort --header 7 head empty -o out",
                                  "sort --header 7 < empty", "validate --header 7 empty"})
    EXPECT_TRUE(failed_with(shell_.run(std::string("$H ") + words), message)) << words;
}

TEST_F(HeaderCommand, an_output_in_the_place_of_the_input_keeps_the_header) {
  expect_sorted("cp in out && $H sort --header 7 out 1<> out");
  expect_sorted("cp in out && $H sort -S 1M -T . --header 7 out 1<> out");
}

TEST_F(HeaderCommand, validate_skips_the_header_of_each_file) {
  EXPECT_NE(shell_.run("$H validate --header 7 expected expected").err.find("Records: 40000"), std::string::npos);
  EXPECT_EQ(shell_.run("$H validate -q --header 7 expected").exit_code, 0);
  EXPECT_EQ(shell_.run("$H validate -q --header 7 - < expected").exit_code, 0);
  EXPECT_EQ(shell_.run("cat expected | $H validate -q --header 7 -").exit_code, 0);
  EXPECT_TRUE(failed_with(shell_.run("$H validate -s --header 7 expected"), "it excludes --header"));
}

TEST_F(HeaderCommand, a_file_whose_size_does_not_fit_suggests_the_options) {
  const std::string hint = "give the size of a record with --record-size, and the bytes before the first record with ";
  EXPECT_TRUE(failed_with(shell_.run("$H sort in -o out"), "7 left over at offset 2000000; " + hint + "--header"));
  EXPECT_TRUE(failed_with(shell_.run("cat in | $H sort -o out"), "7 left over at offset 2000000; " + hint));
  EXPECT_TRUE(failed_with(shell_.run("$H sort --header 6 in -o out"), "1 left over at offset 2000006; "));
  EXPECT_TRUE(failed_with(shell_.run("$H sort --header 8 head -o out"), "head: it has 7 bytes, fewer than the header"));
  EXPECT_TRUE(failed_with(shell_.run("$H sort --header 8 < head"), "it has 7 bytes, fewer than the header of 8"));
  EXPECT_TRUE(failed_with(shell_.run("$H validate --header 8 head"), "it has 7 bytes, fewer than the header of 8"));
  EXPECT_TRUE(failed_with(shell_.run("$H validate --header 8 - < head"), "it has 7 bytes, fewer than the header of 8"));
  EXPECT_TRUE(failed_with(shell_.run("$H sort --header 16777217 in -o out"), "--header wants 0 to 16777216"));
}

}  // namespace
}  // namespace hetsort::cli::test
