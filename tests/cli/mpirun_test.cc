// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
//
// The program on several ranks, as its users meet it.
#include <sys/mount.h>
#include <unistd.h>

#include <nlohmann/json.hpp>
#include <set>
#include <vector>

#include "tests/cli/mpirun_shell.h"

namespace hetsort::cli::test {
namespace {

using Json = nlohmann::json;

class Mpirun : public ::testing::Test {
 protected:
  Mpirun() { shell_.allow_victims(); }

  Outcome run(const std::string& line) { return shell_.run(line); }
  /// `line` must succeed, quietly.
  void expect_done(const std::string& line) {
    const Outcome outcome = run(line);
    EXPECT_EQ(outcome.exit_code, 0) << line << ": " << outcome;
    EXPECT_EQ(messages(outcome), 0) << line << ": " << outcome;
  }
  /// The sort must fail for this reason within 10 s, with the old outputs as they were and nothing left over.
  void expect_failure(const std::string& line, const std::vector<std::string>& texts) {
    expect_done("for r in 0 1 2 3; do echo old $r > d/out.$r; done; echo old > d/out");
    const std::string before = shell_.names_in("d");
    const Outcome outcome = run(line);
    EXPECT_TRUE(job_failed_with(outcome, texts)) << line;
    EXPECT_LT(shell_.seconds(), 10) << line;
    EXPECT_EQ(shell_.names_in("d"), before) << line;
    EXPECT_EQ(shell_.names_in("t"), "") << line;
    EXPECT_EQ(shell_.file("d/out") + shell_.file("d/out.0") + shell_.file("d/out.3"), "old\nold 0\nold 3\n") << line;
  }

