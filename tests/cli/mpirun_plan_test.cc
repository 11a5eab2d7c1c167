// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
//
// Sorts on several ranks whose shares are planned by the model of a whole run.
#include <nlohmann/json.hpp>
#include <vector>

#include "tests/cli/mpirun_shell.h"

namespace hetsort::cli::test {
namespace {

using Json = nlohmann::json;
using Numbers = std::vector<std::uint64_t>;

constexpr const char* kRecords = "300001";

std::string node(const std::string& name, const std::string& seconds, const std::string& fields) {
  return "[[node]]\nname = '" + name + "'\ncompute = { kind = 'linear', per_record = " + seconds +
         " }\nmerge = { kind = 'linear', per_record = 1e-6 }\n" + fields;
}

TEST(MpirunOutsideStrategy, decides_the_shares_of_ranks) {
  MpiShell shell;
  shell.write("mine", "#!/bin/sh\necho asked >>times\necho '{\"shares\": [999, 1]}'\n");
  const Outcome sorted = shell.run(
      "chmod +x mine && $H gen 1000 d/in && $H sort -q d/in -o d/one && "
      "$M -n 2 $H sort -q d/in -o d/out --strategy exec:./mine --report r && cmp d/one d/out");
  EXPECT_EQ(sorted.exit_code, 0) << sorted;
  const Json report = Json::parse(shell.file("r"));
  EXPECT_EQ(report["strategy"], "exec:./mine");
  EXPECT_EQ(report["ranks"][0]["output_records"], 999) << report;
  EXPECT_EQ(shell.file("times"), "asked\n");
  const Outcome compared =
      shell.run("$M -n 2 $H compare -q d/in -o d/out --strategies exec:./mine,equal --rounds 1 --format csv");
  EXPECT_EQ(compared.exit_code, 0) << compared;
  EXPECT_NE(compared.out.find(",exec:./mine,1000,"), std::string::npos) << compared.out;
}

TEST(MpirunOutsideStrategy, that_fails_ends_all_ranks_with_one_error) {
  MpiShell shell;
  EXPECT_EQ(shell.run("$H gen 1000 d/in && echo old >d/out").exit_code, 0);
  for (const std::string command : {"false", "echo {}", "./missing"})
    EXPECT_TRUE(job_failed_with(
        shell.run(std::string(kEndAtOnce) + "$M -n 2 $H sort -q d/in -o d/out --strategy 'exec:" + command + "'"),
        {"strategy 'exec:" + command + "': "}));
  EXPECT_EQ(shell.file("d/out"), "old\n");
}

class MpirunPlan : public ::testing::Test {
 protected:
  MpirunPlan() {
    const std::string disks = "disk_read = '200MB/s'\ndisk_write = '80MB/s'\n";
    // Links bound b, and the disk of c is slow. A half of the records does not fit one memory.
    shell_.write(
        "c.toml",
        "start = 0.5\nselect = 0.1\npublish = 0.2\n" +
            node("a", "1e-6", "bandwidth = '100MB/s'\nmemory = '12MB'\n" + disks) +
            node("b", "2e-6", "bandwidth_in = '10MB/s'\nbandwidth_out = '20MB/s'\nmemory = '40MB'\n" + disks) +
            node("c", "1e-6", "bandwidth = '50MB/s'\nmemory = '12MB'\ndisk_read = '20MB/s'\ndisk_write = '10MB/s'\n"));
    done("$H gen " + std::string(kRecords) + " d/all && $M -n 3 $H gen " + kRecords + " 'd/in.{rank}'");
    done("$H sort d/all -o d/whole");
  }

