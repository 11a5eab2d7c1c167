// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
//
// Names of files on several ranks: {rank} in them, and two names for one file.
#include <nlohmann/json.hpp>

#include "tests/cli/mpirun_shell.h"

namespace hetsort::cli::test {
namespace {

class MpirunFiles : public ::testing::Test {
 protected:
  MpirunFiles() {
    const Outcome made = shell_.run(
        "$M -n 2 $H gen 200 'd/in.{rank}' && $M -n 2 $H sort 'd/in.{rank}' -o 'd/out.{rank}' && $H gen 200 d/all && "
        "ln -s d/out.0 link.1 && ln -s d/out.0 link.0 && mkdir t.0 t.1");
    EXPECT_EQ(made.exit_code, 0) << made;
    shell_.write("c.0", "[[node]]\nspeed = 1\n[[node]]\nspeed = 2\n");
  }
  void refused(const std::string& words, const std::string& message) {
    const std::string before = shell_.run("ls -lR --time-style=full-iso; cat d/* c.0").out;
    EXPECT_TRUE(job_failed_with(shell_.run(kEndAtOnce + ("$M -n 2 $H " + words)), {message})) << words;
    EXPECT_EQ(shell_.run("ls -lR --time-style=full-iso; cat d/* c.0").out, before) << words;
  }

