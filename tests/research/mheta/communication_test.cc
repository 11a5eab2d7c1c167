// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
//
// Cases computed by hand. A row takes a second, so that a node's rows are the seconds of its stages.
#include <gtest/gtest.h>

#include "bench/research/mheta/predict_program.h"
#include "tests/research/mheta/programs.h"

namespace hetsort::research::test {
namespace {

using Rows = std::vector<std::int64_t>;

const std::string kMessages = "message = { send_overhead = 1, receive_overhead = 0.5, latency = 2 }";
const std::string kNoLatency = "message = { send_overhead = 1, receive_overhead = 0.5 }";

partition::ProgramPrediction predicted(const std::string& program, const Rows& rows) {
  return predict_program(model_of(program, equal_nodes(static_cast<int>(rows.size()))), rows);
}

void expect_times(const partition::NodeTimes& times, double sending, double receiving, double blocked, double seconds) {
  EXPECT_DOUBLE_EQ(times.sending, sending);
  EXPECT_DOUBLE_EQ(times.receiving, receiving);
  EXPECT_DOUBLE_EQ(times.blocked, blocked);
  EXPECT_DOUBLE_EQ(times.seconds(), seconds);
}

// 5.3, 5.6
TEST(NearestNeighbour, of_two_nodes_the_earlier_one_waits_for_the_message_of_the_later_one) {
  const auto run = predicted(one_section("communication = 'nearest-neighbour'", kMessages), {10, 4});
  expect_times(run.nodes[0], 1, 0.5, 0, 11.5);
  expect_times(run.nodes[1], 1, 0.5, 8, 13.5);  // 10 + 1 + 2 - (4 + 1)
  EXPECT_DOUBLE_EQ(run.iteration_seconds, 13.5);
}

// 5.11, 5.12
TEST(NearestNeighbour, a_node_between_two_sends_to_the_lower_one_first_and_waits_for_the_slowest) {
  const auto run = predicted(one_section("communication = 'nearest-neighbour'", kNoLatency), {1, 6, 2});
  expect_times(run.nodes[0], 1, 0.5, 5, 7.5);  // its message leaves node 1 at 7
  expect_times(run.nodes[1], 2, 1, 0, 9);
  expect_times(run.nodes[2], 1, 0.5, 5, 8.5);  // at 8
}

TEST(NearestNeighbour, a_node_without_rows_is_no_neighbour) {
  const auto run = predicted(one_section("communication = 'nearest-neighbour'", kMessages), {10, 0, 4});
  EXPECT_DOUBLE_EQ(run.nodes[1].seconds(), 0);
  EXPECT_DOUBLE_EQ(run.nodes[2].seconds(), 13.5);
}

TEST(NearestNeighbour, bytes_take_time_on_the_slower_of_two_links_and_of_both_processors) {
  const std::string cluster =
      "[[node]]\nspeed = 1\nbandwidth_out = '100B/s'\nbandwidth_in = '1KB/s'\nmessage = '1000B/s'\n"
      "[[node]]\nspeed = 1\nbandwidth_out = '1KB/s'\nbandwidth_in = '50B/s'\nmessage = '500B/s'\n";
  const auto model = model_of(one_section("communication = 'nearest-neighbour'\nmessage_bytes = 1000"), cluster);
  const auto run = predict_program(model, Rows{10, 4});
  expect_times(run.nodes[0], 1, 1, 0, 12);
  expect_times(run.nodes[1], 2, 2, 25, 33);  // 10 + 1 + 1000 / 50 - (4 + 2)
}

// 5.7, 5.8, 5.9
TEST(Reduction, of_two_nodes_the_first_combines_and_answers) {
  const auto run = predicted(one_section("communication = 'reduction'\nreduce = 0.25", kMessages), {3, 5});
  EXPECT_DOUBLE_EQ(run.nodes[0].computing, 3.25);
  expect_times(run.nodes[0], 1, 0.5, 5, 9.75);      // the value arrives at 5 + 1 + 2
  expect_times(run.nodes[1], 1, 0.5, 5.75, 12.25);  // the result at 9.75 + 2
}

TEST(Reduction, a_late_first_node_does_not_wait_and_has_sent_nothing_before) {
  const auto run = predicted(one_section("communication = 'reduction'\nreduce = 0.25", kMessages), {10, 5});
  expect_times(run.nodes[0], 1, 0.5, 0, 11.75);
  expect_times(run.nodes[1], 1, 0.5, 7.75, 14.25);
  const auto just = predicted(one_section("communication = 'reduction'", kMessages), {7, 5});
  EXPECT_DOUBLE_EQ(just.nodes[0].blocked, 1);  // subtracting a send, as printed, would make it 0
}

TEST(Reduction, of_several_nodes_each_waits_for_the_answers_to_those_before_it) {
  const auto run = predicted(one_section("communication = 'reduction'", kNoLatency), {3, 5, 4});
  expect_times(run.nodes[0], 2, 1, 3, 9);
  expect_times(run.nodes[1], 1, 0.5, 2, 8.5);
  expect_times(run.nodes[2], 1, 0.5, 4, 9.5);
}

TEST(Reduction, the_first_node_that_has_rows_combines) {
  const auto run = predicted(one_section("communication = 'reduction'", kNoLatency), {0, 3, 5, 4});
  expect_times(run.nodes[0], 0, 0, 0, 0);
  expect_times(run.nodes[1], 2, 1, 3, 9);
}

const std::string kPipelineMessages = "message = { send_overhead = 0.5, receive_overhead = 0.25, latency = 1 }";

// 5.4, 5.5, 5.10
TEST(Pipeline, a_slow_second_node_waits_for_the_first_tile_only) {
  const auto run = predicted(one_section("communication = 'pipeline'\ntiles = 3", kPipelineMessages), {3, 6});
  expect_times(run.nodes[0], 1.5, 0, 0, 4.5);
  expect_times(run.nodes[1], 0, 0.75, 2.5, 9.25);
}

TEST(Pipeline, a_fast_second_node_waits_for_every_tile) {
  const auto run = predicted(one_section("communication = 'pipeline'\ntiles = 3", kPipelineMessages), {6, 3});
  expect_times(run.nodes[0], 1.5, 0, 0, 7.5);
  expect_times(run.nodes[1], 0, 0.75, 6, 9.75);  // 3.5 + 1.25 + 1.25
}

TEST(Pipeline, waiting_passes_on_from_node_to_node) {
  const auto run = predicted(one_section("communication = 'pipeline'\ntiles = 3", kPipelineMessages), {3, 6, 3});
  expect_times(run.nodes[1], 1.5, 0.75, 2.5, 10.75);
  expect_times(run.nodes[2], 0, 0.75, 9.25, 13);  // 6.25 + 1.5 + 1.5
}

// 5.3.4
TEST(Sections, begin_where_the_ones_before_have_ended) {
  const std::string section = "[[section]]\ncommunication = 'nearest-neighbour'\n";
  const auto run = predicted("rows = 100\n" + kMessages + "\n" + section + "stage = [{ per_row = 1 }]\n" + section +
                                 "stage = [{ fixed = 0 }]\n",
                             {10, 4});
  // After the first one the clocks are 11.5 and 13.5.
  expect_times(run.nodes[0], 2, 1, 4, 17);  // 13.5 + 1 + 2 - 12.5
  expect_times(run.nodes[1], 2, 1, 8, 15);  // 11.5 + 1 + 2 - 14.5 = 0
}

TEST(Sections, iterations_and_the_start_add_up) {
  const auto model = model_of(one_section("communication = 'none'", "iterations = 7"), "start = 2\n" + equal_nodes(2));
  EXPECT_DOUBLE_EQ(predict_program(model, Rows{3, 4}).seconds, 2 + 7 * 4);
}

TEST(AllToAll, all_begin_when_the_last_is_ready_and_the_slowest_resource_counts) {
  const std::string all = "communication = 'all-to-all'\nbytes_per_row = 10";
  const auto links = predict_program(model_of(one_section(all), equal_nodes(2, "bandwidth = '10B/s'")), Rows{30, 10});
  expect_times(links.nodes[0], 7.5, 0, 0, 37.5);  // 30 (1 - 30/40) rows of 10 bytes
  expect_times(links.nodes[1], 7.5, 0, 20, 37.5);
  const auto processors = predict_program(
      model_of(one_section(all, kNoLatency), equal_nodes(2, "bandwidth = '10B/s'\nmessage = '10B/s'")), Rows{30, 10});
  expect_times(processors.nodes[0], 8.5, 8, 0, 46.5);
  expect_times(processors.nodes[1], 8.5, 8, 20, 46.5);
}

TEST(AllToAll, streaming_stages_work_while_rows_move) {
  const std::string program =
      "rows = 40\n[[variable]]\nname = 'out'\nrow_bytes = 10\nstorage = 'file'\n[[section]]\n"
      "communication = 'all-to-all'\nbytes_per_row = 10\n"
      "stage = [{ per_row = 0.1, writes = ['out'], io = 'streaming' }]\n";
  const auto slow_disk = predict_program(
      model_of(program, equal_nodes(2, "bandwidth = '10B/s'\ndisk_read = '1B/s'\ndisk_write = '20B/s'")), Rows{30, 10});
  EXPECT_DOUBLE_EQ(slow_disk.nodes[0].computing, 3);
  EXPECT_DOUBLE_EQ(slow_disk.nodes[0].writing, 12);  // 15 s, of which 3 are hidden
  EXPECT_DOUBLE_EQ(slow_disk.nodes[0].seconds(), 15);
  EXPECT_DOUBLE_EQ(slow_disk.nodes[1].seconds(), 7.5);
}

}  // namespace
}  // namespace hetsort::research::test
