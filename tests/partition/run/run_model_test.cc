// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "partition/cost.h"
#include "partition/error.h"
#include "partition/run/predict_run.h"
#include "tests/partition/run/run_models.h"

namespace hetsort::partition::test {
namespace {

using Shares = std::vector<std::int64_t>;

/// Two hosts of one rank, one million records of 100 bytes each, and no limit but the processors.
RunModel two_hosts() { return processors_only({1e6, 1e6}); }

std::string message_of(const RunModel& model) {
  try {
    validate(model);
  } catch (const PlanError& error) {
    return error.what();
  }
  return "accepted";
}

TEST(RunModel, phases_add_up_to_the_run) {
  RunModel model = two_hosts();
  model.start_seconds = 0.5;
  model.select_seconds = 0.25;
  model.publish_seconds = 0.125;
  const RunPrediction run = predict_run(model, Shares{1'000'000, 500'000}, Shares{500'000, 1'000'000});
  EXPECT_DOUBLE_EQ(run.form_seconds, 1);
  EXPECT_DOUBLE_EQ(run.exchange_seconds, 1);
  EXPECT_DOUBLE_EQ(run.seconds, 2.875);
  EXPECT_DOUBLE_EQ(run.form[1].seconds, 0.5);
  EXPECT_EQ(run.form[0].bound, Resource::kProcessor);
}

TEST(RunModel, only_records_of_other_hosts_use_the_link) {
  RunModel model = two_hosts();
  for (RankResources& rank : model.ranks) rank.rates.link_in = rank.rates.link_out = 10e6;
  const RunPrediction run = predict_run(model, Shares{1'500'000, 500'000}, Shares{500'000, 1'500'000});
  EXPECT_DOUBLE_EQ(run.exchange[0].seconds, 11.25);  // it sends 3/4 of 150 MB
  EXPECT_EQ(run.exchange[0].bound, Resource::kLinkOut);
  EXPECT_DOUBLE_EQ(run.exchange[1].seconds, 11.25);
  EXPECT_EQ(run.exchange[1].bound, Resource::kLinkIn);
  for (RankResources& rank : model.ranks) rank.host = 7;
  EXPECT_EQ(predict_run(model, Shares{1'500'000, 500'000}, Shares{500'000, 1'500'000}).exchange[1].bound,
            Resource::kProcessor);
}

TEST(RunModel, messages_take_processor_time_for_bytes_sent_and_received) {
  RunModel model = two_hosts();
  for (RankResources& rank : model.ranks) rank.message = {.in = 1e-8, .out = 2e-8};
  const RunPrediction run = predict_run(model, Shares{1'000'000, 1'000'000}, Shares{500'000, 1'500'000});
  EXPECT_DOUBLE_EQ(run.exchange[0].seconds, 0.5 + 1.5 + 0.25);  // merging, sending, receiving
  EXPECT_EQ(run.exchange[0].bound, Resource::kProcessor);
}

TEST(RunModel, what_does_not_fit_memory_is_written_and_read_once_more) {
  RunModel model = two_hosts();
  for (RankResources& rank : model.ranks) {
    rank.rates.disk_read = 100e6;
    rank.rates.disk_write = 50e6;
    rank.memory_records = 1'000'000;
  }
  const RunPrediction run = predict_run(model, Shares{1'000'000, 3'000'000}, Shares{2'000'000, 2'000'000});
  EXPECT_DOUBLE_EQ(run.form[0].seconds, 1);
  EXPECT_EQ(run.form[0].bound, Resource::kProcessor);
  EXPECT_DOUBLE_EQ(run.form[1].seconds, 3 + 4);
  EXPECT_EQ(run.form[1].bound, Resource::kMemory);  // without the spill the processor would be as slow as the disk
  EXPECT_DOUBLE_EQ(run.exchange[0].seconds, 4);
  EXPECT_EQ(run.exchange[0].bound, Resource::kDisk);
  EXPECT_DOUBLE_EQ(run.exchange[1].seconds, 2 + 4);
  EXPECT_EQ(run.exchange[1].bound, Resource::kDisk);  // it would also be the slowest without the spill
}

TEST(RunModel, output_that_is_not_synced_costs_no_time_of_the_disk) {
  RunModel model = two_hosts();
  model.synced = false;
  model.shared.disk_write = 1e6;
  for (RankResources& rank : model.ranks) {
    rank.rates.disk_read = 1e9;
    rank.rates.disk_write = 10e6;
    rank.memory_records = 1'000'000;
  }
  const RunPrediction run = predict_run(model, Shares{1'000'000, 1'100'000}, Shares{1'000'000, 1'100'000});
  EXPECT_EQ(run.exchange[0].bound, Resource::kProcessor);
  EXPECT_GE(run.form[1].seconds, 10);  // what spills is written
  model.ranks[0].writes_directly = true;
  const RunPrediction direct = predict_run(model, Shares{1'000'000, 1'100'000}, Shares{1'000'000, 1'100'000});
  EXPECT_EQ(direct.exchange[0].bound, Resource::kDisk);
  EXPECT_DOUBLE_EQ(direct.exchange[0].seconds, 10);
  EXPECT_EQ(direct.exchange[1].seconds, run.exchange[1].seconds);
}

TEST(RunModel, ranks_of_a_host_share_its_disk) {
  RunModel model = two_hosts();
  for (RankResources& rank : model.ranks) {
    rank.host = 0;
    rank.rates.disk_read = 10e6;
  }
  const RunPrediction run = predict_run(model, Shares{1'000'000, 500'000}, Shares{1'000'000, 500'000});
  EXPECT_DOUBLE_EQ(run.form[0].seconds, 15);
  EXPECT_DOUBLE_EQ(run.form[1].seconds, 15);
}

TEST(RunModel, no_disk_reads_input_that_is_in_the_page_cache) {
  RunModel model = two_hosts();
  for (RankResources& rank : model.ranks) rank.rates.disk_read = 10e6;
  const Shares shares{1'000'000, 1'000'000};
  EXPECT_DOUBLE_EQ(predict_run(model, shares, shares).form_seconds, 10);
  model.ranks[0].input_cached = 1;
  model.ranks[1].input_cached = 0.75;
  const RunPrediction run = predict_run(model, shares, shares);
  EXPECT_DOUBLE_EQ(run.form[0].seconds, 1);
  EXPECT_EQ(run.form[0].bound, Resource::kProcessor);
  EXPECT_DOUBLE_EQ(run.form[1].seconds, 2.5);
  EXPECT_EQ(run.form[1].bound, Resource::kDisk);
  // Ranks of one host have what both read from its disk.
  for (RankResources& rank : model.ranks) rank.host = 0;
  EXPECT_DOUBLE_EQ(predict_run(model, shares, shares).form[0].seconds, 2.5);
  model.shared.disk_read = 5e6;
  EXPECT_DOUBLE_EQ(predict_run(model, shares, shares).form_seconds, 5);
  EXPECT_EQ(predict_run(model, shares, shares).form[0].bound, Resource::kSharedDisk);
}

TEST(RunModel, what_spills_is_written_and_read_even_if_the_input_was_in_the_page_cache) {
  RunModel model = two_hosts();
  for (RankResources& rank : model.ranks) {
    rank.rates.disk_read = rank.rates.disk_write = 10e6;
    rank.memory_records = 500'000;
    rank.input_cached = 1;
  }
  const Shares shares{1'000'000, 1'000'000};
  const RunPrediction run = predict_run(model, shares, shares);
  EXPECT_DOUBLE_EQ(run.form[0].seconds, 5);
  EXPECT_EQ(run.form[0].bound, Resource::kMemory);
  EXPECT_DOUBLE_EQ(run.exchange[0].seconds, 5 + 10);
}

TEST(RunModel, refuses_a_cached_part_that_is_none) {
  for (const double part : {-0.1, 1.1, std::numeric_limits<double>::quiet_NaN()}) {
    RunModel model = two_hosts();
    model.ranks[1].input_cached = part;
    EXPECT_TRUE(message_of(model).starts_with("node '1': the cached part of its input must be")) << message_of(model);
  }
}

TEST(RunModel, a_disk_and_a_link_of_all_hosts_bound_every_rank) {
  RunModel model = two_hosts();
  model.shared = {.link = 10e6, .disk_read = 20e6, .disk_write = 5e6};
  const RunPrediction run = predict_run(model, Shares{1'000'000, 1'000'000}, Shares{1'000'000, 1'000'000});
  EXPECT_DOUBLE_EQ(run.form_seconds, 10);
  EXPECT_EQ(run.form[0].bound, Resource::kSharedDisk);
  EXPECT_DOUBLE_EQ(run.exchange_seconds, 40);
  model.shared.disk_write = std::nullopt;
  const RunPrediction by_link = predict_run(model, Shares{1'000'000, 1'000'000}, Shares{1'000'000, 1'000'000});
  EXPECT_DOUBLE_EQ(by_link.exchange_seconds, 10);
  EXPECT_EQ(by_link.exchange[1].bound, Resource::kSharedLink);
}

TEST(RunModel, a_rank_without_records_takes_no_time) {
  RunModel model = two_hosts();
  for (RankResources& rank : model.ranks) rank.sort = affine_cost({5, 1e-6});
  const RunPrediction run = predict_run(model, Shares{1'000'000, 0}, Shares{1'000'000, 0});
  EXPECT_EQ(run.form[1].seconds, 0);
  EXPECT_EQ(run.form[1].bound, Resource::kNone);
  EXPECT_EQ(predict_run(model, Shares{0, 0}, Shares{0, 0}).seconds, 0);
}

TEST(RunModel, names_the_node_and_the_field_of_a_bad_rate) {
  constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
  constexpr double kInf = std::numeric_limits<double>::infinity();
  for (const double bad : {0.0, -1.0, kNan, kInf}) {
    RunModel model = two_hosts();
    for (RankResources& rank : model.ranks) rank.rates.disk_read = 1e8;
    model.ranks[1].rates.disk_read = bad;
    EXPECT_NE(message_of(model).find("node '1': the rate 'disk read' must be"), std::string::npos) << message_of(model);
    model = two_hosts();
    model.shared.link = bad;
    EXPECT_NE(message_of(model).find("all nodes together: the rate 'link'"), std::string::npos) << message_of(model);
  }
  for (const double bad : {-1.0, kNan, kInf}) {
    RunModel model = two_hosts();
    model.ranks[0].merge_seconds = bad;
    EXPECT_NE(message_of(model).find("node '0': 'merge' must be"), std::string::npos) << message_of(model);
    model = two_hosts();
    model.select_seconds = bad;
    EXPECT_NE(message_of(model).find("'select' must be"), std::string::npos) << message_of(model);
  }
  EXPECT_EQ(message_of(two_hosts()), "accepted");
}

TEST(RunModel, refuses_a_field_that_only_some_nodes_have) {
  RunModel model = two_hosts();
  model.ranks[1].rates.link_out = 1e8;
  EXPECT_EQ(message_of(model), "node '0' has no 'link out', but node '1' has: give it for all nodes or for none");
  model = two_hosts();
  model.ranks[0].memory_records = 10;
  EXPECT_EQ(message_of(model), "node '1' has no 'memory', but node '0' has: give it for all nodes or for none");
  model = two_hosts();
  model.ranks[1].sort = nullptr;
  EXPECT_EQ(message_of(model), "node '1' has no cost of forming runs");
}

TEST(RunModel, refuses_different_rates_for_one_host) {
  RunModel model = two_hosts();
  model.ranks[0].host = model.ranks[1].host = 3;
  model.ranks[0].rates.link_in = 1e8;
  model.ranks[1].rates.link_in = 2e8;
  EXPECT_EQ(message_of(model), "nodes '0' and '1' are one host, but their rates 'link in' differ");
}

}  // namespace
}  // namespace hetsort::partition::test
