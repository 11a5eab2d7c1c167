// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
//
// Several files as the output of one sort.
#include <nlohmann/json.hpp>

#include "tests/cli/program.h"

namespace hetsort::cli::test {
namespace {

class Outputs : public ::testing::Test {
 protected:
  Outputs() {
    const Outcome made = shell_.run("mkdir d1 d2 t; $H gen 60000 in && $H sort in -o one && $H gen 10 d1/old");
    EXPECT_EQ(made.exit_code, 0) << made;
  }
  /// Sorts into d1/a, d2/b and d1/c, and compares with the output of one file.
  void expect_as_one(const std::string& words, const std::string& one = "one") {
    const Outcome outcome =
        shell_.run("$H sort " + words + " -o d1/a -o d2/b --output=d1/c && cat d1/a d2/b d1/c | cmp - " + one);
    EXPECT_EQ(outcome.exit_code, 0) << words << ": " << outcome;
  }
  void refused(const std::string& words, const std::string& message) {
    const std::string before = everything();
    EXPECT_TRUE(failed_with(shell_.run("$H sort " + words), message)) << words;
    EXPECT_EQ(everything(), before) << words;
  }
  std::string everything() const {
    return shell_.run("find . ! -type d -printf '%p %i %T@\n' | sort; md5sum in one d1/* d2/*").out;
  }