  MpiShell shell_;
};

TEST_F(Mpirun, unequal_ranks_end_with_exactly_the_planned_records) {
  expect_done("$M -n 4 $H gen 400000 'd/in.{rank}'");
  expect_done("$H gen 400000 d/all && cat d/in.? | cmp - d/all");
  expect_done("$M -n 4 $H sort 'd/in.{rank}' -o 'd/out.{rank}' --speeds 3,3,2,2");
  const std::string judged = run("$H validate d/out.0 d/out.1 d/out.2 d/out.3").err;
  const std::string checksum = run("$H gen -c 400000 /dev/null").err;
  EXPECT_NE(judged.find("Checksum: " + checksum), std::string::npos) << judged;
  EXPECT_NE(judged.find("SUCCESS"), std::string::npos) << judged;
  const Json plan = Json::parse(run("$H plan -n 400000 --speeds 3,3,2,2 --format json").out);
  for (int rank = 0; rank < 4; ++rank)
    EXPECT_EQ(std::filesystem::file_size(shell_.path() + "/d/out." + std::to_string(rank)),
              plan["nodes"][rank]["records"].get<std::uint64_t>() * 100);
  expect_done("$H sort d/all -o d/whole && cat d/out.? | cmp - d/whole");
}

TEST_F(Mpirun, rank_0_plans_for_all_whatever_the_others_find) {
  // Each rank has a folder of its own, with another cluster file or none.
  expect_done("mkdir one two three && $H gen 40000 d/all && $H sort d/all -o d/whole");
  shell_.write("one/c.toml", "[[node]]\nspeed = 3\n[[node]]\nspeed = 1\n");
  shell_.write("two/c.toml", "[[node]]\nspeed = 1\n[[node]]\nspeed = 3\n");
  // A sorted input: records that two ranks read, or no rank, would be in order.
  for (const std::string other : {"two", "three"})
    for (const std::string words : {"sort ../d/whole -o ../d/out.{rank} ", "gen 40000 ../d/out.{rank} "}) {
      SCOPED_TRACE(other + " " + words);
      const std::string command = " exec $H " + words + "--strategy proportional --cluster c.toml";
      expect_done("rm -f d/out.*; $M -n 1 sh -c 'cd one;" + command + "' : -n 1 sh -c 'cd " + other + ";" + command +
                  "'");
      expect_done("cat d/out.0 d/out.1 | cmp - d/" + std::string(words[0] == 's' ? "whole" : "all"));
      EXPECT_EQ(std::filesystem::file_size(shell_.path() + "/d/out.0"), 3'000'000U);
    }
}

TEST_F(Mpirun, every_way_in_and_out_gives_what_one_process_gives) {
  expect_done(
      "$H gen --keys few:7 50000 d/all && $H sort d/all -o d/whole && $M -n 3 $H gen --keys few:7 50000 'd/in.{rank}'");
  for (const std::string exchange : {"inline", "thread", "threads"}) {
    SCOPED_TRACE(exchange);
    const std::string sort = "$M -n 3 $H sort -T t --exchange " + exchange;
    if (kForwardsInput) {
      expect_done(sort + " --records 50000 <d/all -o d/out && cmp d/out d/whole");
      expect_done("cat d/all | " + sort + " --records 50000 -o d/out && cmp d/out d/whole");
    }
    expect_done(sort + " --root-input d/all --strategy emulated:7 --speeds 1,2,4 -o d/out && cmp d/out d/whole");
    // One shared file, over one that stands there.
    expect_done("echo old > d/out; " + sort + " d/all -o d/out --speeds 1,2,3 && cmp d/out d/whole");
    expect_done(sort + " d/all > d/stdout && cmp d/stdout d/whole");
    expect_done(sort + " 'd/in.{rank}' | cmp - d/whole");
    expect_done(sort + " 'd/in.{rank}' -S 3M -o 'd/out.{rank}' && cat d/out.? | cmp - d/whole");
    // The output is the input.
    expect_done("cp d/all d/same; " + sort + " d/same -o d/same && cmp d/same d/whole");
    EXPECT_EQ(shell_.names_in("t"), "");
    EXPECT_EQ(shell_.names_in("d").find(".part"), std::string::npos) << shell_.names_in("d");
  }
}

TEST_F(Mpirun, a_rank_whose_folder_is_other_storage_is_refused_by_name) {
  // Rank 1 has an empty file system in the place of the output's folder, or, where this user may not mount, a file of
  // the same name with another nonce in it.
  const bool mounts = run("unshare -m true").exit_code == 0;
  const std::string other_file = "HETSORT_FAULTS=read:1:corrupt exec $H \"$@\"\n";
  const std::string other_folder = "exec unshare -m sh -c 'mount -t tmpfs none d && exec $H \"$@\"' sh \"$@\"\n";
  shell_.write("elsewhere", "#!/bin/sh\n[ \"${OMPI_COMM_WORLD_RANK:-$PMI_RANK}\" = 1 ] || exec $H \"$@\"\n" +
                                (mounts ? other_folder : other_file));
  expect_done("chmod +x elsewhere && $H gen 1000 t/all && echo old >d/out");
  const Outcome outcome = run("$M -n 2 ./elsewhere sort t/all -o d/out");
  EXPECT_TRUE(
      job_failed_with(outcome, {"rank 1 (", "open d/out: folder ", "/d is not the storage on which rank 0 stages",
                                mounts ? "No such file" : "another file of this name", "output untouched"}));
  EXPECT_EQ(shell_.names_in("d"), "out\n");
  EXPECT_EQ(shell_.file("d/out"), "old\n");
}

TEST_F(Mpirun, forwarded_standard_input_needs_the_number_of_records) {
  expect_done("$H gen 600 d/all && echo old >d/out");  // as much as a pipe holds
  for (const std::string ranks : {"1", "2"}) {
    const std::string sort = "cat d/all | $M -n " + ranks + " $H sort -q -o d/out ";
    EXPECT_TRUE(job_failed_with(run(sort), {"read standard input: a launcher forwards it", "--records"}));
    EXPECT_TRUE(job_failed_with(run(sort + "--records 601"), {"has 600 records and --records is 601"}));
    EXPECT_EQ(shell_.file("d/out"), "old\n");
  }
  expect_done("$M -n 2 $H sort --records 600 d/all -o d/out && cat d/all | $M -n 1 $H sort --records 600 -o d/out");
}

TEST_F(Mpirun, output_is_read_back_by_every_rank) {
  expect_done("$H gen 1000 d/all && $H sort d/all -o d/whole");
  for (const std::string out : {"d/out", "'d/out.{rank}'"}) {
    expect_done("$M -n 3 $H sort d/all -o " + out + " --verify-output --report d/r");
    const Json report = Json::parse(shell_.file("d/r"));
    for (const Json& rank : report["ranks"])
      EXPECT_EQ(rank["verified_bytes"].get<std::uint64_t>(), 100 * rank["output_records"].get<std::uint64_t>());
  }
  expect_done("cmp d/out d/whole && cat d/out.? | cmp - d/whole");
  EXPECT_TRUE(job_failed_with(run("$M -n 2 $H sort d/all --verify-output"), {"verify standard output"}));
}

TEST_F(Mpirun, clusters_are_matched_by_host_then_by_order_then_refused) {
  const std::string host = run("hostname").out;
  const auto node = [](const std::string& name, int speed) {
    return "[[node]]\nname = \"" + name + "\"\nspeed = " + std::to_string(speed) + "\n";
  };
  const std::string own = host.substr(0, host.size() - 1);
  shell_.write("hosts.toml", node("elsewhere", 9) + node(own, 1) + node(own + "2", 5));
  shell_.write("order.toml", node("a", 1) + node("b", 3));
  expect_done("$H gen 10000 d/all && $H sort d/all -o d/whole");
  expect_done("$M -n 2 $H sort d/all -o 'd/out.{rank}' --cluster order.toml && cat d/out.0 d/out.1 | cmp - d/whole");
  EXPECT_LT(2 * std::filesystem::file_size(shell_.path() + "/d/out.0"),
            std::filesystem::file_size(shell_.path() + "/d/out.1"));
  // One node of that name, two ranks on it: no order is guessed.
  EXPECT_TRUE(job_failed_with(run("$M -n 2 $H sort d/all -o d/o --cluster hosts.toml"), {"hosts.toml", "rank 1"}));
  EXPECT_TRUE(job_failed_with(run("$M -n 3 $H sort d/all -o d/o --cluster order.toml"), {"order.toml", "rank 0"}));
  EXPECT_TRUE(job_failed_with(run("$M -n 3 $H sort d/all -o d/o --cluster none.toml"), {"none.toml", "No such file"}));
  expect_done("$M -n 1 $H sort d/all -o d/o --cluster hosts.toml && cmp d/o d/whole");
}

TEST_F(Mpirun, a_job_of_one_rank_has_a_number_too) {
  expect_done(
      "$M -n 1 $H gen 1000 'd/in.{rank}' && $M -n 1 $H sort 'd/in.{rank}' -o 'd/out.{rank}' && "
      "$M -n 1 $H validate -q 'd/out.{rank}' && $M -n 1 $H validate -q d/out.0");
  EXPECT_EQ(shell_.names_in("d"), "in.0\nout.0\n");
  // Without a launcher a name is a name.
  expect_done("$H gen 1000 'd/in.{rank}' && cmp 'd/in.{rank}' d/in.0");
}

TEST_F(Mpirun, shares_follow_the_rates_when_nothing_else_is_known) {
  expect_done("$H gen 300000 d/all && $H sort d/all -o d/whole && $M -n 3 $H gen 300000 'd/in.{rank}'");
  // Rank 1 waits at its second read, the first one of records: for longer than a busy machine takes for the rest.
  expect_done("VICTIM=1 FAULTS=read:2:delay3000 $M -n 3 $A sort 'd/in.{rank}' -o 'd/out.{rank}' --report r.json");
  expect_done("cat d/out.? | cmp - d/whole");
  const Json report = Json::parse(shell_.file("r.json"));
  EXPECT_EQ(report["strategy"], "auto");
  const auto planned = [&](int rank) { return report["ranks"][rank]["planned_output_records"].get<std::uint64_t>(); };
  EXPECT_EQ(planned(0) + planned(1) + planned(2), 300000U);
  EXPECT_LT(planned(1), planned(0)) << report;
  EXPECT_LT(planned(1), planned(2)) << report;
  EXPECT_GT(report["ranks"][1]["work_seconds"], report["ranks"][0]["work_seconds"]) << report;
  // The same on request, and from every kind of input.
  for (const std::string input : {"d/all", "--root-input d/all", "--records 300000 <d/all"}) {
    if (!kForwardsInput && input.find('<') != input.npos) continue;
    expect_done("$M -n 3 $H sort -T t --strategy auto " + input + " -o d/out --report r.json && cmp d/out d/whole");
    EXPECT_EQ(Json::parse(shell_.file("r.json"))["strategy"], "auto");
  }
  // One rank has nothing to decide.
  expect_done("$M -n 1 $H sort d/all -o d/out --report r.json && cmp d/out d/whole");
  EXPECT_EQ(Json::parse(shell_.file("r.json"))["strategy"], "equal");
}

TEST_F(Mpirun, a_shared_input_goes_to_whoever_is_done_first) {
  expect_done("$H gen --keys few:3 600000 d/all && $H sort d/all -o d/whole");
  for (const std::string words : {"-n 2", "-n 3", "-n 4", "-n 3 -S 8M", "-n 3 --exchange inline"}) {
    SCOPED_TRACE(words);
    const std::size_t end = words.find(' ', 3);
    const std::string options = end == std::string::npos ? "" : words.substr(end);
    const bool claims = options != " --exchange inline";
    // Rank 1 waits at its ninth read, the first one of records: --explain and the sort read a sample of the input, and
    // its first and last block to compare them among ranks. It waits for longer, where that counts, than a busy machine
    // needs for the rest.
    const Outcome outcome =
        run("VICTIM=1 FAULTS=read:9:delay" + std::string(claims ? "3000" : "1") + " $M " + words.substr(0, end) +
            " $A sort -T t --explain --report r.json d/all -o d/out" + options + " && cmp d/out d/whole");
    EXPECT_EQ(outcome.exit_code, 0) << outcome;
    EXPECT_NE(outcome.err.find(claims ? "claim it piece by piece" : "equal shares: with --exchange inline"),
              std::string::npos)
        << outcome;
    const Json ranks = Json::parse(shell_.file("r.json"))["ranks"];
    std::uint64_t records = 0;
    for (const Json& rank : ranks) {
      EXPECT_EQ(rank["input_records"], rank["planned_input_records"]);
      records += rank["input_records"].get<std::uint64_t>();
    }
    EXPECT_EQ(records, 600'000U);
    if (claims)
      EXPECT_LT(ranks[1]["input_records"], 600'000U / ranks.size()) << ranks;
    else
      EXPECT_EQ(ranks[1]["input_records"], 600'000U / ranks.size()) << ranks;
  }
  EXPECT_EQ(shell_.names_in("t"), "");
  // The others wait before they claim, or they might take what rank 1 has not read yet.
  const std::string broken = "export HETSORT_FAULTS=read:5:delay1500; VICTIM=1 FAULTS=read:10:EIO $M -n 3 $A ";
  EXPECT_TRUE(job_failed_with(run(broken + "sort -q d/all -o d/new"), {"rank 1 (", "d/all"}));
  EXPECT_EQ(shell_.names_in("d"), "all\nout\nwhole\n");
}

TEST_F(Mpirun, what_earlier_runs_learned_shares_the_next) {
  expect_done("$H gen 300000 d/all && $H sort d/all -o d/whole");
  const std::string host = run("hostname | tr -d '\\n'").out;
  // Both are slow enough to be measured, rank 1 of 2 more so, whatever else a busy machine does. The ninth read is the
  // first one of records; rank 0 has read the table, too, once there is one, and its first of records is the 14th.
  const auto sort = [&](const std::string& words) {
    const std::string line =
        "export HETSORT_FAULTS=read:9:delay100,read:14:delay100; VICTIM=1 FAULTS=read:9:delay2000 "
        "$M -n 2 $A sort d/all -o d/out --report r.json --explain --learn ";
    const Outcome outcome = run(line + words + " && cmp d/out d/whole");
    EXPECT_EQ(outcome.exit_code, 0) << outcome;
    return outcome.err;
  };
  EXPECT_NE(sort("table").find("table has no curve of " + host + ":1/2 yet"), std::string::npos);
  EXPECT_EQ(Json::parse(shell_.file("r.json"))["strategy"], "auto");
  std::uint64_t points = 0;
  for (int round = 0; round < 3; ++round) {
    EXPECT_NE(sort(round < 2 ? "table" : "table --strategy learned").find("table has curves of all ranks"),
              std::string::npos);
    const Json report = Json::parse(shell_.file("r.json"));
    EXPECT_EQ(report["strategy"], "learned");
    EXPECT_EQ(report["predicted_seconds"], nullptr);
    const Json& ranks = report["ranks"];
    // Of the input too, which the ranks divide.
    EXPECT_GT(ranks[0]["input_records"], ranks[1]["input_records"]) << report;
    EXPECT_EQ(ranks[0]["input_records"], ranks[0]["planned_output_records"]) << report;
    EXPECT_EQ(ranks[0]["output_records"], ranks[0]["planned_output_records"]) << report;
    const Json table = Json::parse(shell_.file("table"));
    EXPECT_EQ(table["schema"], "hetsort.curves/1");
    ASSERT_EQ(table["nodes"].size(), 2U) << table;
    std::uint64_t now = 0;
    for (const Json& node : table["nodes"]) {
      EXPECT_EQ(node["name"].get<std::string>().substr(0, host.size() + 1), host + ":") << table;
      now += node["points"].size();
    }
    EXPECT_GE(now, std::max<std::uint64_t>(points, 4)) << table;  // other shares are other points
    points = now;
  }
  // Speeds are an answer where the table has none; three ranks on a host are not two.
  expect_done("$M -n 3 $H sort d/all -o d/out --report r.json --learn table --speeds 1,1,2 && cmp d/out d/whole");
  EXPECT_EQ(Json::parse(shell_.file("r.json"))["strategy"], "lambert");
  EXPECT_TRUE(
      job_failed_with(run("$M -n 2 $H sort d/all -o d/out --strategy learned"), {"learned needs --learn FILE"}));
  EXPECT_TRUE(job_failed_with(run("echo '{' > d/bad; $M -n 2 $H sort d/all -o d/out --learn d/bad"),
                              {"d/bad: no JSON at byte"}));
  EXPECT_TRUE(job_failed_with(run("$M -n 2 $H gen 10 d/x --learn table"), {"unknown option '--learn'"}));
}

TEST_F(Mpirun, learned_without_curves_uses_the_cluster_file) {
  expect_done("$H gen 3000 d/all && $H sort d/all -o d/whole");
  const auto node = [](const std::string& words, int per_record) {
    return "[[node]]\n" + words + "compute = { kind = \"linear\", per_record = " + std::to_string(per_record) + " }\n";
  };
  const auto reason = [&](const std::string& cluster, const std::string& strategy) {
    shell_.write("c.toml", cluster);
    const Outcome outcome = run(
        "$M -n 2 $H sort d/all -o d/out --strategy learned --learn none --cluster c.toml --explain --report r.json && "
        "cmp d/out d/whole && rm -f none");
    EXPECT_EQ(outcome.exit_code, 0) << outcome;
    EXPECT_EQ(Json::parse(shell_.file("r.json"))["strategy"], strategy) << outcome;
    return outcome.err;
  };
  const std::string costs = reason(node("", 2) + node("", 1), "threshold");
  EXPECT_NE(costs.find("it is exact for costs that rise; none has no curve of "), std::string::npos) << costs;
  const std::string one_speed = reason(node("speed = 1\n", 2) + node("", 1), "threshold");
  EXPECT_EQ(one_speed.find("speeds are known"), std::string::npos) << one_speed;
  const std::string speeds = reason(node("speed = 1\n", 2) + node("speed = 2\n", 1), "learned");
  EXPECT_NE(speeds.find("/2 yet, but speeds are known"), std::string::npos) << speeds;
}

TEST_F(Mpirun, auto_takes_the_exact_strategy_for_what_is_known) {
  expect_done("$H gen 30000 d/all && $H sort d/all -o d/whole");
  const auto node = [](const std::string& name, const std::string& costs) {
    return "[[node]]\nname = \"" + name + "\"\n" + costs + "\n";
  };
  const auto line = [](double per_record) {
    return "{ kind = \"linear\", per_record = " + std::to_string(per_record) + " }";
  };
  shell_.write("speeds.toml", node("a", "speed = 1") + node("b", "speed = 3"));
  shell_.write("costs.toml", node("a", "compute = " + line(1)) + node("b", "compute = " + line(0.5)));
  shell_.write("linear.toml",
               node("a", "compute = " + line(1)) + node("b", "compute = " + line(0.5) + "\nreceive = " + line(0.25)));
  shell_.write("nlogn.toml", node("a", "compute = { kind = \"nlogn\", coefficient = 0.01 }") +
                                 node("b", "compute = " + line(0.5) + "\nreceive = " + line(0.25)));
  const auto chosen = [&](const std::string& words, const std::string& strategy) {
    const Outcome outcome =
        run("$M -n 2 $H sort " + words + " -o d/out --explain --report r.json && cmp d/out d/whole");
    EXPECT_EQ(outcome.exit_code, 0) << outcome;
    EXPECT_NE(outcome.err.find(" " + strategy + ": "), std::string::npos) << outcome;
    EXPECT_EQ(Json::parse(shell_.file("r.json"))["strategy"], strategy) << words;
    EXPECT_EQ(Json::parse(run("$M -n 2 $H sort " + words + " -o d/out --dry-run").out)["strategy"], strategy) << words;
  };
  chosen("d/all", "auto");
  chosen("d/all --strategy equal", "equal");
  chosen("d/all --speeds 1,3", "lambert");
  chosen("d/all --strategy auto --speeds 1,3", "lambert");
  chosen("d/all --cluster speeds.toml", "lambert");
  chosen("d/all --cluster costs.toml", "threshold");
  chosen("d/all --cluster linear.toml", "threshold");
  chosen("--root-input d/all --cluster linear.toml", "scatter-closed");
  chosen("--root-input d/all --cluster nlogn.toml", "scatter-exact");
  chosen("--root-input d/all --cluster costs.toml", "threshold");
  // Who is sent to later works less before; for the output all begin at once.
  shell_.write("three.toml",
               shell_.file("linear.toml") + node("c", "compute = " + line(0.5) + "\nreceive = " + line(0.25)));
  expect_done("$M -n 3 $H sort --root-input d/all --cluster three.toml -o d/out --report r.json && cmp d/out d/whole");
  const Json ranks = Json::parse(shell_.file("r.json"))["ranks"];
  const std::array<std::array<int, 2>, 3> records{{{5000, 6000}, {15000, 12000}, {10000, 12000}}};
  for (std::size_t rank = 0; rank < records.size(); ++rank) {
    EXPECT_EQ(ranks[rank]["input_records"], records.at(rank)[0]) << ranks;
    EXPECT_EQ(ranks[rank]["output_records"], records.at(rank)[1]) << ranks;
  }
}

TEST_F(Mpirun, mistakes_are_reported_once) {
  expect_done("$H gen 1000 d/all");
  EXPECT_TRUE(job_failed_with(run("$M -n 3 $H sort --bogus d/all"), {"unknown option '--bogus'"}));
  EXPECT_TRUE(job_failed_with(run("$M -n 3 $H sort d/all -o d/o --speeds 1,2"), {"--speeds gives 2 speeds"}));
  EXPECT_TRUE(job_failed_with(run("$M -n 3 $H sort d/all 'd/in.{rank}' -o d/o"), {"cannot be mixed"}));
  EXPECT_TRUE(job_failed_with(run("$M -n 3 $H gen 1000 -"), {"several ranks cannot write one stream"}));
  EXPECT_TRUE(job_failed_with(run("$M -n 3 $H validate d/none"), {"d/none", "No such file"}));
}

TEST_F(Mpirun, a_mistake_is_reported_once_though_rank_0_is_late_or_made_none) {
  expect_done("$H gen 1000 d/all");
  EXPECT_TRUE(job_failed_with(run("$M -n 1 $H sort d/all -o d/o : -n 2 $H sort d/all -o d/o --bogus"),
                              {"rank 1 (", "unknown option '--bogus'"}));
  EXPECT_TRUE(job_failed_with(run("$M -n 1 sh -c 'sleep 1; exec $H sort --bogus' : -n 2 $H sort --bogus"),
                              {"hetsort: unknown option '--bogus'"}));
}

TEST_F(Mpirun, a_failure_on_one_rank_is_named_and_leaves_everything_as_it_was) {
  expect_done("$M -n 4 $H gen 40000 'd/in.{rank}' && $H gen 40000 d/all");
  const std::string own = "$M -n 4 $A sort -T t 'd/in.{rank}' -o 'd/out.{rank}'";
  const std::string shared = "$M -n 4 $A sort -T t d/all -o d/out";
  for (const std::string exchange : {"", " --exchange inline"}) {
    expect_failure("VICTIM=2 FAULTS=write:1:ENOSPC " + own + exchange,
                   {"rank 2 (", "write", "d/out.2", "No space left on device", "output untouched"});
    expect_failure("VICTIM=3 FAULTS=write:1:ENOSPC " + shared + exchange,
                   {"rank 3 (", "d/out", "No space left on device", "output untouched"});
    expect_failure("VICTIM=0 FAULTS=write:2+:EIO " + own + " -S 3M" + exchange,
                   {"rank 0 (", "write", "Input/output error", "output untouched"});
    expect_failure("VICTIM=1 FAULTS=read:1:EIO " + own + exchange,
                   {"rank 1 (", "read", "d/in.1", "Input/output error", "output untouched"});
    expect_failure("VICTIM=3 FAULTS=sync:1:EIO " + own + exchange, {"rank 3 (", "d/out.3", "Input/output error"});
  }
  expect_failure("mv d/in.2 t/; " + own + "; e=$?; mv t/in.2 d/; exit $e",
                 {"rank 2 (", "open", "d/in.2", "No such file"});
  expect_failure("truncate -s -50 d/in.3; " + own, {"rank 3 (", "d/in.3", "no whole number", "offset"});
}

TEST_F(Mpirun, a_disk_that_is_full_on_one_rank_is_named) {
  expect_done("mkdir small; $M -n 3 $H gen 60000 'd/in.{rank}'");
  const std::string small = shell_.path() + "/small";
  // Who may not mount a small disk gets one that is full from the second write on.
  const bool mounted = ::mount("none", small.c_str(), "tmpfs", 0, "size=1m") == 0;
  expect_done("ln -s ../small/out.1 d/out.1; echo old > small/out.1; echo old > d/out.0");
  // In equal shares: by rates, a rank that a busy machine keeps may end with so little that it fits.
  const Outcome outcome = run((mounted ? "$M -n 3 $H" : "VICTIM=1 FAULTS=write:2+:ENOSPC $M -n 3 $A") +
                              std::string(" sort 'd/in.{rank}' -o 'd/out.{rank}' --strategy equal --report r.json"));
  const std::string left = run("ls -A small; cat small/out.1 d/out.0").out;
  if (mounted) ::umount(small.c_str());
  EXPECT_TRUE(job_failed_with(outcome, {"rank 1 (", "d/out.1", "output untouched"}));
  EXPECT_LT(shell_.seconds(), 10);
  EXPECT_EQ(left, "out.1\nold\nold\n");
  const Json report = Json::parse(shell_.file("r.json"));
  EXPECT_NE(report["error"].get<std::string>().find("rank 1 ("), std::string::npos);
}

TEST_F(Mpirun, the_report_has_all_ranks) {
  expect_done(
      "$H gen 40000 d/all && $M -n 4 $H sort d/all -o 'd/out.{rank}' --speeds 3,3,2,2 --report r.json --trace t.json");
  const Json report = Json::parse(shell_.file("r.json"));
  EXPECT_EQ(report["records"], 40000);
  EXPECT_EQ(report["exchange"], "thread");
  EXPECT_FALSE(report.contains("error"));
  ASSERT_EQ(report["ranks"].size(), 4U);
  std::uint64_t in = 0;
  std::uint64_t out = 0;
  std::uint64_t sent = 0;
  std::uint64_t received = 0;
  for (std::size_t number = 0; number < 4; ++number) {
    const Json& rank = report["ranks"][number];
    EXPECT_EQ(rank["rank"], number);
    for (const char* const field : {"host",
                                    "threads",
                                    "planned_input_records",
                                    "planned_output_records",
                                    "input_records",
                                    "output_records",
                                    "runs",
                                    "in_memory",
                                    "bytes_read",
                                    "bytes_written",
                                    "bytes_spilled",
                                    "bytes_sent",
                                    "bytes_received",
                                    "bytes_shared",
                                    "memory_limit_bytes",
                                    "peak_rss_bytes",
                                    "communication_cpu_seconds",
                                    "process_seconds",
                                    "host_joules",
                                    "phases"})
      EXPECT_TRUE(rank.contains(field)) << field;
    EXPECT_EQ(rank["planned_output_records"], rank["output_records"]);
    EXPECT_EQ(rank["planned_input_records"], rank["input_records"]);
    in += rank["input_records"].get<std::uint64_t>();
    out += rank["output_records"].get<std::uint64_t>();
    sent += rank["bytes_sent"].get<std::uint64_t>();
    received += rank["bytes_received"].get<std::uint64_t>();
    std::vector<std::string> phases;
    double before = 0;
    for (const Json& phase : rank["phases"]) {
      phases.push_back(phase["name"]);
      EXPECT_LE(before, phase["begin"].get<double>() + 1e-3);
      EXPECT_LE(phase["begin"].get<double>(), phase["end"].get<double>());
      before = phase["end"];
    }
    EXPECT_EQ(phases,
              (std::vector<std::string>{"plan_shares", "form_runs", "select_splitters", "exchange", "publish"}));
  }
  EXPECT_EQ(in, 40000U);
  EXPECT_EQ(out, 40000U);
  EXPECT_GT(sent, 40000U * 100 / 2);
  EXPECT_GT(received, 40000U * 100 / 2);
  EXPECT_GE(report["process_seconds"].get<double>(), report["seconds"].get<double>() - 0.01);
  EXPECT_TRUE(report.contains("joules"));
  std::set<std::string> steps;
  const Json trace = Json::parse(shell_.file("t.json"));
  for (const Json& event : trace["traceEvents"]) steps.insert(event["name"]);
  for (const char* const step : {"index a piece", "send a block", "fill a block", "merge and write"})
    EXPECT_TRUE(steps.contains(step)) << step;
}

TEST_F(Mpirun, gen_is_the_same_as_of_one_process) {
  for (const std::string kind : {"", "-s", "-a", "--keys zipf:1.2", "--keys sorted", "-b 99999999999999999999"}) {
    expect_done("$H gen " + kind + " 7001 d/one && $M -n 3 $H gen " + kind +
                " 7001 'd/in.{rank}' --speeds 1,5,2 && cat d/in.? | cmp - d/one");
    expect_done("echo old > d/two; $M -n 2 $H gen " + kind + " 7001 d/two && cmp d/one d/two");
  }
  const Outcome sums = run("$H gen -c 7001 /dev/null; $M -n 3 $H gen -c 7001 'd/in.{rank}'");
  EXPECT_EQ(sums.err.substr(0, sums.err.size() / 2), sums.err.substr(sums.err.size() / 2));
}

TEST_F(Mpirun, validate_judges_borders_between_ranks) {
  expect_done(
      "$H gen --keys sorted 900 d/all; head -c 30000 d/all > d/v.0; tail -c +30001 d/all | head -c 30000 > d/v.1; tail "
      "-c 30000 d/all > d/v.2");
  const Outcome alone = run("$H validate d/all");
  const Outcome own = run("$M -n 3 $H validate 'd/v.{rank}'");
  EXPECT_EQ(own.exit_code, 0) << own;
  EXPECT_EQ(own.err, alone.err);
  const Outcome listed = run("$M -n 2 $H validate d/v.0 d/v.1 d/v.2");
  EXPECT_EQ(listed.exit_code, 0) << listed;
  EXPECT_EQ(listed.err, alone.err);
  // Each file is in order; only the border is not.
  const Outcome swapped =
      run("cat d/v.0 d/v.2 d/v.1 > d/s; $H validate d/s; mv d/v.1 d/x; mv d/v.2 d/v.1; mv d/x d/v.2; "
          "$M -n 3 $H validate 'd/v.{rank}'");
  EXPECT_EQ(swapped.exit_code, 1) << swapped;
  const std::size_t end = swapped.err.find("---");
  const std::string reports = swapped.err.substr(0, end);
  EXPECT_EQ(reports.substr(0, reports.size() / 2), reports.substr(reports.size() / 2)) << reports;
}

}  // namespace
}  // namespace hetsort::cli::test
