// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <nlohmann/json.hpp>
#include <sstream>
#include <string>
#include <vector>

#include "tests/cli/program.h"

namespace hetsort::cli::test {
namespace {

using nlohmann::json;

TEST(CompareCommand, the_table_has_each_strategy_in_80_columns) {
  const Shell shell;
  const Outcome outcome =
      shell.run("$H gen 5000 in && $H compare in -o out --strategies equal,threshold,power:1.5 --rounds=2 -q");
  EXPECT_EQ(outcome.exit_code, 0) << outcome;
  EXPECT_EQ(outcome.err, "");
  for (const char* const text : {"5000 records on 1 rank, 2 rounds", "\nequal ", "\nthreshold ", "\npower:1.5 "})
    EXPECT_NE(outcome.out.find(text), std::string::npos) << text << " is not in\n" << outcome.out;
  std::istringstream lines(outcome.out);
  for (std::string line; std::getline(lines, line);) EXPECT_LE(line.size(), 80U) << line;
  EXPECT_EQ(shell.run("$H sort in -o one && cmp one out").exit_code, 0);
}

TEST(CompareCommand, all_stands_for_the_strategies_that_apply) {
  const Shell shell;
  const Outcome outcome = shell.run("$H gen 500 in && $H compare in -o out --strategies all --rounds 1 --shares 500");
  EXPECT_EQ(outcome.exit_code, 0) << outcome;
  for (const char* const name : {"\nauto ", "\ngiven ", "\nequal ", "\nlambert ", "\nthreshold ", "\npower:"})
    EXPECT_NE(outcome.out.find(name), std::string::npos) << name << " is not in\n" << outcome.out;
  EXPECT_NE(outcome.err.find("note: strategies that do not apply are left out: "), std::string::npos) << outcome.err;
  EXPECT_EQ(shell.run("$H compare in -q -o out --strategies all,equal").exit_code, 2);
}

TEST(CompareCommand, h_alone_prints_the_help_and_means_numbers_with_units_beside_other_options) {
  const Shell shell;
  EXPECT_EQ(shell.run("$H compare -h").exit_code, 0);
  EXPECT_EQ(shell.run("$H compare -h").out, shell.run("$H compare --help").out);
  const Outcome outcome =
      shell.run("printf '1G\\n2K\\n' > in; $H compare -q -h in -o out --strategies equal,threshold");
  EXPECT_EQ(outcome.exit_code, 0) << outcome;
  EXPECT_EQ(shell.file("out"), "2K\n1G\n");
  EXPECT_NE(outcome.out.find("2 records on 1 rank"), std::string::npos) << outcome.out;
}

TEST(CompareCommand, csv_has_a_line_for_each_rank_of_each_run) {
  const Shell shell;
  const Outcome outcome =
      shell.run("$H gen 5000 in && $H compare in -q -o out --strategies equal,threshold --rounds 2 --format csv");
  EXPECT_EQ(outcome.exit_code, 0) << outcome;
  std::istringstream lines(outcome.out);
  std::vector<std::string> found;
  for (std::string line; std::getline(lines, line);) found.push_back(line);
  ASSERT_EQ(found.size(), 5U) << outcome.out;
  EXPECT_EQ(found[0].rfind("file,round,strategy,records,seconds,predicted_seconds,rank,host,", 0), 0U) << found[0];
  for (std::size_t i = 1; i < 5; ++i) {
    const std::string begin =
        "comparison," + std::to_string((i + 1) / 2) + (i % 2 == 1 ? ",equal,5000," : ",threshold,5000,");
    EXPECT_EQ(found[i].rfind(begin, 0), 0U) << found[i];
    EXPECT_NE(found[i].find(",5000,5000,5000,5000,"), std::string::npos) << found[i];
    EXPECT_EQ(std::count(found[i].begin(), found[i].end(), ','), std::count(found[0].begin(), found[0].end(), ','));
  }
  EXPECT_EQ(shell
                .run("$H compare in -q -o out --strategies equal --rounds 1 --format json > c && $H report c --format "
                     "csv | wc -l")
                .out,
            "2\n");
}

TEST(CompareCommand, each_run_is_a_report_of_its_own) {
  const Shell shell;
  const Outcome outcome = shell.run(
      "$H gen 5000 in && $H compare in -o out --strategies equal,threshold --rounds 3 --format json --checksum");
  ASSERT_EQ(outcome.exit_code, 0) << outcome;
  const json compared = json::parse(outcome.out);
  EXPECT_EQ(compared["schema"], "hetsort.compare/1");
  ASSERT_EQ(compared["rounds"].size(), 3U);
  for (const json& round : compared["rounds"]) {
    ASSERT_EQ(round.size(), 2U);
    for (const auto& [strategy, run] : round.items()) {
      EXPECT_EQ(run["schema"], "hetsort.run/1");
      EXPECT_EQ(run["strategy"], strategy);
      EXPECT_EQ(run["records"], 5000);
      EXPECT_TRUE(run.contains("checksum"));
      // What was read and written since the process began is not the run's.
      EXPECT_LT(run["ranks"][0]["bytes_read"].get<std::uint64_t>(), 2U * 500'000U);
      EXPECT_EQ(run["ranks"][0]["bytes_written"], 500'000);
      EXPECT_LT(run["ranks"][0]["phases"][0]["begin"].get<double>(), run["seconds"].get<double>());
    }
  }
  shell.write("c.json", outcome.out);
  EXPECT_EQ(shell.run("$H report c.json --no-pictures -o r.html && grep -q threshold r.html").exit_code, 0);
}

TEST(CompareCommand, mistakes_are_reported) {
  const Shell shell;
  shell.run("$H gen 100 in");
  const auto fails = [&](const std::string& arguments, const std::string& text) {
    EXPECT_TRUE(failed_with(shell.run("$H compare " + arguments), text)) << arguments;
  };
  fails("in -o out", "compare wants --strategies");
  fails("in -o out --strategies", "'--strategies' is missing");
  fails("in -o out --strategies equal,", "names with commas between");
  fails("in -o out --strategies equal,equal", "names 'equal' twice");
  fails("in -o out --strategies equal,treshold", "treshold");
  fails("in -o out --strategies equal --strategy threshold",
        "unknown option '--strategy'; did you mean '--strategies'?");
  fails("in -o out --strategies equal --rounds 0", "--rounds wants 1 to 1000");
  fails("in -o out --strategies equal,threshold --rounds 501",
        "501 rounds of 2 strategies on 1 ranks are more than 1000 runs");
  fails("in -o out --strategies equal --rounds x", "--rounds 'x'");
  fails("in -o out --strategies equal --format yaml", "--format 'yaml'");
  fails("in -o out --strategies equal --report r.json", "unknown option '--report'");
  fails("in -o out --strategies equal --bogus", "unknown option '--bogus'");
  fails("in --strategies equal", "compare wants -o OUTPUT");
  fails("-o out --strategies equal", "files, not standard input");
  fails("in - -o out --strategies equal", "files, not standard input");
  fails("in -o in --strategies equal", "which is also INPUT: it would be replaced");
  fails("in -o ../$(basename $PWD)/in --strategies equal", "which is also INPUT: it would be replaced");
  fails("none -o out --strategies equal", "none: No such file");
  fails("in -o out --strategies equal --speeds 1,2", "--speeds gives 2 speeds");
  EXPECT_EQ(shell.names(), (Names{"in"}));
}

TEST(CompareCommand, what_can_be_read_or_replaced_only_once_is_refused) {
  const Shell shell;
  shell.run("$H gen 100 in && mkfifo pipe");
  const std::string words = " --strategies equal,threshold";
  EXPECT_TRUE(failed_with(shell.run("cat in | $H compare /dev/stdin -o out" + words), "/dev/stdin: compare reads"));
  EXPECT_TRUE(
      failed_with(shell.run("timeout 20 $H compare in pipe -o out" + words), "pipe: compare reads its INPUTs again"));
  EXPECT_TRUE(failed_with(shell.run("timeout 20 $H compare in -o pipe" + words), "pipe: compare replaces its OUTPUT"));
  EXPECT_TRUE(failed_with(shell.run("$H compare in -o /dev/stdout" + words + " | cat >&2; exit 2"), "/dev/stdout: "));
  EXPECT_EQ(shell.names(), (Names{"in", "pipe"}));
  // A file by another name is one.
  EXPECT_EQ(shell.run("ln -s in link && $H compare -q link -o out --rounds 1" + words).exit_code, 0);
}

TEST(CompareCommand, a_run_that_fails_ends_it_without_results_of_the_others) {
  const Shell shell;
  const Outcome outcome = shell.run(
      "$H gen 100 in && HETSORT_FAULTS=write:3:EIO $H compare in -o out --strategies equal,threshold --format json");
  EXPECT_TRUE(failed_with(outcome, "Input/output error"));
  EXPECT_EQ(outcome.out, "");
}

}  // namespace
}  // namespace hetsort::cli::test