  MpiShell shell_;
};

TEST_F(MpirunFiles, a_side_file_is_no_file_of_any_rank) {
  const std::string sort = "sort 'd/in.{rank}' -o 'd/out.{rank}' ";
  for (const std::string option : {"--report", "--trace", "--learn"}) {
    refused(sort + option + " d/out.1", "-o of rank 1 and " + option + " both name d/out.1");
    refused(sort + option + " d/in.0", option + " names d/in.0, which is also INPUT of rank 0");
    refused(sort + option + " 'r.{rank}'", option + " r.{rank}: rank 0 has this file for all ranks");
  }
  refused("sort 'd/in.{rank}' -o 'c.{rank}' --cluster c.0", "-o of rank 0 names c.0, which is also --cluster");
  refused("gen 10 'c.{rank}' --cluster c.0", "FILE of rank 0 names c.0, which is also --cluster");
  refused("validate 'd/out.{rank}' -o d/out.0", "-o names d/out.0, which is also FILE of rank 0");
  refused("validate 'd/out.{rank}' -o link.1", "-o names link.1, which is also FILE of rank 0");
  refused("compare 'd/in.{rank}' -o 'd/in.{rank}' --strategies equal",
          "-o of rank 0 names d/in.0, which is also INPUT");
}

TEST_F(MpirunFiles, that_are_in_place_when_another_rank_fails_are_named) {
  shell_.allow_victims();
  const Outcome outcome = shell_.run(
      "VICTIM=1 FAULTS=link:1:EIO; export VICTIM FAULTS; cp d/all d/in.2; "
      "$M -n 3 $A sort -q 'd/in.{rank}' -o 't/a.{rank}'");
  EXPECT_TRUE(
      job_failed_with(outcome, {"rank 1", "publish t/a.1: Input/output error; in place already: t/a.0, t/a.2"}));
  EXPECT_EQ(shell_.names_in("t"), "a.0\na.2\n");
}

TEST_F(MpirunFiles, standard_output_gets_records_only_even_if_mpirun_writes_messages_there_too) {
  const Outcome outcome = shell_.run(
      "seq 30000 | shuf >lines; LC_ALL=C sort lines >sorted; export HETSORT_FAULTS=read:1:delay1500; "
      "$M -n 2 $H sort --lines lines >got 2>&1 && cmp got sorted");
  EXPECT_EQ(outcome.exit_code, 0) << outcome << shell_.run("head -c 1000 got").out;
}

TEST_F(MpirunFiles, two_ranks_do_not_write_one_file) {
  refused("sort 'd/in.{rank}' -o 'link.{rank}'", "-o of rank 0 and -o of rank 1 both name link.1");
  refused("gen 10 'link.{rank}'", "FILE of rank 0 and FILE of rank 1 both name link.1");
}

TEST_F(MpirunFiles, several_of_a_rank_are_one_output) {
  const std::string sort = "sort --strategy equal 'd/in.{rank}' -o 'd/a.{rank}' -o 't/b.{rank}' ";
  const Outcome outcome = shell_.run("$M -n 2 $H " + sort +
                                     "--report r.json && cat d/a.0 t/b.0 d/a.1 t/b.1 >all && cat d/out.0 d/out.1 | cmp "
                                     "- all && $H validate -q d/a.0 t/b.0 d/a.1 t/b.1 && stat -c %s d/a.1 t/b.1");
  EXPECT_EQ(outcome.exit_code, 0) << outcome;
  EXPECT_EQ(outcome.out, "5000\n5000\n");
  const nlohmann::json report = nlohmann::json::parse(shell_.file("r.json"));
  EXPECT_EQ(report["ranks"][1]["outputs"][1].dump(), R"({"bytes":5000,"path":"t/b.1"})");
  refused("sort 'd/in.{rank}' -o 'd/a.{rank}' -o t/b",
          "-o t/b: several OUTPUTs of several ranks must be files of each");
  refused("sort 'd/in.{rank}' -o d/a -o d/b", "-o d/a: several OUTPUTs of several ranks must be files of each rank");
  refused("sort 'd/in.{rank}' -o 'd/out.{rank}' -o 'link.{rank}'", "-o of rank 0 and -o of rank 0 both name link.0");
  refused("sort 'd/in.{rank}' -o d/out.1 -o 'd/out.{rank}'", "-o and -o of rank 1 both name d/out.1");
  // The second disk of one rank.
  shell_.allow_victims();
  const std::string before = shell_.run("ls -AR d t; cat d/* t/*").out;
  const Outcome failed = shell_.run("VICTIM=1 FAULTS=write:2:ENOSPC $M -n 2 $A " + sort);
  EXPECT_TRUE(job_failed_with(failed, {"rank 1 (", "No space left on device", "output untouched"}));
  EXPECT_EQ(shell_.run("ls -AR d t; cat d/* t/*").out, before);
}

TEST_F(MpirunFiles, temporary_folders_may_be_each_ranks_own) {
  const Outcome outcome = shell_.run(
      "$M -n 2 $H sort 'd/in.{rank}' -o 'd/out.{rank}' -T 't.{rank}' --report r.json && "
      "grep -o '\"temp_directories\":[^]]*' r.json");
  EXPECT_EQ(outcome.exit_code, 0) << outcome;
  EXPECT_EQ(outcome.out, "\"temp_directories\":[\"t.0\"\n");
  EXPECT_TRUE(job_failed_with(shell_.run("rmdir t.1; $M -n 2 $H sort d/all -o d/o -T 't.{rank}'"),
                              {"rank 1 (", "temp directory t.1: No such file"}));
}

TEST_F(MpirunFiles, hosts_are_matched_without_regard_to_case_and_domain) {
  const std::string host = shell_.run("hostname | tr -d '\\n'").out;
  const std::string label = host.substr(0, host.find('.'));
  std::string upper = label;
  for (char& c : upper) c = static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
  const auto sorts = [&](const std::string& one, const std::string& two) {
    const auto node = [](const std::string& name, int speed) {
      return "[[node]]\nname = \"" + name + "\"\nspeed = " + std::to_string(speed) + "\n";
    };
    shell_.write("c.toml", node(one, 1) + node(two, 3));
    return shell_.run(
        "rm -f d/out.?; $M -n 2 $H sort d/all -o 'd/out.{rank}' --strategy proportional --cluster c.toml; "
        "e=$?; stat -c %s d/out.0; exit $e");
  };
  const std::string other_domain = host == label ? label + ".example.org" : host;
  for (const std::string& name : {upper, other_domain}) {
    // The other node is of no host here: what fits by name counts, not the order.
    const Outcome outcome = sorts("elsewhere", name);
    EXPECT_TRUE(job_failed_with(outcome, {"none is left for rank 1"})) << name;
    const Outcome both = sorts(name, label);
    EXPECT_EQ(both.exit_code, 0) << both;
    EXPECT_EQ(messages(both), 0) << both;
    // The whole name comes first.
    if (name != upper && host == label) {
      EXPECT_EQ(both.out, "15000\n") << name;
    }
  }
  const Outcome by_order = sorts("a", "b");
  EXPECT_EQ(by_order.out, "5000\n") << by_order;
  EXPECT_NE(by_order.err.find("hetsort: note: no node of c.toml has the name of a rank's host"), std::string::npos);
  EXPECT_EQ(by_order.err.find("note"), by_order.err.rfind("note")) << by_order;
}

}  // namespace
}  // namespace hetsort::cli::test
