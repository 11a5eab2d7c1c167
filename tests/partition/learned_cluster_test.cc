// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
//
// Cluster files that real sorts bring up to date: here the real nodes are another cluster file.
#include "partition/learning/learned_cluster.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>

#include "partition/error.h"
#include "partition/plan.h"
#include "partition/problem.h"
#include "partition/run/best_output.h"
#include "tests/seeds.h"

namespace hetsort::partition::test {
namespace {

using hetsort::test::seed_note;
using hetsort::test::test_seed;

/// What a file says of one node.
struct Costs {
  double form = 2e-7;
  double merge = 3e-7;
  double link = 100;  // MB/s
  double disk = 200;
};

std::string file_of(const std::vector<Costs>& nodes, double select) {
  std::string text = fmt::format("# my cluster\nstart = 0.2\nselect = {} # seconds\n", select);
  for (std::size_t i = 0; i < nodes.size(); ++i)
    text += fmt::format(
        "\n[[node]] # {0}\nname = 'h{0}'\ncompute = {{ kind = 'linear', per_record = {1} }}\n"
        "merge = {{ kind = 'linear', per_record = {2} }}\nbandwidth = '{3}MB/s'\n"
        "disk_read = '{4}MB/s'\ndisk_write = '{4}MB/s'\n",
        i, nodes[i].form, nodes[i].merge, nodes[i].link, nodes[i].disk);
  return text;
}

constexpr std::int64_t kRecords = 10'000'000;

RunModel model_of(const std::string& text) {
  const Cluster cluster = parse_cluster(text, "c.toml");
  Problem problem = problem_from_cluster(cluster, kRecords, {});
  add_run_model(problem, cluster, {});
  EXPECT_EQ(problem.run_missing, "");
  return run_model_of(problem);
}

/// One job after another, planned by a file and measured on the real nodes.
class Jobs {
 public:
  Jobs(std::string file, const std::string& truth, double noise)
      : file_(std::move(file)), truth_(model_of(truth)), noise_(0, noise) {}

  /// Plans a sort, and learns from it. Returns measured / predicted seconds.
  double run(std::mt19937_64& random) {
    const RunModel model = model_of(file_);
    const std::vector<std::int64_t> input(model.ranks.size(), kRecords / static_cast<std::int64_t>(model.ranks.size()));
    const std::vector<std::int64_t> output = best_output(model, input);
    const RunPrediction planned = predict_run(model, input, output);
    const RunPrediction real = predict_run(truth_, input, output);
    const auto measured = [&](double seconds) { return seconds * std::exp(noise_(random)); };
    ObservedRun observed{.start = truth_.start_seconds, .select = truth_.select_seconds};
    const double run = measured(real.seconds);
    for (std::size_t rank = 0; rank < model.ranks.size(); ++rank) {
      ObservedRank& seen = observed.ranks.emplace_back(ObservedRank{.node = rank});
      if (planned.form[rank].seconds > 0)
        seen.form = {measured(real.form[rank].seconds) / planned.form[rank].seconds, planned.form[rank].bound};
      const bool by_link =
          planned.exchange[rank].bound == Resource::kLinkIn || planned.exchange[rank].bound == Resource::kLinkOut;
      // A link shows in the time of the whole exchange, if it is the slowest.
      const double seconds = by_link ? real.exchange_seconds : real.exchange[rank].seconds;
      if (planned.exchange[rank].seconds > 0 &&
          (!by_link || planned.exchange[rank].seconds > 0.9 * planned.exchange_seconds))
        seen.exchange = {measured(seconds) / planned.exchange[rank].seconds, planned.exchange[rank].bound};
    }
    file_ = with_observed_run(file_, "c.toml", observed);
    return run / planned.seconds;
  }
  const std::string& file() const { return file_; }

