// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
//
// hetsort plan --jobs.
#include <nlohmann/json.hpp>

#include "tests/cli/program.h"

namespace hetsort::cli::test {
namespace {

using JobsJson = nlohmann::ordered_json;

class PlanJobs : public testing::Test {
 protected:
  PlanJobs() {
    const std::string node =
        "compute = { kind = 'linear', per_record = 1e-6 }\nmerge = { kind = 'linear', per_record = 1e-6 }\n"
        "memory = '1GiB'\n";
    std::string cluster;
    for (const char* name : {"a", "b", "c", "d"}) cluster += "[[node]]\nname = '" + std::string(name) + "'\n" + node;
    shell_.write("c.toml", cluster);
    // Each fits on two nodes: their sort keeps about 7 million records each in a GiB.
    shell_.write("j.toml", job("w") + job("x") + job("y") + job("z"));
  }
  static std::string job(const std::string& name) { return "[[job]]\nname = '" + name + "'\nrecords = 12000000\n"; }
  Outcome plan(const std::string& words) const { return shell_.run("$H plan --jobs j.toml --cluster c.toml " + words); }
  JobsJson json(const std::string& words) const {
    const Outcome outcome = plan("--format json " + words);
    EXPECT_EQ(outcome.exit_code, 0) << outcome;
    return JobsJson::parse(outcome.out);
  }
  void refused(const std::string& words, const std::string& message) const {
    EXPECT_TRUE(failed_with(shell_.run("$H plan " + words), message)) << words;
  }

  const Shell shell_;
};

TEST_F(PlanJobs, sorts_that_need_half_of_the_memory_run_two_at_a_time) {
  const JobsJson plan = json("--policy critical");
  EXPECT_EQ(plan["schema"], "hetsort.queue/1");
  ASSERT_EQ(plan["jobs"].size(), 4u);
  for (const JobsJson& job : plan["jobs"]) EXPECT_EQ(job["nodes"].size(), 2u) << plan;
  EXPECT_EQ(plan["jobs"][0]["start"], 0);
  EXPECT_EQ(plan["jobs"][1]["start"], 0);
  EXPECT_NE(plan["jobs"][0]["nodes"], plan["jobs"][1]["nodes"]);
  const double seconds = plan["jobs"][0]["finish"];
  EXPECT_EQ(plan["jobs"][2]["start"], seconds);
  EXPECT_EQ(plan["last_finish"], 2 * seconds);
  EXPECT_DOUBLE_EQ(plan["mean_turnaround"], 1.5 * seconds);
}

TEST_F(PlanJobs, the_policy_all_runs_one_sort_after_the_other) {
  const JobsJson plan = json("--policy all");
  for (std::size_t i = 1; i < 4; ++i) EXPECT_EQ(plan["jobs"][i]["start"], plan["jobs"][i - 1]["finish"]);
  EXPECT_EQ(plan["jobs"][3]["nodes"], JobsJson({"a", "b", "c", "d"}));
  // Costs are linear and nothing is lost by more nodes: speedup takes all as well.
  EXPECT_EQ(json("--policy speedup")["jobs"], plan["jobs"]);
  EXPECT_EQ(json("")["jobs"], plan["jobs"]);  // the default
}

TEST_F(PlanJobs, a_sort_starts_no_earlier_than_it_arrives) {
  shell_.write("j.toml", job("late") + "arrival = 100\n" + job("early"));
  const JobsJson plan = json("");
  EXPECT_EQ(plan["jobs"][0]["start"], 100);
  EXPECT_EQ(plan["jobs"][1]["start"], 0);
}

TEST_F(PlanJobs, a_hostfile_for_each_sort_a_table_and_a_picture) {
  EXPECT_EQ(plan("--policy all --emit-hostfile").out.substr(0, 48),
            "# w\na slots=1\nb slots=1\nc slots=1\nd slots=1\n# x\n");
  const std::string table = plan("--policy critical").out;
  EXPECT_NE(table.find("mean turnaround"), std::string::npos) << table;
  EXPECT_NE(table.find("a,b\n"), std::string::npos) << table;
  EXPECT_NE(table.find("c,d\n"), std::string::npos) << table;
  const Outcome drawn = plan("--plot p.svg");
  EXPECT_EQ(drawn.exit_code, 0) << drawn.err;
  const std::string picture = shell_.file("p.svg");
  EXPECT_TRUE(picture.starts_with("<svg ")) << picture;
  for (const char* job : {"w", "x", "y", "z"})
    EXPECT_NE(picture.find(std::string("<title>") + job + ": "), std::string::npos) << job;
}

TEST_F(PlanJobs, bad_requests_name_what_is_wrong) {
  refused("--jobs j.toml", "--jobs needs --cluster");
  refused("--jobs missing --cluster c.toml", "missing");
  refused("--jobs j.toml --cluster c.toml -n 5", "-n plans one sort; leave it out with --jobs");
  refused("--jobs j.toml --cluster c.toml --compare", "--compare plans one sort; leave it out with --jobs");
  refused("--jobs j.toml --cluster c.toml --policy fast", "--policy 'fast' is none of");
  refused("-n 5 --speeds 1,2 --policy all", "--policy is for --jobs");
  shell_.write("speeds.toml", "[[node]]\nspeed = 1\n");
  refused("--jobs j.toml --cluster speeds.toml", "--jobs needs a cluster file that describes whole runs");
  const auto bad_file = [&](const std::string& text, const std::string& message) {
    shell_.write("j.toml", text);
    refused("--jobs j.toml --cluster c.toml", message);
  };
  bad_file("", "j.toml: there is no [[job]]");
  bad_file("[[job]]\n", "j.toml:1:1: a job needs 'records'");
  bad_file("[[job]]\nrecords = 0\n", "j.toml:2:11: records must be at least 1, not 0");
  bad_file("[[job]]\nrecords = 5\narrival = -1\n", "j.toml:3:11: arrival must be finite and at least 0, not -1");
  bad_file("[[job]]\nrecords = 5\narrival = nan\n", "j.toml:3:11: arrival must be finite");
  bad_file("[[job]]\nrecords = 5\nsize = 1\n", "unknown field 'size'");
  bad_file(job("a") + job("a"), "a second job 'a'");
  bad_file(job("a b"), "name must be a word without blanks");
}

}  // namespace
}  // namespace hetsort::cli::test