  const Shell shell_;
};

TEST_F(Outputs, are_equal_parts_of_the_sorted_records) {
  for (const std::string words : {"in", "-j1 in", "-j8 in", "-S 2M -j2 in", "-S 2M -j2 one", "-m one", "< in"}) {
    expect_as_one(words);
    EXPECT_EQ(shell_.run("stat -c %s d1/a d2/b d1/c").out, "2000000\n2000000\n2000000\n") << words;
  }
  EXPECT_EQ(shell_.run("$H validate -q d1/a d2/b d1/c").exit_code, 0);
  EXPECT_NE(shell_.run("$H validate -q d2/b d1/a d1/c").exit_code, 0);
}

TEST_F(Outputs, of_lines_end_with_whole_lines) {
  EXPECT_EQ(shell_.run("seq 200000 | shuf --random-source=in >lines; $H sort -n lines -o sorted").exit_code, 0);
  for (const std::string words : {"-n lines", "-n -S 2M -j2 lines", "-n -m sorted", "-n -S 2M sorted", "-n <lines"}) {
    expect_as_one(words, "sorted");
    EXPECT_EQ(shell_.run("for i in d1/a d2/b d1/c; do tail -c1 $i; done").out, "\n\n\n") << words;
  }
}

TEST_F(Outputs, begin_with_the_header_each) {
  shell_.run("{ printf 0123456; cat in; } >headed");
  const Outcome outcome = shell_.run(
      "$H sort --header 7 headed -o d1/a -o d2/b && head -c7 d1/a && head -c7 d2/b && "
      "{ tail -c +8 d1/a; tail -c +8 d2/b; } | cmp - one");
  EXPECT_EQ(outcome.out, "01234560123456") << outcome;
  EXPECT_EQ(outcome.exit_code, 0) << outcome;
}

TEST_F(Outputs, are_in_the_report) {
  expect_as_one("in --report r.json");
  const nlohmann::json rank = nlohmann::json::parse(shell_.file("r.json"))["ranks"][0];
  EXPECT_EQ(rank["outputs"].size(), 3U);
  EXPECT_EQ(rank["outputs"][1].dump(), R"({"bytes":2000000,"path":"d2/b"})");
  EXPECT_NE(shell_.run("$H report r.json -o -").out.find("d2/b"), std::string::npos);
  EXPECT_EQ(shell_.run("$H sort in -o out --report r.json").exit_code, 0);
  EXPECT_FALSE(nlohmann::json::parse(shell_.file("r.json"))["ranks"][0].contains("outputs"));
}

TEST_F(Outputs, may_replace_inputs_and_are_compared) {
  EXPECT_EQ(shell_.run("cp in d1/a && $H sort d1/a -o d1/a -o d2/b && cat d1/a d2/b | cmp - one").exit_code, 0);
  EXPECT_EQ(
      shell_.run("$H compare in -o d1/a -o d2/b --strategies equal --rounds 2 && cat d1/a d2/b | cmp - one").exit_code,
      0);
  EXPECT_TRUE(
      failed_with(shell_.run("$H compare in -o d1/a -o in --strategies equal"), "-o names in, which is also INPUT"));
}

TEST_F(Outputs, spill_to_the_folders_of_all) {
  EXPECT_EQ(shell_.run("unset TMPDIR; $H sort -S 2M in -o d1/a -o d2/b -o d1/c --report r.json").exit_code, 0);
  const auto folders = nlohmann::json::parse(shell_.file("r.json"))["context"]["temp_directories"];
  const std::string here = shell_.run("pwd -P | tr -d '\\n'").out;
  // Folders in memory are passed over.
  if (folders[0] != "/var/tmp") {
    EXPECT_EQ(folders.dump(), "[\"" + here + "/d1\",\"" + here + "/d2\"]");
  }
}

TEST_F(Outputs, that_cannot_be_are_refused) {
  refused("in -o d1/a -o d1/a", "-o and -o both name d1/a: each wants a file of its own");
  refused("in -o d1/a -o d2/../d1/a", "-o and -o both name d2/../d1/a");
  shell_.run("ln -s ../d1/old d2/link; ln -s ../d1/new d2/dangling");
  refused("in -o d1/old -o d2/link", "-o and -o both name d2/link");
  refused("in -o d2/dangling -o d1/new", "-o and -o both name d1/new");
  refused("in -o d1/a -o -", "-o -: standard output cannot be one of several OUTPUTs");
  refused("in -o d1/a -o ''", "-o wants a path");
  refused("-u in -o d1/a -o d1/b", "-u writes one OUTPUT from front to back, and 'd1/b' is a second one");
  refused("-c in -o d1/a -o d1/b", "-c writes nothing: it excludes -o");
  refused("in -o d1/a -o none/b", "create none/b: No such file or directory");
  refused("in -o d1/a -o t", "write t: ");
  refused("in -o d1/a -o d2/b --report d2/b", "-o and --report both name d2/b");
  refused("in $(seq -f '-o d1/%g' 65)", "-o names 65 OUTPUTs; a rank has 64 at most");
  EXPECT_EQ(shell_.run("$H sort in $(seq -f '-o t/%g' 64) && cat $(seq -f 't/%g' 64) | cmp - one").exit_code, 0);
}

TEST_F(Outputs, are_as_before_after_a_failure) {
  shell_.run("cp d1/old d2/old");
  const std::string before = everything();
  for (const std::string fault : {"write:2:ENOSPC", "write:3+:EIO", "sync:1:EIO", "sync:2:EIO", "chmod:2:EIO",
                                  "open:4:EIO", "link:1:EIO", "rename:1:EIO"}) {
    const Outcome outcome = shell_.run("HETSORT_FAULTS=" + fault + " $H sort in -o d1/old -o d2/old");
    EXPECT_TRUE(failed_with(outcome, "/old: ")) << fault;
    EXPECT_EQ(everything(), before) << fault;
  }
  // One has its name when the other fails.
  const Outcome outcome = shell_.run("HETSORT_FAULTS=rename:2:EIO $H sort in -o d1/old -o d2/old");
  EXPECT_TRUE(failed_with(outcome, "publish d2/old: Input/output error; in place already: d1/old"));
  EXPECT_EQ(shell_.run("head -c 3000000 one | cmp - d1/old && $H gen 10 - | cmp - d2/old && ls -A d1 d2").out,
            "d1:\nold\n\nd2:\nold\n");
}

}  // namespace
}  // namespace hetsort::cli::test
