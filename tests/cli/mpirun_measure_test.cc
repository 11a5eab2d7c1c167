// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
//
// calibrate, compare and what -v and reports measure on several ranks, as their users meet them.
#include <sys/mount.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <regex>

#include "tests/cli/mpirun_shell.h"

namespace hetsort::cli::test {
namespace {

using Json = nlohmann::json;

class MpirunMeasure : public ::testing::Test {
 protected:
  MpirunMeasure() { shell_.allow_victims(); }

  /// `line` must succeed. What it warns of depends on the machine's other work.
  Outcome done(const std::string& line) {
    Outcome outcome = shell_.run(line);
    EXPECT_EQ(outcome.exit_code, 0) << line << ": " << outcome;
    return outcome;
  }

  MpiShell shell_;
};

TEST_F(MpirunMeasure, a_calibration_is_a_cluster_file_for_plan_gen_and_sort) {
  done("$M -n 3 $H calibrate -o c.toml -T t --max-seconds 2 --progress none");
  EXPECT_EQ(shell_.names_in("t"), "");
  const Json plan = Json::parse(done("$H plan -n 30000 --cluster c.toml --format json").out);
  ASSERT_EQ(plan["nodes"].size(), 3U);
  done("$M -n 3 $H gen 30000 'd/in.{rank}' --cluster c.toml");
  done("$M -n 3 $H sort 'd/in.{rank}' -o 'd/out.{rank}' --cluster c.toml --report r.json");
  done("$H gen 30000 d/all && $H sort d/all -o d/whole && cat d/out.? | cmp - d/whole");
  const Json report = Json::parse(shell_.file("r.json"));
  EXPECT_EQ(report["strategy"], "phases");
  EXPECT_GT(report["predicted_seconds"].get<double>(), 0);
  // A busy machine may make a node so slow that it gets nothing.
  std::uint64_t records = 0;
  for (const Json& node : plan["nodes"]) records += node["records"].get<std::uint64_t>();
  EXPECT_EQ(records, 30'000U);
  // Scatter strategies find what it costs to get records from the first rank.
  const std::string host = done("hostname").out;
  done("$H plan -n 300 --cluster c.toml --strategy scatter-exact --root " + host);
}

TEST_F(MpirunMeasure, a_rank_that_cannot_measure_ends_it_with_one_message_and_no_file) {
  const Outcome missing = shell_.run(
      "VICTIM=1 INSTEAD='calibrate -o c.toml -T none --max-seconds 2 --progress none' "
      "$M -n 3 $A calibrate -o c.toml -T t --max-seconds 2 --progress none");
  EXPECT_TRUE(job_failed_with(missing, {"rank 1 (", "none", "No such file"}));
  const Outcome full = shell_.run(
      "VICTIM=2 FAULTS=write:3+:ENOSPC $M -n 3 $A calibrate -o c.toml -T t --max-seconds 2 "
      "--progress none");
  EXPECT_TRUE(job_failed_with(full, {"rank 2 (", "No space left on device"}));
  EXPECT_EQ(shell_.names_in("t"), "");
  EXPECT_EQ(shell_.names_in(".").find("c.toml"), std::string::npos);
}

TEST_F(MpirunMeasure, sizes_end_where_disk_or_memory_does) {
  const std::string small = shell_.path() + "/t";
  constexpr std::uint64_t kRoomForRecords = 26'300;  // of two ranks, each in an input and an output, twice
  // Who may not mount a small disk gets memory for as many records.
  const bool mounted = ::mount("none", small.c_str(), "tmpfs", 0, "size=20m") == 0;
  const std::string memory = mounted ? "" : " -S " + std::to_string(kRoomForRecords * 256) + "B";
  const Outcome outcome = shell_.run("$M -n 2 $H calibrate -o c.toml -T t --max-seconds 20 --progress none" + memory);
  if (mounted) ::umount(small.c_str());
  EXPECT_EQ(outcome.exit_code, 0) << outcome;
  const std::string text = shell_.file("c.toml");
  std::uint64_t largest = 0;
  const std::regex point("\\[([0-9]+), ");
  for (std::sregex_iterator one(text.begin(), text.end(), point), end; one != end; ++one)
    largest = std::max<std::uint64_t>(largest, std::stoull((*one)[1]));
  EXPECT_GT(largest, 20'000U) << text;
  EXPECT_LE(largest, kRoomForRecords) << text;
}

TEST_F(MpirunMeasure, a_comparison_has_each_strategy_and_round) {
  done("$H gen 30000 d/all && $H sort d/all -o d/whole && $M -n 3 $H gen 30000 'd/in.{rank}'");
  const std::string options = " --strategies lambert,equal --rounds 2 --speeds 1,2,3";
  const Outcome own = done("$M -n 3 $H compare 'd/in.{rank}' -o 'd/out.{rank}' --format json" + options);
  const Outcome shared = done("$M -n 3 $H compare d/all -o d/out --format json" + options);
  done("cmp d/out d/whole && cat d/out.? | cmp - d/whole");
  for (const Outcome* outcome : {&own, &shared}) {
    const Json rounds = Json::parse(outcome->out)["rounds"];
    ASSERT_EQ(rounds.size(), 2U);
    for (const Json& round : rounds)
      for (const char* const strategy : {"lambert", "equal"}) {
        const Json& ranks = round[strategy]["ranks"];
        ASSERT_EQ(ranks.size(), 3U);
        const bool even = strategy == std::string("equal");
        EXPECT_EQ(ranks[0]["output_records"] == ranks[2]["output_records"], even);
        // Own files hold what they hold; of a shared one each strategy gives its shares.
        EXPECT_EQ(ranks[0]["input_records"] == ranks[2]["input_records"], even || outcome == &own);
        for (const Json& rank : ranks) EXPECT_LT(rank["bytes_sent"].get<std::uint64_t>(), 2'000'000U);
      }
  }
  shell_.write("c.json", own.out);
  done("$H report c.json --no-pictures -o r.html && grep -q lambert r.html");
  const Outcome table = done("$M -n 3 $H compare d/all -o d/out" + options);
  for (const char* const text : {"30000 records on 3 ranks, 2 rounds", "\nequal ", "\nlambert "})
    EXPECT_NE(table.out.find(text), std::string::npos) << text << " is not in\n" << table.out;
}

TEST_F(MpirunMeasure, a_failed_run_of_a_comparison_is_reported_once) {
  done("$M -n 3 $H gen 30000 'd/in.{rank}'; echo old > d/out.1");
  const Outcome outcome = shell_.run(
      "VICTIM=1 FAULTS=write:1:ENOSPC $M -n 3 $A compare 'd/in.{rank}' -o 'd/out.{rank}' --strategies equal,threshold");
  EXPECT_TRUE(job_failed_with(outcome, {"rank 1 (", "d/out.1", "No space left on device"}));
  EXPECT_EQ(outcome.out, "");
  EXPECT_EQ(shell_.file("d/out.1"), "old\n");
}

TEST_F(MpirunMeasure, progress_counts_all_ranks_and_begins_within_a_second) {
  done("$H gen 40000 d/all");
  const Outcome slow =
      done("HETSORT_FAULTS=write:1:delay2500 $M -n 2 $H sort d/all -o 'd/out.{rank}' --speeds 1,1 --progress lines");
  const std::string first = slow.err.substr(slow.err.find("hetsort: "));
  EXPECT_TRUE(std::regex_search(first, std::regex("^hetsort: [a-z_]+  ([0-9]+ %  )?.*GB"))) << slow;
  EXPECT_NE(first.find(" of 0.0 GB"), std::string::npos) << slow;
}

TEST_F(MpirunMeasure, ranks_that_wait_for_a_slow_one_are_shown_as_waiting) {
  done("$M -n 2 $H gen 2000 'd/in.{rank}'");
  const Outcome outcome = done(
      "VICTIM=1 FAULTS=read:2:delay2000 $M -n 2 $A sort 'd/in.{rank}' -o 'd/out.{rank}' -v --report r.json --trace "
      "t.json");
  const Json report = Json::parse(shell_.file("r.json"));
  const auto phase_of = [&](int rank, const std::string& name) {
    for (const Json& phase : report["ranks"][rank]["phases"])
      if (phase["name"] == name) return phase;
    return Json();
  };
  const auto seconds = [](const Json& phase) { return phase["end"].get<double>() - phase["begin"].get<double>(); };
  const Json waiting = phase_of(0, "select_splitters");
  EXPECT_GT(seconds(waiting), 2 * waiting["worked_seconds"].get<double>()) << waiting;
  EXPECT_FALSE(waiting["waits"].empty());
  const Json working = phase_of(1, "form_runs");
  EXPECT_GT(working["worked_seconds"].get<double>(), 0.9 * seconds(working));
  const std::string slowest = "form_runs +[0-9.]+ s, 0.000 s of it waiting; slowest: rank 1 [^ ]+ worked 2";
  EXPECT_TRUE(std::regex_search(outcome.err, std::regex(slowest))) << outcome;
  EXPECT_NE(shell_.file("t.json").find("wait for other ranks"), std::string::npos);
}

TEST_F(MpirunMeasure, a_cluster_file_learns_from_sorts) {
  const std::string costs =
      "compute = { kind = \"linear\", per_record = 1e-5 }  # a guess\nmerge = { kind = \"linear\", per_record = 1e-5 "
      "}\n";
  shell_.write("c.toml", "# ours\nstart = 9.0\n[[node]]\n" + costs + "[[node]]\n" + costs);
  done("$M -n 2 $H gen 600000 'd/in.{rank}'");
  std::vector<double> predicted;
  for (int run = 0; run < 4; ++run) {
    done("$M -n 2 $H sort -q 'd/in.{rank}' -o 'd/out.{rank}' --learn c.toml --report r.json");
    const Json report = Json::parse(shell_.file("r.json"));
    EXPECT_EQ(report["strategy"], "phases");
    predicted.push_back(report["predicted_seconds"].get<double>());
  }
  // 15 s; the sort takes a small part of a second.
  EXPECT_GT(predicted.front(), 14);
  EXPECT_LT(predicted.back(), 0.3 * predicted.front());
  const std::string file = shell_.file("c.toml");
  EXPECT_TRUE(file.starts_with("# ours\nstart = ")) << file;
  EXPECT_NE(file.find("per_record = 1e-5 }  # a guess\n"), std::string::npos) << file;
  done("$H plan -n 1000 --cluster c.toml");
  shell_.write("other.toml", file);
  EXPECT_TRUE(
      failed_with(shell_.run("$H sort d/in.0 -o d/o --learn c.toml --cluster other.toml"), "different cluster"));
  EXPECT_TRUE(failed_with(shell_.run("$H sort d/in.0 -o d/o --learn c.toml --speeds 1"), "exclude each other"));
  // Costs of one phase do not predict a run.
  shell_.write("speeds.toml", "[[node]]\nspeed = 1\n[[node]]\nspeed = 2\n");
  const Outcome noted =
      done("$M -n 2 $H sort 'd/in.{rank}' -o 'd/out.{rank}' --learn speeds.toml --cluster speeds.toml");
  EXPECT_NE(noted.err.find("speeds.toml learned nothing: it does not describe whole runs"), std::string::npos) << noted;
  EXPECT_EQ(shell_.file("speeds.toml"), "[[node]]\nspeed = 1\n[[node]]\nspeed = 2\n");
}

}  // namespace
}  // namespace hetsort::cli::test
