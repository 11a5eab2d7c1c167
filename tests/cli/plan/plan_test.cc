// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <sstream>

#include "tests/cli/program.h"

namespace hetsort::cli::test {
namespace {

using OrderedJson = nlohmann::ordered_json;

const std::string kGrid = " --cluster '" HETSORT_EXAMPLES "/grid-2003.toml' ";

class PlanCommand : public ::testing::Test {
 protected:
  OrderedJson json(const std::string& arguments) const {
    const Outcome outcome = shell_.run("$H plan --format json " + arguments);
    EXPECT_EQ(outcome.exit_code, 0) << outcome;
    return OrderedJson::parse(outcome.out, nullptr, false);
  }
  void expect_error(const std::string& arguments, const std::string& text) const {
    const Outcome outcome = shell_.run("$H plan " + arguments);
    EXPECT_TRUE(failed_with(outcome, text)) << arguments;
    EXPECT_EQ(outcome.out, "");
  }
  Shell shell_;
};

TEST_F(PlanCommand, prints_csv_of_a_plan_and_of_a_comparison) {
  shell_.write("c.toml", "[[node]]\nname = 'rack 1, \"slow\"'\nspeed = 1\n[[node]]\nname = 'b'\nspeed = 3\n");
  const std::string plan = shell_.run("$H plan -n 1000 --cluster c.toml --strategy proportional --format csv").out;
  EXPECT_EQ(plan.rfind("strategy,makespan,lower_bound,node,number,input_records,records,finish\nproportional,", 0), 0U);
  EXPECT_NE(plan.find(",\"rack 1, \"\"slow\"\"\",0,250,250,"), std::string::npos) << plan;
  EXPECT_NE(plan.find(",b,0,750,750,"), std::string::npos) << plan;
  const std::string all = shell_.run("$H plan -n 1000 --speeds 1,3 --compare --format csv").out;
  for (const char* const strategy : {"\nequal,", "\nproportional,", "\nlambert,"})
    EXPECT_NE(all.find(strategy), std::string::npos) << all;
  expect_error("--jobs j --cluster c.toml --format csv", "--format csv is for plans of one sort");
}

TEST_F(PlanCommand, prints_the_stable_json_of_a_plan) {
  const OrderedJson plan = json("-n 1000000 --speeds 1,2,4,8 --strategy lambert");
  std::vector<std::string> keys;
  for (const auto& [key, value] : plan.items()) keys.push_back(key);
  EXPECT_EQ(keys,
            (std::vector<std::string>{"schema", "strategy", "records", "unit", "makespan", "lower_bound", "nodes"}));
  EXPECT_EQ(plan["schema"], "hetsort.plan/1");
  EXPECT_EQ(plan["strategy"], "lambert");
  EXPECT_EQ(plan["unit"], "work units");
  EXPECT_EQ(plan["records"], 1'000'000);
  EXPECT_NEAR(plan["makespan"].get<double>(), 843197.08, 0.005);
  EXPECT_NEAR(plan["lower_bound"].get<double>(), 843195.59, 0.005);
  const std::vector<int> shares{75106, 142137, 269712, 513045};
  for (std::size_t i = 0; i < shares.size(); ++i) {
    EXPECT_EQ(plan["nodes"][i]["name"], std::to_string(i));
    EXPECT_EQ(plan["nodes"][i]["records"], shares[i]);
  }
  EXPECT_NEAR(plan["nodes"][0]["finish"].get<double>(), 843189.21, 0.005);
}

TEST_F(PlanCommand, within_a_time_plans_the_most_records_that_take_no_longer) {
  for (const std::string seconds : {"0.5", "60", "3600"}) {
    const double limit = std::stod(seconds);
    const OrderedJson plan = json("--within " + seconds + kGrid);
    EXPECT_LE(plan["makespan"].get<double>(), limit);
    const std::string more = std::to_string(plan["records"].get<std::int64_t>() + 1);
    EXPECT_GT(json("-n " + more + kGrid)["makespan"].get<double>(), limit) << seconds;
  }
  EXPECT_NE(shell_.run("$H plan --explain --within 60" + kGrid).out.find("within       60 s: "), std::string::npos);
  expect_error("--within 60 --speeds 1,2", "--within needs costs in seconds");
  expect_error("--within 60 -n 5" + kGrid, "exclude each other");
  expect_error("--within 60 --critical" + kGrid, "--within needs a time that grows with the records");
  expect_error("--within x" + kGrid, "--within 'x' is not a number of seconds");
  expect_error("--speeds 1,2", "or --within SECONDS");
}

std::string example_program(const std::string& program, const std::string& cluster) {
  return " --program '" HETSORT_EXAMPLES "/program-" + program + ".toml' --cluster '" HETSORT_EXAMPLES "/mheta-" +
         cluster + ".toml' ";
}

TEST_F(PlanCommand, predicts_the_parts_of_an_iteration_of_each_node) {
  const OrderedJson plan = json(example_program("jacobi", "hy1"));
  EXPECT_EQ(plan["strategy"], "threshold");
  EXPECT_EQ(plan["records"], 8192);
  const double iteration = plan["program"]["iteration"].get<double>();
  EXPECT_NEAR(plan["program"]["seconds"].get<double>(), 100 * iteration, 1e-9);
  double latest = 0;
  for (const auto& node : plan["nodes"]) {
    double sum = 0;
    for (const char* part : {"computing", "reading", "writing", "sending", "receiving", "blocked"})
      sum += node["program"][part].get<double>();
    EXPECT_NEAR(sum, node["program"]["seconds"].get<double>(), 1e-9);
    latest = std::max(latest, sum);
  }
  EXPECT_NEAR(latest, iteration, 1e-9);
}

TEST_F(PlanCommand, prints_and_compares_plans_of_a_program) {
  const Outcome plan = shell_.run("$H plan -n 4096" + example_program("lanczos", "io"));
  EXPECT_EQ(plan.exit_code, 0) << plan;
  EXPECT_NE(plan.out.find("program      lanczos: "), std::string::npos) << plan.out;
  EXPECT_NE(plan.out.find("computing  reading  writing  sending receiving   blocked  seconds"), std::string::npos);
  const Outcome comparison = shell_.run("$H plan --compare" + example_program("rna", "dc"));
  EXPECT_EQ(comparison.exit_code, 0) << comparison;
  EXPECT_NE(comparison.out.find("\nprogram                   seconds    iteration\n"), std::string::npos)
      << comparison.out;
}

TEST_F(PlanCommand, predicts_the_sort_as_a_program_as_the_model_of_a_whole_run_does) {
  const OrderedJson plan = json("-n 20000000 --program sort --cluster '" HETSORT_EXAMPLES "/two-nodes.toml'");
  EXPECT_EQ(plan["strategy"], "phases");
  EXPECT_NEAR(plan["program"]["seconds"].get<double>(), plan["run"]["seconds"].get<double>(), 1e-9);
}

TEST_F(PlanCommand, program_files_and_their_options_are_checked) {
  expect_error("--program p.toml", "--program needs --cluster");
  expect_error("--critical" + example_program("cg", "io"), "--critical is for sorts");
  expect_error("--program sort -n 5 --speeds 1,2", "--program needs --cluster");
  shell_.write("p.toml", "rows = 3\n[[section]]\ncommunication = 'none'\n");
  expect_error("--program p.toml --cluster '" HETSORT_EXAMPLES "/mheta-dc.toml'",
               "p.toml:2:1: section '' has no stage");
  shell_.write("c.toml", "[[node]]\nspeed = 1\n");
  expect_error("-n 5 --program sort --cluster c.toml", "the cluster file does not describe whole runs");
}

TEST_F(PlanCommand, defaults_to_lambert_with_speeds_and_threshold_with_a_cluster) {
  EXPECT_EQ(json("-n 10 --speeds 1,2")["strategy"], "lambert");
  shell_.write("c.toml", "[[node]]\nspeed = 1\n[[node]]\nspeed = 2\n");
  EXPECT_EQ(json("-n 10 --cluster c.toml")["strategy"], "threshold");
}

TEST_F(PlanCommand, numbers_the_nodes_that_share_a_name_by_their_place_in_the_file) {
  const OrderedJson plan = json("-n 1000 --input root" + kGrid);
  EXPECT_EQ(plan["unit"], "s");
  EXPECT_EQ(plan["nodes"][0]["label"], "caseb");
  EXPECT_EQ(plan["nodes"][3]["name"], "seven");
  EXPECT_EQ(plan["nodes"][3]["label"], "seven#1");
  EXPECT_EQ(plan["nodes"][4]["label"], "seven#2");
  shell_.write("c.toml", "[[node]]\nname = 'a-node-of-a-long-name'\nspeed = 1\ncount = 2\n");
  const std::string table = shell_.run("$H plan -n 10 --cluster c.toml").out;
  EXPECT_NE(table.find("\na-node-of-a-l~#2 "), std::string::npos) << table;
}

TEST_F(PlanCommand, takes_numbers_of_records_in_short_forms) {
  for (const std::string number : {"1500000", "1.5e6", "1.5M", "15e+5", "1500K", "0.0015G"})
    EXPECT_EQ(json("--speeds 1 -n " + number)["records"], 1'500'000) << number;
  for (const std::string number : {"1.5", "1e", "1MM", "1e-3", "M", "1,5M"})
    expect_error("--speeds 1 -n " + number, "'" + number + "' is not a decimal number");
  expect_error("--speeds 1 -n 1e19", "beyond 2^63 - 1");
}

TEST_F(PlanCommand, explains_what_bounds_the_run_as_the_documentation_shows_it) {
  const std::string two_nodes = "$H plan -n 20000000 --cluster '" HETSORT_EXAMPLES "/two-nodes.toml' --explain ";
  const Outcome shared = shell_.run(two_nodes);
  EXPECT_NE(shared.out.find("whole run    5.177 s: form_runs 2.000 s, exchange 3.077 s\n"
                            "bounds       form_runs: disk (fast, slow); exchange: disk (fast, slow)\n"
                            "plan         both ranks take 5.18 s, and disks bound the exchange; fast alone takes "),
            std::string::npos)
      << shared;
  EXPECT_NE(shell_.run(two_nodes + "--no-sync").out.find("exchange: processor (fast), link out (slow)\n"),
            std::string::npos);
  const Outcome own = shell_.run(two_nodes + "--input equal");
  EXPECT_NE(own.out.find("exchange: link out (slow), link in (fast)\n"), std::string::npos) << own;
}

TEST_F(PlanCommand, plans_the_2003_grid_in_both_orders_and_with_equal_shares) {
  EXPECT_NEAR(json("-n 817101 --strategy scatter-closed" + kGrid)["makespan"].get<double>(), 403.97, 0.01);
  const OrderedJson equal = json("-n 817101 --strategy equal" + kGrid);
  double earliest = 1e9;
  for (const OrderedJson& node : equal["nodes"]) earliest = std::min(earliest, node["finish"].get<double>());
  EXPECT_NEAR(earliest, 225.7, 0.05);
  EXPECT_NEAR(equal["makespan"].get<double>(), 829.2, 0.05);

  std::ostringstream ascending;
  const auto node = [&](const char* name, int count, const char* compute, const char* receive) {
    ascending << "[[node]]\nname = '" << name << "'\ncount = " << count
              << "\ncompute = { kind = 'linear', per_record = " << compute
              << " }\nreceive = { kind = 'linear', per_record = " << receive << " }\n";
  };
  node("merlin", 2, "0.003976", "8.15e-5");
  node("leda", 8, "0.009677", "3.53e-5");
  node("seven", 2, "0.016156", "2.10e-5");
  node("sekhmet", 1, "0.004885", "1.70e-5");
  node("pellinore", 1, "0.009365", "1.12e-5");
  node("caseb", 1, "0.004629", "1.00e-5");
  node("dinadan", 1, "0.009288", "0.0");
  shell_.write("up.toml", ascending.str());
  const OrderedJson given = json("-n 817101 --cluster up.toml --root dinadan --order given --strategy scatter-closed");
  EXPECT_NEAR(given["lower_bound"].get<double>(), 414.382577, 1e-6);
  EXPECT_EQ(given["nodes"][0]["name"], "merlin");
  EXPECT_EQ(json("-n 817101 --cluster up.toml --root auto --strategy scatter-closed")["nodes"].size(), 16u);
}

TEST_F(PlanCommand, compares_every_strategy_that_applies) {
  const OrderedJson plans = json("-n 100000 --speeds 1,2,4,8 --compare");
  EXPECT_EQ(plans["schema"], "hetsort.plans/1");
  EXPECT_EQ(plans["plans"].size(), 14u);
  for (const OrderedJson& plan : plans["plans"]) {
    EXPECT_EQ(plan["schema"], "hetsort.plan/1");
    EXPECT_GE(plan["plan_seconds"].get<double>(), 0);
    std::int64_t sum = 0;
    for (const OrderedJson& node : plan["nodes"]) sum += node["records"].get<std::int64_t>();
    EXPECT_EQ(sum, 100'000);
  }
}

TEST_F(PlanCommand, tables_and_pictures_fit_80_columns) {
  for (const std::string& arguments :
       {"-n 817101 --compare" + kGrid, std::string("-n 9223372036854775807 --speeds 1,2,3"),
        "-n 5 --strategy scatter-lp" + kGrid}) {
    const Outcome outcome = shell_.run("$H plan " + arguments);
    EXPECT_EQ(outcome.exit_code, 0) << outcome;
    std::istringstream lines(outcome.out.substr(0, outcome.out.find("\nleft out")));
    for (std::string line; std::getline(lines, line);) EXPECT_LE(line.size(), 80u) << line;
  }
}

/// Two hosts that form runs and merge equally fast; the link of the second is slow.
const std::string kUnequalLinks =
    "start = 0.5\nselect = 0.25\n"
    "[[node]]\nname = 'a'\ncompute = { kind = 'linear', per_record = 1e-6 }\n"
    "merge = { kind = 'linear', per_record = 1e-6 }\nbandwidth = '100MB/s'\n"
    "[[node]]\nname = 'b'\ncompute = { kind = 'linear', per_record = 1e-6 }\n"
    "merge = { kind = 'linear', per_record = 1e-6 }\nbandwidth_in = '10MB/s'\nbandwidth_out = '100MB/s'\n";

TEST_F(PlanCommand, a_root_sends_by_the_strategy_of_sort_unless_the_file_describes_whole_runs) {
  EXPECT_EQ(json("-n 1000" + kGrid)["strategy"], "scatter-closed");
  EXPECT_EQ(json("-n 1000 --input shared" + kGrid)["strategy"], "threshold");
  std::string nodes = kUnequalLinks;
  nodes.insert(nodes.find("name"), "root = true\nreceive = { kind = 'linear', per_record = 1e-6 }\n");
  nodes.insert(nodes.rfind("name"), "receive = { kind = 'linear', per_record = 1e-6 }\n");
  shell_.write("whole.toml", nodes);
  EXPECT_EQ(json("-n 1000 --cluster whole.toml")["strategy"], "phases");
  EXPECT_EQ(json("-n 1000 --cluster whole.toml --input root")["strategy"], "scatter-closed");
  expect_error("-n 10 --input equal --root seven" + kGrid, "leave --input out");
}

TEST_F(PlanCommand, keeps_to_what_a_sort_holds_in_memory_and_finds_the_critical_set) {
  shell_.write("m.toml",
               "[[node]]\nname = 'a'\nspeed = 8\nmemory = '10MB'\n[[node]]\nname = 'b'\nspeed = 1\nmemory = '40MB'\n"
               "[[node]]\nname = 'c'\nspeed = 1\nmemory = '40MB'\n");
  // A sort needs memory for the index and for blocks, too.
  const auto of_a = json("-n 400000 --cluster m.toml")["nodes"][0]["records"].get<std::int64_t>();
  EXPECT_LT(of_a, 85'000);
  EXPECT_GT(of_a, 50'000);
  EXPECT_GT(json("-n 400000 --cluster m.toml --ignore-memory")["nodes"][0]["records"], 250'000);
  EXPECT_EQ(json("-n 400000 --cluster m.toml --critical")["nodes"].size(), 2u);
  EXPECT_GT(json("-n 400000 --cluster m.toml --record-size 50")["nodes"][0]["records"], of_a * 3 / 2);
  const std::string too_many = shell_.run("$H plan -n 9000000 --cluster m.toml").err;
  EXPECT_NE(too_many.find(" fewer than the 9000000 to be shared"), std::string::npos) << too_many;
  expect_error("-n 9000000 --cluster m.toml --critical", " fewer");
  expect_error("-n 10 --cluster m.toml --critical --ignore-memory", "exclude each other");
  shell_.write("small.toml", "[[node]]\nspeed = 1\n[[node]]\nspeed = 1\nmemory = '100KB'\n");
  expect_error("-n 10 --cluster small.toml",
               "small.toml:3:1: node '1': a memory of 100000 bytes is too small to sort records of 100 bytes in it");
}

TEST_F(PlanCommand, lets_records_spill_if_it_knows_what_that_costs) {
  const std::string node =
      "[[node]]\ncompute = { kind = 'linear', per_record = 1e-6 }\nmerge = { kind = 'linear', per_record = 1e-6 }\n"
      "memory = '10MB'\n";
  const std::string disks = "disk_read = '100MB/s'\ndisk_write = '100MB/s'\n";
  shell_.write("spill.toml", node + disks + node + disks);
  const OrderedJson spilling = json("-n 1000000 --cluster spill.toml");
  EXPECT_EQ(spilling["nodes"][0]["form_runs_bound"], "memory");
  const OrderedJson fitting = json("-n 100000 --cluster spill.toml");
  EXPECT_GT(spilling["run"]["seconds"].get<double>(), 12 * fitting["run"]["seconds"].get<double>());
  expect_error("-n 1000000 --cluster spill.toml --critical", " fewer than ");
  // Without the rates of disks nobody knows.
  shell_.write("no-disk.toml", node + node);
  expect_error("-n 1000000 --cluster no-disk.toml", " fewer than the 1000000 to be shared");
}

TEST_F(PlanCommand, auto_takes_what_fits_the_cluster_file) {
  shell_.write("links.toml", kUnequalLinks);
  EXPECT_EQ(json("-n 10 --cluster links.toml")["strategy"], "phases");
  EXPECT_EQ(json("-n 10 --cluster links.toml --strategy auto")["strategy"], "phases");
  EXPECT_EQ(json("-n 10 --speeds 1,2 --strategy auto")["strategy"], "lambert");
  EXPECT_EQ(json("-n 8171 --strategy auto" + kGrid)["strategy"], "scatter-closed");
  shell_.write("some.toml", kUnequalLinks + "disk_read = '100MB/s'\n");
  EXPECT_EQ(json("-n 10 --cluster some.toml")["strategy"], "threshold");
  const Outcome outcome = shell_.run("$H plan -n 10 --cluster some.toml --strategy auto --explain");
  EXPECT_NE(outcome.out.find("chosen       it is exact for costs that rise\n"), std::string::npos) << outcome.out;
  EXPECT_NE(outcome.out.find("not known: some.toml:3:1: node 'a' has no 'disk read', but node 'b' has"),
            std::string::npos)
      << outcome.out;
}

TEST_F(PlanCommand, chooses_the_root_by_the_links_or_says_that_it_does_not_know_them) {
  const auto node = [](const std::string& fields) {
    return "[[node]]\ncompute = { kind = 'linear', per_record = 1 }\n" + fields;
  };
  shell_.write("links.toml", "links = [['', 1000, 10], [1000, '', 1000], [10, 10, '']]\n" + node("root = true\n") +
                                 node("") + node(""));
  const std::string words = "-n 100 --strategy scatter-exact --root auto --explain --cluster ";
  const Outcome known = shell_.run("$H plan " + words + "links.toml");
  EXPECT_NE(known.out.find("root: 1\n"), std::string::npos) << known.out;
  EXPECT_NE(known.out.find("makespan     49.60 s"), std::string::npos) << known.out;
  EXPECT_EQ(known.out.find("assumed"), std::string::npos) << known.out;
  const std::string receive = "receive = { kind = 'linear', per_record = 0.1 }\n";
  shell_.write("receive.toml", node(receive + "root = true\n") + node(receive));
  const Outcome unknown = shell_.run("$H plan " + words + "receive.toml");
  EXPECT_NE(unknown.out.find("sending to a node is assumed to cost the same from each root"), std::string::npos)
      << unknown.out;
  shell_.write("wrong.toml", "links = [['', 1], [1, '']]\n" + node("") + node("") + node(""));
  expect_error("-n 10 --cluster wrong.toml", "wrong.toml:1:9: links must have 3 rows, one for each node, not 2");
}

TEST_F(PlanCommand, predicts_the_whole_run_for_every_strategy) {
  shell_.write("links.toml", kUnequalLinks);
  const OrderedJson equal = json("-n 2000000 --cluster links.toml --strategy equal");
  EXPECT_NEAR(equal["run"]["form_runs"].get<double>(), 1, 1e-9);
  EXPECT_NEAR(equal["run"]["exchange"].get<double>(), 5, 1e-9);
  EXPECT_NEAR(equal["run"]["seconds"].get<double>(), 6.75, 1e-9);
  EXPECT_EQ(equal["nodes"][1]["exchange_bound"], "link in");
  EXPECT_EQ(equal["nodes"][0]["form_runs_bound"], "processor");
  const OrderedJson phases = json("-n 2000000 --cluster links.toml --strategy phases");
  EXPECT_LT(phases["run"]["seconds"].get<double>(), 4.76);
  EXPECT_EQ(phases["nodes"][0]["input"].get<int>() + phases["nodes"][1]["input"].get<int>(), 2'000'000);
  const OrderedJson own = json("-n 2000000 --cluster links.toml --strategy phases --input equal");
  EXPECT_EQ(own["nodes"][1]["input"], 1'000'000);
  EXPECT_LT(own["nodes"][1]["records"], 400'000);
  const OrderedJson compared = json("-n 2000000 --cluster links.toml --compare");
  for (const OrderedJson& plan : compared["plans"])
    EXPECT_GE(plan["run"]["seconds"].get<double>(), phases["run"]["seconds"].get<double>() * (1 - 1e-5)) << plan;
}

TEST_F(PlanCommand, takes_the_input_of_each_node_from_the_sizes_of_files) {
  shell_.write("links.toml", kUnequalLinks);
  shell_.write("in.0", std::string(500, 'a'));
  shell_.write("in.1", std::string(1500, 'a'));
  shell_.write("more.0", std::string(300, 'a'));
  shell_.write("more.1", "");
  const std::string rest = " --cluster links.toml";
  const OrderedJson named = json("--input in.1 --input=in.0" + rest);
  EXPECT_EQ(named["records"], 20);
  EXPECT_EQ(named["nodes"][0]["input"], 15);
  EXPECT_EQ(named["nodes"][1]["input"], 5);
  const OrderedJson of_ranks = json("--input 'in.{rank}' --input 'more.{rank}'" + rest);
  EXPECT_EQ(of_ranks["nodes"][0]["input"], 8);
  EXPECT_EQ(of_ranks["nodes"][1]["input"], 15);
  EXPECT_EQ(of_ranks, json("--input 'in.{rank}' --input 'more.{rank}' --strategy phases" + rest));
  EXPECT_EQ(json("--record-size 50 --input 'in.{rank}'" + rest)["records"], 40);
  expect_error("--input in.0" + rest, "--input names 1 file for 2 nodes: name one for each node, or use {rank}");
  expect_error("--input in.0 --input 'in.{rank}'" + rest, "use {rank} in the names");
  expect_error("--input missing.0 --input in.0" + rest, "open missing.0: No such file");
  expect_error("--record-size 7 --input 'in.{rank}'" + rest, "in.0: 500 bytes are no whole number of records");
  expect_error("--input . --input in.0" + rest, "--input .: is no regular file");
  expect_error("--input in.0 --input equal" + rest, "--input wants a form or files, not both");
  expect_error("--input 'in.{rank}' -n 5" + rest, "it excludes -n");
  expect_error("--input 'in.{rank}' --critical" + rest, "it excludes --critical");
  expect_error("--input 'in.{rank}' --speeds 1,2", "--input needs --cluster");
}

TEST_F(PlanCommand, explains_what_bounds_each_node) {
  shell_.write("links.toml", kUnequalLinks);
  const Outcome outcome = shell_.run("$H plan -n 2000000 --cluster links.toml --strategy equal --explain");
  EXPECT_EQ(outcome.exit_code, 0) << outcome;
  EXPECT_NE(outcome.out.find("bounds       form_runs: processor (a, b); exchange: processor (a), link in (b)\n"),
            std::string::npos)
      << outcome.out;
  EXPECT_NE(outcome.out.find("unlimited    disks, memory, processors while"), std::string::npos) << outcome.out;
  shell_.write("speeds.toml", "[[node]]\nspeed = 1\n");
  EXPECT_NE(shell_.run("$H plan -n 5 --cluster speeds.toml --explain").out.find("no compute cost in seconds"),
            std::string::npos);
}

TEST_F(PlanCommand, phases_names_what_the_cluster_file_lacks) {
  shell_.write("some.toml", kUnequalLinks + "disk_read = '100MB/s'\n");
  expect_error("-n 10 --cluster some.toml --strategy phases", "node 'a' has no 'disk read', but node 'b' has");
  shell_.write("bad.toml", kUnequalLinks + "message = '0MB/s'\n");
  expect_error("-n 10 --cluster bad.toml --strategy phases", "bad.toml:14:11: message '0MB/s' must be above zero");
  shell_.write("speeds.toml", "[[node]]\nspeed = 1\n");
  expect_error("-n 10 --cluster speeds.toml --strategy phases", "node '0' has no compute cost in seconds");
  expect_error("-n 10 --speeds 1,2 --strategy phases", "compute and merge costs");
}

TEST_F(PlanCommand, emits_a_hostfile_of_the_nodes_that_get_records) {
  const Outcome outcome = shell_.run("$H plan -n 817101 --emit-hostfile" + kGrid);
  EXPECT_EQ(outcome.exit_code, 0) << outcome;
  EXPECT_NE(outcome.out.find("leda slots=8\n"), std::string::npos) << outcome.out;
  EXPECT_NE(outcome.out.find("dinadan slots=1\n"), std::string::npos);
}

TEST_F(PlanCommand, a_hostfile_needs_names) {
  shell_.write("c.toml", "[[node]]\nname = 'a'\nspeed = 1\n[[node]]\nspeed = 2\n");
  expect_error("-n 10 --emit-hostfile --cluster c.toml", "node 1 has no name");
}

TEST_F(PlanCommand, checks_the_picture_before_it_plans) {
  expect_error("-n 10 --speeds 1 --plot none/p.svg", "none/p.svg: No such file");
  shell_.run("mkdir p.svg");
  expect_error("-n 10 --speeds 1 --plot p.svg", "p.svg: Is a directory");
}

TEST_F(PlanCommand, plans_by_measured_curves) {
  shell_.write("curves.json",
               R"({"schema":"hetsort.curves/1","nodes":[{"name":"0","points":[[100,1,3,0],[1000,10,3,0]]},)"
               R"({"name":"1","points":[[100,2,3,0],[1000,20,3,0]]}]})");
  const OrderedJson plan = json("-n 900 --speeds 1,1 --learn curves.json --strategy learned");
  EXPECT_EQ(plan["nodes"][0]["records"], 600);
  EXPECT_NEAR(plan["makespan"].get<double>(), 6.0, 0.05);
  expect_error("-n 9 --speeds 1,1 --learn none.json", "none.json: No such file");
}

TEST_F(PlanCommand, draws_records_in_millions_and_what_separates_the_nodes) {
  EXPECT_EQ(shell_.run("$H plan -n 9M --speeds 1,2 --strategy proportional --plot p.svg").exit_code, 0);
  const std::string picture = shell_.file("p.svg");
  for (const char* text : {">million records<", ">9,000,000 records, strategy proportional",
                           "<title>0: 3000000 records<", "% earlier<", "percent of the makespan"})
    EXPECT_NE(picture.find(text), std::string::npos) << text;
  EXPECT_EQ(picture.find("e+0"), std::string::npos);
  EXPECT_EQ(shell_.run("$H plan -n 9M --speeds 1,2 --compare --plot c.svg").exit_code, 0);
  EXPECT_NE(shell_.file("c.svg").find("% above the bound<"), std::string::npos);
  expect_error("-n 10 --speeds 1,2 --plot p.png", ".svg");
}

TEST_F(PlanCommand, answers_nonsense_with_one_clear_error) {
  expect_error("-n 10 --speeds 1,0", "number 2 must be a finite number above zero");
  expect_error("-n 10 --speeds 1,-2", "-2");
  expect_error("-n 10 --speeds nan", "nan");
  expect_error("-n 10 --speeds 1,inf", "inf");
  expect_error("-n 10 --speeds 1,fast", "'fast' is not a number");
  expect_error("-n 10 --speeds 1,,2", "'' is not a number");
  expect_error("-n 10 --speeds ''", "wants a list of numbers");
  expect_error("-n 10", "--speeds LIST and --cluster FILE");
  expect_error("--speeds 1", "-n NUM");
  expect_error("-n ten --speeds 1", "not a decimal number");
  expect_error("-n 9223372036854775808 --speeds 1", "beyond 2^63 - 1");
  expect_error("-n 10 --speeds 1 --strategy lambart", "unknown strategy 'lambart'; known: equal, ");
  expect_error("-n 10 --speeds 1 --strategy scatter-exact", "root");
  expect_error("-n 10 --speeds 1 --format xml", "none of table, json");
  expect_error("-n 10 --speeds 1 --cost cubic", "none of nlogn");
  expect_error("-n 10 --speeds 1 --cost power:0", "exponent");
  expect_error("-n 10 --speeds 1 --root a", "needs --cluster");
  expect_error("-n 10 --speeds 1 --compare --strategy lambert", "--compare");
  expect_error("-n 10 --schedule p.toml", "unknown option '--schedule'");
  expect_error("-n 10 --cluster none.toml", "none.toml: No such file");
  shell_.write("bad.toml", "[[node]]\nspeed = 1\nsped = 2\n");
  expect_error("-n 10 --cluster bad.toml", "bad.toml:3:1: unknown field 'sped'");
  shell_.write("rootless.toml", "[[node]]\nspeed = 1\n[[node]]\nspeed = 2\n");
  expect_error("-n 10 --cluster rootless.toml --strategy scatter-lp", "needs its root");
  expect_error("-n 10 --cluster rootless.toml --root 0 --strategy scatter-exact", "receive cost");
  expect_error("-n 10 --root nobody" + kGrid, "no node");
  expect_error("-n 10 --cost linear" + kGrid, "--cost");
}

TEST_F(PlanCommand, zero_records_and_fewer_records_than_nodes_are_plans) {
  const OrderedJson nothing = json("-n 0 --speeds 1,2,3");
  EXPECT_EQ(nothing["nodes"].size(), 3U);
  for (const OrderedJson& node : nothing["nodes"]) EXPECT_EQ(node["records"], 0);
  EXPECT_EQ(json("-n 1 --speeds 1,2,3")["nodes"][2]["records"], 1);
  EXPECT_EQ(json("-n 0" + kGrid)["makespan"], 0.0);
}

TEST_F(PlanCommand, help_names_every_strategy) {
  const Outcome outcome = shell_.run("$H plan --help");
  EXPECT_EQ(outcome.exit_code, 0);
  for (const char* name : {"--speeds", "lambert-asymptotic", "emulated:V", "scatter-closed", "-n [ --records ]"})
    EXPECT_NE(outcome.out.find(name), std::string::npos) << name;
}

TEST_F(PlanCommand, says_when_standard_output_cannot_be_written) {
  EXPECT_TRUE(failed_with(shell_.run("$H plan -n 10 --speeds 1,2 >/dev/full"), "No space left"));
}

}  // namespace
}  // namespace hetsort::cli::test
