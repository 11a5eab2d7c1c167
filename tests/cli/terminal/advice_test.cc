// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
//
// What the program says to a user whose command line or data are not what it takes.
#include "tests/cli/program.h"

namespace hetsort::cli::test {
namespace {

TEST(Advice, an_unknown_option_is_explained_by_its_start_a_synonym_or_its_spelling) {
  const Shell shell;
  using Case = std::pair<std::string, std::string>;
  for (const auto& [words, advice] :
       {Case{"sort --rec 5 in", "option '--rec' is ambiguous and matches '--record-size', and '--records'"},
        Case{"sort --recrod-size 5 in", "did you mean '--record-size'?"},
        Case{"gen -t2 5 f", "unknown option '-t'; hetsort has -j"}, Case{"sort --tmpdir a in", "hetsort has -T"},
        Case{"validate -k 2 in", "'hetsort sort -c' checks lines"},
        Case{"sort -T a,b in", "may be repeated: -T a -T b"}})
    EXPECT_TRUE(failed_with(shell.run("$H " + words + " </dev/null"), advice)) << words;
  const Outcome far = shell.run("$H sort --skip 3 in");
  EXPECT_TRUE(failed_with(far, "unknown option '--skip'")) << far;
  EXPECT_EQ(far.err.find("mean"), std::string::npos) << far;
  EXPECT_EQ(shell.names(), Names{});
}

TEST(Advice, an_option_of_sort_1_that_is_written_otherwise_here_leads_to_it) {
  const Shell shell;
  using Case = std::pair<std::string, std::string>;
  for (const auto& [words, advice] :
       {Case{"--check=who in", "'--check=who'; its WORDs are diagnose-first, quiet and silent"},
        Case{"+1 -2 in", "'+1 -2' is a key of old versions of sort(1); write -k 2,2\n"},
        Case{"+1.2 -3.1n in", "write -k 2.3,4.1n\n"},
        Case{"+0nr -1 in", "write -k 1nr,1\n"},
        Case{"+1 in", "there is no file '+1'; if it is a key of old versions of sort(1), write -k 2\n"},
        Case{"-2 in", "unknown option '-2'\n"},
        Case{"--key=2,2n in", "'hetsort sort -k 2,2n' is for lines"},
        Case{"--key 2 in", "it is for records here, and 'hetsort sort -k 2' is for lines"},
        Case{"--key x in", "--key 'x' is not OFFSET:LENGTH or OFFSET:TYPE; names of fields are for NumPy files"},
        Case{"--delimiter=, in", "'--delimiter'; hetsort has -t"},
        Case{"--separator , in", "hetsort has -t"},
        Case{"--sort=size in",
             "--sort 'size' is none of general-numeric, human-numeric, month, numeric, random, version"},
        Case{"-n --sort=month in", "options '-Mn' are incompatible"},
        Case{"-RV in", "options '-RV' are incompatible"},
        Case{"-R --record-size 5 in", "it excludes --record-size"},
        Case{"-R --random-source=/dev/null in", "--random-source /dev/null: it is empty"},
        Case{"-R --random-source=none in", "open none: No such file"},
        Case{"--by=2 in", "'--by'; hetsort has -k for columns"},
        Case{"--top=9 in", "'--top'; hetsort sorts everything"},
        Case{"-y in", "hetsort has -S"},
        Case{"-y100 in", "'-y'; hetsort has -S"},
        Case{"--compress-program=gzip in", "hetsort has --compress-spill"},
        Case{"--version in", "'hetsort --version' prints the version"}})
    EXPECT_TRUE(failed_with(shell.run("$H sort " + words + " </dev/null"), advice)) << words;
  EXPECT_TRUE(failed_with(shell.run("$H validate --key 2 in"), "'hetsort sort -k 2' is for lines"));
  EXPECT_EQ(shell.run("printf 'b\\na\\n' >+1; $H sort --lines +1").out, "a\nb\n") << "a file may have this name";
}

TEST(Advice, every_command_prints_the_version_of_the_program) {
  const Shell shell;
  const Outcome outcome = shell.run("$H --version");
  EXPECT_EQ(outcome.out.substr(0, 8), "hetsort ");
  EXPECT_NE(outcome.out.find("\nMPI: "), std::string::npos) << outcome;
  EXPECT_NE(outcome.out.find("GLPK: "), std::string::npos) << outcome;
  EXPECT_NE(outcome.out.find("compression: gzip, zstd, lz4\n"), std::string::npos) << outcome;
  for (const std::string command : {"sort", "gen", "validate", "plan", "calibrate", "compare", "report", "completion"})
    EXPECT_EQ(shell.run("$H " + command + " --version").out, outcome.out) << command;
}

TEST(Advice, help_of_a_command_is_what_its_option_prints) {
  const Shell shell;
  EXPECT_NE(shell.run("$H help sort").out.find("compared as unsigned bytes"), std::string::npos);
  EXPECT_EQ(shell.run("$H help plan").out, shell.run("$H plan --help").out);
  EXPECT_TRUE(failed_with(shell.run("$H help srot"), "did you mean 'sort'?"));
}

TEST(Advice, records_are_not_written_to_a_terminal) {
  const Shell shell;
  shell.run("$H gen 10 in");
  for (const std::string words : {"sort in", "sort in -o /dev/tty", "gen 10 -"}) {
    const Outcome outcome = shell.run("script -qec \"$H " + words + "\" /dev/null </dev/null");
    EXPECT_EQ(outcome.exit_code, 2) << words << outcome;
    EXPECT_NE(outcome.out.find("is a terminal, and records are not text; give "), std::string::npos) << outcome.out;
  }
  EXPECT_EQ(shell.run("script -qec \"$H gen -a 1 -\" /dev/null </dev/null").exit_code, 0);
  EXPECT_EQ(shell.run("script -qec \"$H sort in | cat >out && $H validate -q out\" /dev/null </dev/null").exit_code, 0);
}

TEST(Advice, an_assumed_record_size_is_noted_where_the_data_look_otherwise) {
  const Shell shell;
  shell.run("$H gen 100 binary; $H gen -a 100 ascii; head -c 300 /dev/zero >zeros; seq 1000 | head -c 300 >text");
  const std::string note = "hetsort: note: the input does not look like benchmark records";
  for (const std::string line :
       {"$H sort zeros -o out", "$H sort -o out <zeros", "cat zeros | $H sort -o out",
        "$H sort --explain zeros -o out 2>&1 | grep note >&2", "$H sort -c zeros",
        "$H validate zeros 2>&1 | grep note >&2", "$H compare zeros -o out --strategies equal,threshold >table"}) {
    const Outcome outcome = shell.run(line);
    EXPECT_EQ(outcome.exit_code, 0) << line << outcome;
    EXPECT_TRUE(outcome.err.starts_with(note)) << line << outcome;
    EXPECT_EQ(outcome.err.find(note, 1), std::string::npos) << line << outcome;
  }
  EXPECT_EQ(shell.file("out").size(), 300U);
  for (const std::string line :
       {"$H sort binary -o out", "cat ascii | $H sort -o out", "$H sort --record-size 100 zeros -o out",
        "$H sort --record-size 100 text -o out", "$H sort -q zeros -o out", "$H sort --lines text -o out",
        "$H sort --force-format text -o out", "$H sort /dev/null -o out", "$H sort -C zeros"})
    EXPECT_EQ(shell.run(line).err, "") << line;
}

TEST(Advice, a_check_of_a_file_that_ends_inside_a_record_names_the_record_size) {
  const Shell shell;
  shell.run("$H gen 10 in; printf xyz >>in");
  for (const std::string line : {"$H sort -c in", "$H sort -C <in"})
    EXPECT_TRUE(failed_with(shell.run(line),
                            "partial record found at end (3 bytes at offset 1000); give the size of a "
                            "record with --record-size"))
        << line;
  EXPECT_EQ(shell.run("$H sort -c in").err.find("validate"), std::string::npos);
}

TEST(Advice, a_rank_place_without_a_launcher_is_noted) {
  const Shell shell;
  const Outcome outcome = shell.run("$H gen 10 'in.{rank}'");
  EXPECT_EQ(outcome.exit_code, 0) << outcome;
  EXPECT_NE(outcome.err.find("note: FILE in.{rank}: {rank} stays in the name"), std::string::npos) << outcome;
  EXPECT_EQ(shell.run("$H sort -q 'in.{rank}' -o 'out.{rank}'").err, "");
  EXPECT_EQ(shell.names(), (Names{"in.{rank}", "out.{rank}"}));
}

}  // namespace
}  // namespace hetsort::cli::test