  Outcome done(const std::string& line) {
    Outcome outcome = shell_.run(line);
    EXPECT_EQ(outcome.exit_code, 0) << line << ": " << outcome;
    return outcome;
  }
  Json plan(const std::string& words) {
    return Json::parse(done("$H plan -n " + std::string(kRecords) + " --cluster c.toml --format json " + words).out);
  }
  /// Input and output of each node.
  static std::vector<Numbers> shares_of(const Json& plan) {
    std::vector<Numbers> shares(2);
    for (const Json& one : plan["nodes"]) {
      shares[0].push_back(one["input"].get<std::uint64_t>());
      shares[1].push_back(one["records"].get<std::uint64_t>());
    }
    return shares;
  }
  /// Sorts, and returns the report. By default the disk reads the input, which is what a plan assumes.
  Json sorted(const std::string& words, const std::string& io = "threads") {
    done("$M -n 3 $H sort " + words + " --io " + io +
         " -o d/out --cluster c.toml --report r.json && cmp d/out d/whole");
    return Json::parse(shell_.file("r.json"));
  }

  MpiShell shell_;
};

TEST_F(MpirunPlan, plan_and_sort_give_the_same_shares_and_the_same_prediction) {
  for (const auto& [input, form] : {std::pair{"d/all", ""}, std::pair{"'d/in.{rank}'", " --input equal"}}) {
    for (const std::string strategy : {"phases", "auto", "threshold", "equal", "phases --no-sync"}) {
      const Json planned = plan("--strategy " + strategy + form);
      const std::string words = std::string(input) + " --io threads --strategy " + strategy;
      const Json tried = Json::parse(done("$M -n 3 $H sort " + words + " -o d/out --cluster c.toml --dry-run").out);
      EXPECT_EQ(tried["strategy"], strategy == "auto" ? "phases" : strategy.substr(0, strategy.find(' ')));
      EXPECT_EQ(tried["strategy"], planned["strategy"]);
      EXPECT_EQ(shares_of(tried), shares_of(planned)) << words;
      EXPECT_DOUBLE_EQ(tried["run"]["seconds"].get<double>(), planned["run"]["seconds"].get<double>()) << words;
    }
  }
  EXPECT_EQ(plan("")["strategy"], "phases");
}

TEST_F(MpirunPlan, a_sort_reads_and_writes_what_is_planned_and_reports_the_prediction) {
  for (const auto& [input, form] : {std::pair{"d/all", ""}, std::pair{"'d/in.{rank}'", "--input equal"}}) {
    const Json planned = plan(form);
    const Json report = sorted(input);
    EXPECT_EQ(report["strategy"], "phases");
    EXPECT_DOUBLE_EQ(report["predicted_seconds"].get<double>(), planned["run"]["seconds"].get<double>());
    for (std::size_t rank = 0; rank < 3; ++rank) {
      const Json& of_rank = report["ranks"][rank];
      const Json& of_node = planned["nodes"][rank];
      EXPECT_EQ(of_rank["input_records"], of_node["input"]) << report;
      EXPECT_EQ(of_rank["output_records"], of_node["records"]) << report;
      EXPECT_EQ(of_rank["predicted_form_runs_seconds"], of_node["form_runs"]);
      EXPECT_EQ(of_rank["form_runs_bound"], of_node["form_runs_bound"]);
      EXPECT_EQ(of_rank["predicted_exchange_seconds"], of_node["exchange"]);
      EXPECT_EQ(of_rank["exchange_bound"], of_node["exchange_bound"]);
    }
  }
}

TEST_F(MpirunPlan, a_sort_predicts_that_no_disk_reads_what_is_in_the_page_cache) {
  for (const std::string input : {"d/all", "'d/in.{rank}'"}) {
    done("cat d/all d/in.? >/dev/null");
    const Json cached = sorted(input, "auto");
    const Json cold = sorted(input);
    EXPECT_LT(cached["predicted_seconds"].get<double>(), cold["predicted_seconds"].get<double>());
    for (std::size_t rank = 0; rank < 3; ++rank) {
      EXPECT_GT(cached["ranks"][rank]["input_cached"].get<double>(), 0.5) << cached;
      EXPECT_EQ(cold["ranks"][rank]["input_cached"].get<double>(), 0) << cold;
    }
  }
  const std::string sort = "cat d/all >/dev/null && $M -n 3 $H sort d/all -o d/out --cluster c.toml ";
  EXPECT_NE(done(sort + "--dry-run --explain").err.find("of it in the page cache"), std::string::npos);
  EXPECT_NE(done(sort + "-v").err.find("of the input was in the page cache"), std::string::npos);
}

TEST_F(MpirunPlan, a_plan_of_files_of_any_sizes_predicts_the_sort_of_them) {
  done("$M -n 3 $H gen 300001 'd/own.{rank}' --shares 200000,1,100000");
  const Json planned = Json::parse(done("$H plan --input 'd/own.{rank}' --cluster c.toml --format json").out);
  const Json report = sorted("'d/own.{rank}'");
  EXPECT_DOUBLE_EQ(report["predicted_seconds"].get<double>(), planned["run"]["seconds"].get<double>());
  for (std::size_t rank = 0; rank < 3; ++rank) {
    EXPECT_EQ(report["ranks"][rank]["input_records"], planned["nodes"][rank]["input"]) << report;
    EXPECT_EQ(report["ranks"][rank]["output_records"], planned["nodes"][rank]["records"]) << report;
  }
}

TEST_F(MpirunPlan, costs_of_other_records_are_noted) {
  const std::string sort = "$M -n 3 $H sort d/all -o d/out --progress none --cluster c.toml ";
  shell_.write("c.toml", "record_size = 50\nkeys = ['0:u32', '4:16']\n" + shell_.file("c.toml"));
  EXPECT_NE(
      done(sort).err.find("c.toml: its costs were measured for 50-byte records with the keys 0:u32, 4:16, not for "
                          "100-byte records"),
      std::string::npos);
  EXPECT_NE(done(sort + "--record-size 50").err.find("not for these keys"), std::string::npos);
  EXPECT_EQ(done(sort + "--record-size 50 --key 0:u32 --key 4:16").err.find("measured for"), std::string::npos);
  EXPECT_NE(done(sort + "--lines --force-format").err.find("not for lines"), std::string::npos);
}

TEST_F(MpirunPlan, gen_makes_the_input_of_a_plan) {
  const Json planned = plan(">p.json && cat p.json");
  done("$M -n 3 $H gen 300001 'd/own.{rank}' --plan p.json");
  const Json own = Json::parse(done("$H plan --input 'd/own.{rank}' --cluster c.toml --format json").out);
  for (std::size_t node = 0; node < 3; ++node) EXPECT_EQ(own["nodes"][node]["input"], planned["nodes"][node]["input"]);
  EXPECT_NEAR(own["run"]["seconds"].get<double>(), planned["run"]["seconds"].get<double>(), 1e-3);
}

TEST_F(MpirunPlan, a_plan_that_was_made_before_is_run_as_it_is) {
  const Json planned = plan(">p.json && cat p.json");
  const Json report = sorted("d/all --plan p.json");
  EXPECT_EQ(report["strategy"], "given");
  EXPECT_DOUBLE_EQ(report["predicted_seconds"].get<double>(), planned["run"]["seconds"].get<double>());
  for (std::size_t rank = 0; rank < 3; ++rank) {
    EXPECT_EQ(report["ranks"][rank]["input_records"], planned["nodes"][rank]["input"]) << report;
    EXPECT_EQ(report["ranks"][rank]["output_records"], planned["nodes"][rank]["records"]) << report;
  }
}

TEST_F(MpirunPlan, shares_that_are_given_are_kept_exactly) {
  for (const std::string input : {"d/all", "--root-input d/all", "'d/in.{rank}'"}) {
    const Json report = sorted(input + " --shares 2e5,0,100001");
    const Numbers wanted{200000, 0, 100001};
    for (std::size_t rank = 0; rank < 3; ++rank) {
      EXPECT_EQ(report["ranks"][rank]["output_records"], wanted[rank]) << report;
      if (input[0] != '\'') {
        EXPECT_EQ(report["ranks"][rank]["input_records"], wanted[rank]) << report;
      }
    }
    EXPECT_GT(report["predicted_seconds"].get<double>(), 0);
  }
  done("$M -n 3 $H gen 300001 'd/g.{rank}' --shares 1,300000,0 && [ $(stat -c %s d/g.1) = 30000000 ]");
  done(
      "$M -n 3 $H compare d/all -o d/out --shares 1,300000,0 --strategies equal,given --rounds 1 --format json "
      ">c.json");
  EXPECT_NE(shell_.file("c.json").find("\"given\""), std::string::npos);
}

TEST_F(MpirunPlan, shares_that_do_not_fit_are_refused) {
  shell_.write("few.json", R"({"schema":"hetsort.plan/1","nodes":[{"name":"a","records":300001}]})");
  shell_.write("bad.json", R"({"schema":"hetsort.plan/1","nodes":[{"name":"a","records":-1}]})");
  shell_.write("other.json", R"({"schema":"hetsort.plans/1","plans":[]})");
  shell_.write("torn.json", R"({"schema":"hetsort.plan/1","nodes":[{"na)");
  using Case = std::pair<std::string, std::string>;
  for (const auto& [words, message] :
       {Case{"--shares 1,2", "--shares gives 2 shares for 1 rank"}, Case{"--shares 1,x,3", "--shares: number 2 'x'"},
        Case{"--shares 1,2,", "the list ends with a comma"},
        Case{"--shares 1,2,3 --strategy equal", "--strategy equal and --shares exclude each other"},
        Case{"--shares 1,2,3 --plan p", "--shares and --plan exclude each other"},
        Case{"--strategy given", "--strategy given needs --shares or --plan"},
        Case{"--shares 1,2,3 --lines", "--shares counts records: it is not for lines"},
        Case{"--plan bad.json", "bad.json: 'records' of node 'a' is no number of records"},
        Case{"--plan other.json", "other.json: holds several plans"},
        Case{"--plan torn.json", "torn.json: is no plan in JSON"},
        Case{"--plan none.json", "read none.json: No such file"}, Case{"--plan c.toml", "c.toml: is no plan in JSON"}})
    EXPECT_TRUE(failed_with(shell_.run("$H sort d/all -o d/out " + words), message)) << words;
  for (const auto& [words, message] :
       {Case{"--shares 1,2,3", "the shares that are given sum to 6 records, and there are 300001"},
        Case{"--plan few.json", "few.json: has 1 nodes, and none is left for rank"}}) {
    const Outcome outcome = shell_.run("$M -n 3 $H sort d/all -o d/out " + words);
    EXPECT_EQ(outcome.exit_code, 2) << outcome;
    EXPECT_NE(outcome.err.find(message), std::string::npos) << outcome;
  }
  EXPECT_TRUE(failed_with(shell_.run("$H sort d/all -o d/out --shares 9223372036854775808"), "--shares: number 1"));
  const Outcome wrapped =
      shell_.run("$M -n 3 $H sort d/all -o d/out --shares 9223372036854775807,9223372036854775807,300003");
  EXPECT_NE(wrapped.err.find("sum to 2^63 or more"), std::string::npos) << wrapped;
  EXPECT_TRUE(failed_with(shell_.run("$H compare d/all -o d/out --strategies equal --shares 1"), "does not name"));
}

TEST_F(MpirunPlan, a_stream_that_rank_0_sends_is_not_read_for_an_explanation) {
  const std::string reads_fifo = " --root-input d/fifo -o d/out";
  const std::string feed = "mkfifo d/fifo; (timeout 60 cat d/all >d/fifo &) ; timeout 60 $M -n 2 $H sort ";
  const Outcome outcome = done(feed + "--explain" + reads_fifo + " && cmp d/out d/whole");
  EXPECT_NE(outcome.err.find("a stream: rank 0 copies it"), std::string::npos) << outcome;
  const Outcome dry = shell_.run("timeout 60 $M -n 2 $H sort --dry-run" + reads_fifo);
  EXPECT_NE(dry.err.find("--dry-run of several ranks needs INPUTs whose size is known"), std::string::npos) << dry;
}

TEST_F(MpirunPlan, memory_that_the_user_gives_counts_instead_of_that_of_the_file) {
  const std::string words = "$M -n 3 $H sort d/all -o d/out --cluster c.toml --strategy equal --explain --dry-run";
  EXPECT_NE(done(words).err.find("memory"), std::string::npos);
  const Json little = Json::parse(done(words).out);
  const Json much = Json::parse(done(words + " -S 200M").out);
  EXPECT_GT(little["nodes"][2]["form_runs"].get<double>(), much["nodes"][2]["form_runs"].get<double>());
}

TEST_F(MpirunPlan, explains_what_bounds_each_rank) {
  const std::string bounds =
      done("$M -n 3 $H sort d/all -o d/out --cluster c.toml --io threads --explain --report r.json").err;
  const std::string planned = done("$H plan -n " + std::string(kRecords) + " --cluster c.toml --explain").out;
  const std::size_t table = planned.find("\nwhole run ");
  ASSERT_NE(table, std::string::npos) << planned;
  EXPECT_NE(bounds.find(planned.substr(table)), std::string::npos) << bounds << planned;
  const std::string sentence = Json::parse(shell_.file("r.json"))["explanation"];
  EXPECT_NE(planned.find("\nplan         " + sentence + "\n"), std::string::npos) << sentence << planned;
}

TEST_F(MpirunPlan, the_root_sends_by_a_scatter_and_the_output_follows_the_model) {
  const std::string file = shell_.file("c.toml");
  shell_.write("c.toml",
               "links = [['', '10MB/s', '50MB/s'], ['20MB/s', '', '20MB/s'], ['50MB/s', '10MB/s', '']]\n" + file);
  for (const std::string strategy : {"", " --strategy phases"}) {
    const Json report = sorted("--root-input d/all" + strategy);
    EXPECT_EQ(report["strategy"], "scatter-closed") << report;
    const std::string scatter = " --strategy scatter-closed --root a";
    Numbers input(3);
    const Json sent = plan(scatter);
    for (const Json& one : sent["nodes"])
      input[static_cast<std::size_t>(one["name"].get<std::string>()[0] - 'a')] = one["records"].get<std::uint64_t>();
    for (std::size_t rank = 0; rank < 3; ++rank) EXPECT_EQ(report["ranks"][rank]["input_records"], input[rank]);
    EXPECT_NE(report["ranks"][1]["output_records"], input[1]);
    EXPECT_GT(report["predicted_seconds"].get<double>(), sent["makespan"].get<double>());
    EXPECT_GT(report["ranks"][1]["predicted_exchange_seconds"].get<double>(), 0);
  }
}

TEST_F(MpirunPlan, a_cost_that_decreases_is_for_other_strategies_and_phases_names_the_node) {
  shell_.write("c.toml", node("a", "1e-6", "") + node("b", "1e-6", "") +
                             "[[node]]\nname = 'c'\ncompute = { kind = 'table', points = [[100000, 2], [200000, 1]] }\n"
                             "merge = { kind = 'linear', per_record = 1e-6 }\n");
  EXPECT_TRUE(job_failed_with(shell_.run("$M -n 3 $H sort -q d/all -o d/out --cluster c.toml --strategy phases"),
                              {"c.toml:9:1: node 'c': its cost of forming runs decreases somewhere"}));
  const Outcome outcome = done("$M -n 3 $H sort d/all -o d/out --cluster c.toml --explain && cmp d/out d/whole");
  EXPECT_NE(outcome.err.find("shares   dp: some costs fall"), std::string::npos) << outcome;
  EXPECT_NE(outcome.err.find("not known: c.toml:9:1: node 'c': its cost of forming runs"), std::string::npos);
  EXPECT_EQ(plan("--strategy auto")["strategy"], "dp");
}

TEST_F(MpirunPlan, gen_does_not_plan_in_phases) {
  done("$M -n 3 $H gen 3000 'd/in.{rank}' --cluster c.toml");
  const Outcome outcome = shell_.run("$M -n 3 $H gen 3000 'd/in.{rank}' --cluster c.toml --strategy phases");
  EXPECT_EQ(outcome.exit_code, 2) << outcome;
  EXPECT_NE(outcome.err.find("this command does not sort"), std::string::npos) << outcome;
}

}  // namespace
}  // namespace hetsort::cli::test