 private:
  std::string file_;
  RunModel truth_;
  std::normal_distribution<double> noise_;
};

TEST(LearnedCluster, three_runs_bring_the_prediction_of_the_fourth_within_a_tenth) {
  SCOPED_TRACE(seed_note());
  std::mt19937_64 random(test_seed());
  const auto some = [&](double middle, double factor) {
    return middle * std::exp(std::uniform_real_distribution<double>(-std::log(factor), std::log(factor))(random));
  };
  std::vector<double> before;
  std::vector<double> after;
  for (int i = 0; i < 100; ++i) {
    std::vector<Costs> file;
    std::vector<Costs> truth;
    for (int node = 0; node < 4; ++node) {
      // What bounds a run differs from case to case, and the file is off by up to 2 times.
      const Costs costs{some(2e-7, 2), some(3e-7, 2), some(i % 2 == 0 ? 1000 : 50, 2),
                        some(i % 3 == 0 ? 1000 : 100, 2)};
      file.push_back(costs);
      truth.push_back({some(costs.form, 2), some(costs.merge, 2), some(costs.link, 2), some(costs.disk, 2)});
    }
    Jobs jobs(file_of(file, 0.1), file_of(truth, 0.3), 0.03);
    before.push_back(std::abs(jobs.run(random) - 1));
    for (int round = 1; round < 3; ++round) jobs.run(random);
    after.push_back(std::abs(jobs.run(random) - 1));
  }
  std::ranges::sort(before);
  std::ranges::sort(after);
  RecordProperty("median_error", std::to_string(after[after.size() / 2]));
  EXPECT_GT(before[before.size() / 2], 0.2);
  EXPECT_LT(after[after.size() / 2], 0.1);
  EXPECT_LT(after[after.size() * 9 / 10], 0.3);
}

TEST(LearnedCluster, keeps_all_other_text) {
  const std::string file = file_of({{}, {}}, 0.1);
  ObservedRun run{.ranks = {{.node = 1, .form = {{4, Resource::kProcessor}}, .exchange = {{0.25, Resource::kDisk}}}}};
  run.select = 0.6;
  run.publish = 1;
  std::string learned = with_observed_run(file, "c.toml", run);
  const std::string same = "learned = { form = 1.0000, exchange = 1.0000, link = 1.0000, disk = 1.0000 }\n";
  const std::string moved = "learned = { form = 2.2974, exchange = 1.0000, link = 1.0000, disk = 0.4353 }\n";
  EXPECT_NE(learned.find("[[node]] # 0\n" + same), std::string::npos) << learned;
  EXPECT_NE(learned.find("[[node]] # 1\n" + moved), std::string::npos) << learned;
  EXPECT_NE(learned.find("select = 0.4000 # seconds\n"), std::string::npos) << learned;
  EXPECT_NE(learned.find("publish = 0.6000\n"), std::string::npos) << learned;
  // Lines that are learned again keep their places and what stands behind them.
  learned.replace(learned.find(moved) + moved.size() - 1, 1, "  # by me\n");
  run.publish.reset();
  const std::string again = with_observed_run(learned, "c.toml", run);
  EXPECT_NE(again.find("learned = { form = 5.2780, exchange = 1.0000, link = 1.0000, disk = 0.1895 }  # by me\n"),
            std::string::npos)
      << again;
  EXPECT_EQ(std::ranges::count(again, '\n'), std::ranges::count(learned, '\n'));
  std::string rest;
  for (std::size_t at = 0; at < again.size();) {
    const std::size_t end = again.find('\n', at) + 1;
    const std::string line = again.substr(at, end - at);
    if (!line.starts_with("learned") && !line.starts_with("select") && !line.starts_with("publish")) rest += line;
    at = end;
  }
  std::string without = file;
  const std::size_t select = without.find("select");
  without.erase(select, without.find('\n', select) + 1 - select);
  EXPECT_EQ(rest, without);
}

TEST(LearnedCluster, factors_change_the_costs_of_their_resources) {
  const std::string node =
      "[[node]]\nname = 'a'\ncompute = { kind = 'linear', per_record = 1 }\n"
      "merge = { kind = 'linear', per_record = 1 }\nmessage = '6GB/s'\nbandwidth = '12MB/s'\ndisk_read = '20MB/s'\n"
      "disk_write = '40MB/s'\n";
  const ClusterNode learned =
      parse_cluster(node + "learned = { form = 2, exchange = 3, link = 4, disk = 5 }\n", "c").nodes[0];
  EXPECT_DOUBLE_EQ(learned.compute->value(10), 20);
  EXPECT_DOUBLE_EQ(learned.merge->affine()->per_record, 3);
  EXPECT_DOUBLE_EQ(*learned.message_in_bytes_per_second, 2e9);
  EXPECT_DOUBLE_EQ(*learned.link_out_bytes_per_second, 3e6);
  EXPECT_DOUBLE_EQ(*learned.disk_read_bytes_per_second, 4e6);
  EXPECT_DOUBLE_EQ(*learned.disk_write_bytes_per_second, 8e6);
  EXPECT_DOUBLE_EQ(*learned.limits.link_bytes_per_second, 12e6);
  EXPECT_EQ(learned.learned.disk, 5);
  for (const char* const bad : {"{ form = 0 }", "{ from = 1 }", "{ link = nan }", "3"})
    EXPECT_THROW(static_cast<void>(parse_cluster(node + "learned = " + bad + "\n", "c")), PlanError) << bad;
}

TEST(LearnedCluster, nodes_of_one_host_stay_alike) {
  const std::string node =
      "name = 'h'\ncompute = { kind = 'linear', per_record = 1e-7 }\n"
      "merge = { kind = 'linear', per_record = 1e-7 }\nbandwidth = '10MB/s'\n";
  const std::string file = "[[node]]\n" + node + "[[node]]\ncount = 2\n" + node;
  const ObservedRun run{
      .ranks = {{.node = 0, .exchange = {{2, Resource::kLinkIn}}}, {.node = 2, .exchange = {{8, Resource::kLinkIn}}}}};
  const std::string learned = with_observed_run(file, "c.toml", run);
  const Cluster cluster = parse_cluster(learned, "c.toml");
  for (const ClusterNode& one : cluster.nodes) EXPECT_NEAR(one.learned.link, std::pow(4, kLearnedPart), 1e-4);
  EXPECT_EQ(model_of(learned).ranks.size(), 3U);
}

TEST(LearnedCluster, a_node_without_work_learns_of_processors_what_the_others_show) {
  std::string file = file_of({{}, {}, {}, {}}, 0.1);
  file.replace(file.find("[[node]] # 3\n"), 13, "[[node]] # 3\nlearned = { exchange = 3 }\n");
  const ObservedRun run{
      .ranks = {{.node = 0, .form = {{2, Resource::kProcessor}}, .exchange = {{4, Resource::kLinkIn}}},
                {.node = 1, .exchange = {{0.5, Resource::kProcessor}}},
                {.node = 2},
                {.node = 3}}};
  const Cluster learned = parse_cluster(with_observed_run(file, "c.toml", run), "c.toml");
  const double form = std::pow(2, kLearnedPart);
  const double exchange = std::pow(0.5, kLearnedPart);
  for (const std::size_t node : {0U, 1U, 2U, 3U}) {
    const LearnedFactors& factors = learned.nodes[node].learned;
    EXPECT_NEAR(factors.form, form, 1e-4) << node;
    EXPECT_NEAR(factors.exchange, node == 3 ? 3 : exchange, 1e-4) << node;
    EXPECT_NEAR(factors.link, node == 0 ? std::pow(4, kLearnedPart) : 1, 1e-4) << node;
    EXPECT_EQ(factors.disk, 1) << node;
  }
}

TEST(LearnedCluster, refuses_nodes_that_it_cannot_change) {
  const std::string node = "name = 'a', speed = 1";
  EXPECT_THROW(static_cast<void>(with_observed_run("node = [{ " + node + " }]\n", "c", {})), PlanError);
  EXPECT_THROW(static_cast<void>(with_observed_run("no file", "c", {})), PlanError);
  EXPECT_THROW(static_cast<void>(with_observed_run("[[node]]\nspeed = 1\n[node.learned]\nform = 2\n", "c", {})),
               PlanError);
}

}  // namespace
}  // namespace hetsort::partition::test
