// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
//
// The memory of compressed inputs and outputs: windows of zstd count within -S, and few threads compress where it is
// small.
#include <regex>

#include "tests/cli/memory/peak.h"
#include "tests/cli/program.h"

namespace hetsort::cli::test {
namespace {

// What promise 4 allows a process beside its -S.
constexpr int kBesideMib = 64;

class CompressedMemory : public ::testing::Test {
 protected:
  /// Makes `name` of so many MB of equal lines of 100 bytes, as `command` compresses them.
  void make(const std::string& name, int megabytes, const std::string& command) const {
    const Outcome made = shell_.run("yes \"$(printf %099d 7)\" | head -c " + std::to_string(megabytes) + "000000 | " +
                                    command + " >" + name);
    ASSERT_EQ(made.exit_code, 0) << made;
  }
  /// Makes `name` of data that touch all of a window of 128 MiB.
  void make_wide(const std::string& name) const { make(name, 160, "zstd -q -1 --long=27 -c"); }

  /// Runs `line` with -S `mib`M and checks the promise.
  Outcome run_with(int mib, const std::string& line) const {
    Outcome outcome;
    const io::test::Scratch kept;
    const std::string with_memory = line + " -S " + std::to_string(mib) + "M";
    const int peak = peak_mib([&] {
      const Outcome now = shell_.run(with_memory);
      io::test::write_all(kept / "err", now.err);
      io::test::write_all(kept / "code", std::to_string(now.exit_code));
    });
    EXPECT_LE(peak, mib + kBesideMib) << with_memory;
    return {std::stoi(io::test::read_all(kept / "code")), "", io::test::read_all(kept / "err")};
  }
  /// Expects that `line` is refused with -S 32M by a message about `name`, that the least -S in it suffices, and that
  /// 1 MiB less does not. Returns this -S in MiB.
  int expect_least(const std::string& line, const std::string& name) const {
    const Outcome refused = run_with(32, line);
    EXPECT_EQ(refused.exit_code, 2) << line << ": " << refused;
    std::smatch found;
    const std::regex message("hetsort: decompress " + name +
                             ": [^\n]*, and -S allows 32[.]0 MiB: give -S ([0-9]+)M or more");
    if (!std::regex_search(refused.err, found, message)) {
      ADD_FAILURE() << line << ": " << refused;
      return 0;
    }
    const int least = std::stoi(found[1]);
    const Outcome outcome = run_with(least, line);
    EXPECT_EQ(outcome.exit_code, 0) << line << ": " << outcome;
    const Outcome less = run_with(least - 1, line);
    EXPECT_EQ(less.exit_code, 2) << line << ": " << less;
    EXPECT_NE(less.err.find("give -S " + std::to_string(least) + "M or more"), std::string::npos) << less;
    return least;
  }

  Shell shell_;
};

TEST_F(CompressedMemory, outputs_of_high_levels_stay_within_the_promise) {
  make("in", 40, "cat");
  for (const std::string words : {"-j 8 --compress zstd:9", "-j 16 --compress zstd:19", "-j 16 --compress zstd:5"}) {
    const Outcome outcome = run_with(32, "$H sort -q --lines in -o out.zst " + words);
    EXPECT_EQ(outcome.exit_code, 0) << words << ": " << outcome;
    EXPECT_EQ(shell_.run("zstd -dqc out.zst | cmp - in").exit_code, 0) << words;
  }
}

TEST_F(CompressedMemory, windows_count_within_it) {
  make_wide("in.zst");
  shell_.run("zstd -dqc --long=27 in.zst >in");
  for (const std::string words : {"in.zst", "- <in.zst", "--lines -j 8 --compress zstd:5 in.zst"}) {
    const std::string format = words.starts_with("--lines") ? "" : " --record-size 100";
    const Outcome outcome = run_with(130, "$H sort -q -o out " + words + format);
    EXPECT_EQ(outcome.exit_code, 0) << words << ": " << outcome;
    EXPECT_EQ(shell_.run((format.empty() ? "zstd -dqc" : "cat") + std::string(" <out | cmp - in")).exit_code, 0)
        << words;
  }
}

TEST_F(CompressedMemory, windows_of_a_merge_count_together) {
  make_wide("in.zst");
  make("in", 5, "cat");
  // Blocks of so many inputs would take more than half of it.
  const Outcome outcome =
      run_with(260, "$H sort -q --record-size 100 -m in.zst - $(yes in | head -n 40) <in.zst -o out");
  EXPECT_EQ(outcome.exit_code, 0) << outcome;
}

TEST_F(CompressedMemory, too_little_for_windows_is_refused_with_the_least_that_suffices) {
  make("in.zst", 1, "zstd -q -1 --long=27 -c");
  make("in.gz", 1, "gzip -1 -c");
  shell_.run("zstd -dqc --long=27 in.zst >in");
  const int one = expect_least("$H sort -q --lines -o out in in.zst", "in.zst");
  for (const std::string words : {"sort -o out - <in.zst", "sort --lines -o out -j 8 --compress zstd:9 in.zst",
                                  "sort --lines -c - <in.zst", "sort -c in.zst"}) {
    const std::string format = words.find("--lines") == std::string::npos ? " --record-size 100" : "";
    EXPECT_EQ(expect_least("$H " + words + " -q" + format, words.ends_with("<in.zst") ? "standard input" : "in.zst"),
              one);
  }
  EXPECT_GT(expect_least("$H sort -q --lines -m in.zst - <in.zst -o out", "in.zst"), 2 * one);
  // Decoders of small windows take a mebibyte each.
  expect_least("$H sort -q --record-size 100 -m $(yes in.gz | head -n 80) -o out", "in.gz");
}

TEST_F(CompressedMemory, a_window_that_was_not_planned_is_refused) {
  make("small.zst", 1, "zstd -q -c");
  make("wide.zst", 1, "zstd -q -1 --long=27 -c");
  shell_.run("cat small.zst wide.zst >both.zst");
  for (const std::string words : {"both.zst", "- <both.zst", "small.zst - <wide.zst"}) {
    const Outcome outcome = run_with(32, "$H sort -q --lines -o out " + words);
    EXPECT_EQ(outcome.exit_code, 2) << words << ": " << outcome;
    EXPECT_NE(outcome.err.find("of memory, and only 12.0 MiB are planned"), std::string::npos) << outcome;
  }
  // What the first input may take is free again when the second one is read.
  EXPECT_EQ(run_with(130, "$H sort -q --lines -o out wide.zst - <both.zst").exit_code, 0);
}

TEST_F(CompressedMemory, blocks_of_zeros_are_decompressed_in_parts) {
  const Outcome made = shell_.run("head -c 150000000 /dev/zero | bgzip -c >in.bgz");
  ASSERT_EQ(made.exit_code, 0) << made;
  const Outcome outcome = run_with(32, "$H sort -q -c --record-size 100 in.bgz");
  EXPECT_EQ(outcome.exit_code, 0) << outcome;
}

}  // namespace
}  // namespace hetsort::cli::test
