// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
//
// Memory: long lines, more memory than there is, and long lists of names.
#include "tests/cli/memory/peak.h"
#include "tests/cli/program.h"

namespace hetsort::cli::test {
namespace {

// -S and what promise 4 allows a process beside it.
constexpr int kPromisedMib = 32 + 64;

class Memory : public ::testing::Test {
 protected:
  /// Makes `name` of `count` lines of `mib` MiB, in order.
  void make_lines(const std::string& name, int count, int mib) const {
    std::string text;
    for (int line = 0; line < count; ++line)
      text += std::string(static_cast<std::size_t>(mib) << 20, static_cast<char>('a' + line)) + "\n";
    shell_.write(name, text);
  }
  /// The outcome of a command line whose memory stays below the promise.
  Outcome run_within_promise(const std::string& line) const {
    Outcome outcome;
    const io::test::Scratch kept;
    const int peak = peak_mib([&] {
      const Outcome now = shell_.run(line);
      io::test::write_all(kept / "err", now.err);
      io::test::write_all(kept / "code", std::to_string(now.exit_code));
    });
    EXPECT_LE(peak, kPromisedMib) << line;
    return {std::stoi(io::test::read_all(kept / "code")), "", io::test::read_all(kept / "err")};
  }

  Shell shell_;
};

TEST_F(Memory, lines_longer_than_an_eighth_of_it_are_refused_by_every_mode) {
  make_lines("long", 2, 100);
  shell_.write("short", "a\nb\n");
  const std::string refused = "read long: the line at offset 0 is longer than 4194304 bytes: give more memory with -S";
  for (const std::string words : {"-c", "-C", "-c -f", "-m -o out", "-m short -o out", "-m -f -k1,1 -k1,1r -o out",
                                  "-m -u -o out", "-o out", "-f -o out"})
    EXPECT_TRUE(failed_with(run_within_promise("$H sort --lines -q -S 32M " + words + " long"), refused)) << words;
  for (const std::string words : {"-c", "-C", "-m -o out"})
    EXPECT_TRUE(failed_with(run_within_promise("$H sort --lines -q -S 32M " + words + " - <long"),
                            "the line at offset 0 is longer than 4194304 bytes"))
        << words;
  EXPECT_TRUE(failed_with(run_within_promise("timeout 60 $H sort --lines -c /dev/zero -S 32M"),
                          "read /dev/zero: the line at offset 0 is longer than 4194304 bytes"));
}

TEST_F(Memory, lines_up_to_an_eighth_of_it_are_checked_and_merged_within_it) {
  make_lines("in", 8, 4);
  shell_.run("head -c 4194305 in >short; tail -c +4194306 in >rest");
  // The lines have a byte more than the limit with their ends.
  for (const std::string words : {"-c", "-C", "-c -u", "-c -f", "-c -k1,1 -k1,1"})
    EXPECT_EQ(run_within_promise("$H sort --lines -q -S 33M in " + words).exit_code, 0) << words;
  for (const std::string words : {"", "-f", "-u", "-s -k1,1", "-k1,1 -k1,1"}) {
    EXPECT_EQ(run_within_promise("$H sort --lines -q -S 33M -m short rest -o out " + words).exit_code, 0) << words;
    EXPECT_TRUE(shell_.file("out") == shell_.file("in")) << words;
  }
  const Outcome disorder = run_within_promise("cat rest short | $H sort --lines -c -S 33M");
  EXPECT_EQ(disorder.exit_code, 1) << disorder;
  EXPECT_EQ(disorder.err, "hetsort: check standard input: line 8 at offset 29360135 is below the line before it\n");
}

TEST_F(Memory, long_lines_of_many_inputs_that_need_more_are_refused) {
  std::string names;
  for (int input = 0; input < 12; ++input) {
    make_lines("in" + std::to_string(input), 1, 3);
    names += " in" + std::to_string(input);
  }
  EXPECT_TRUE(failed_with(run_within_promise("$H sort --lines -m -q -S 32M -o out" + names),
                          "12 INPUTs have such long lines, near offset 0 of this one, that merging them needs more"));
  EXPECT_EQ(shell_.run("$H sort --lines -m -q -S 320M -o out" + names).exit_code, 0);
}

TEST_F(Memory, a_long_line_behind_lines_in_order_ends_the_search_for_order) {
  std::string text;
  for (int line = 0; line < 100'000; ++line) text += std::to_string(1'000'000 + line) + "\n";
  shell_.write("in", text + std::string(std::size_t{50} << 20, '2') + "\n3\n");
  // Each probe would read up to the end of the line.
  EXPECT_TRUE(failed_with(run_within_promise("timeout 60 $H sort --lines -q -S 32M -o out in"),
                          "read in: the line at offset 800000 is longer than 4194304 bytes"));
  // It has read a few hundred times by then, and not once for each quarter of a MiB and probe.
  EXPECT_NE(shell_.run("HETSORT_FAULTS=read:2000:EIO $H sort --lines -q -S 32M -o out in").err.find("longer than"),
            std::string::npos);
}

TEST_F(Memory, lines_in_memory_spill_if_their_copies_have_no_room) {
  make_lines("in", 8, 5);
  const Outcome outcome = run_within_promise("$H sort --lines -q -j1 -S 42M in -o out --report run.json");
  EXPECT_EQ(outcome.exit_code, 0) << outcome;
  EXPECT_TRUE(shell_.file("out") == shell_.file("in"));
}

TEST_F(Memory, more_than_the_machine_has_is_lowered_with_a_note) {
  shell_.write("in", "b\nc\na\n");
  for (const std::string words : {"in", "- <in", "-m in", "-m - <in", "-u in"}) {
    const std::string sorted = words.starts_with("-m") ? "b\nc\na\n" : "a\nb\nc\n";
    if (words.starts_with("-m")) shell_.run("sort -o in in");
    const Outcome outcome = shell_.run("$H sort --lines --progress none -S 100T -o out " + words);
    EXPECT_EQ(outcome.exit_code, 0) << words << ": " << outcome;
    EXPECT_NE(outcome.err.find("hetsort: note: -S "), std::string::npos) << words << ": " << outcome;
    EXPECT_EQ(shell_.file("out"), "a\nb\nc\n") << words;
    EXPECT_EQ(shell_.run("$H sort --lines -q -S 100T -o out " + words).err, "") << words;
  }
  for (const std::string words : {"- <r", "r", "-m r"})
    EXPECT_EQ(shell_.run("$H gen 1 r; $H sort -q -S 100T -o out " + words).exit_code, 0) << words;
}

TEST_F(Memory, more_than_the_address_space_has_is_lowered_with_a_note) {
  shell_.run("printf 'b\\nc\\na\\n' >in; $H gen 1000 records");
  for (const std::string words :
       {"--lines in", "--lines - <in", "- <records", "records", "--lines -c -u - </dev/null"}) {
    const Outcome outcome = shell_.run("ulimit -v 400000; $H sort --progress none -j 2 -S 1G " + words + " >out");
    EXPECT_EQ(outcome.exit_code, 0) << words << ": " << outcome;
    EXPECT_EQ(outcome.err.find("out of memory"), std::string::npos) << outcome;
  }
  EXPECT_NE(shell_.run("ulimit -v 400000; $H sort --progress none -j 2 -S 1G --lines in >out").err.find("ulimit -v"),
            std::string::npos);
}

TEST_F(Memory, one_file_may_be_named_many_times) {
  // Comparing each name with each other one would take minutes.
  shell_.run("printf 'a\\n' >in; yes in | head -n 80000 | tr '\\n' '\\0' >names");
  const Outcome outcome = shell_.run("timeout 60 $H sort --lines -q --files0-from names -o out && wc -l <out");
  EXPECT_EQ(outcome.out, "80000\n") << outcome;
}

}  // namespace
}  // namespace hetsort::cli::test
