// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
//
// Disk time of one node, computed by hand: rows of 8 bytes, a second to read 10 of them or to write 5.
#include <gtest/gtest.h>

#include "bench/research/mheta/predict_program.h"
#include "tests/research/mheta/programs.h"

namespace hetsort::research::test {
namespace {

using Rows = std::vector<std::int64_t>;

const std::string kVariable = "[[variable]]\nname = 'a'\nrow_bytes = 8\nread_seconds = 0.1\nwrite_seconds = 0.2\n";
const std::string kOverheads = "io = { read_overhead = 1, write_overhead = 2, prefetch_overhead = 0.5 }\n";

/// A stage over `a`, with memory for so many of its rows.
partition::NodeTimes times_of(const std::string& stage, std::int64_t rows, int memory_rows,
                              const std::string& variables = kVariable) {
  const auto model = model_of(
      "rows = 1000\n" + kOverheads + variables + "[[section]]\ncommunication = 'none'\nstage = [{ " + stage + " }]\n",
      equal_nodes(1, fmt::format("memory = {}", 8 * memory_rows)));
  return predict_program(model, Rows{rows}).nodes[0];
}

TEST(StageTimes, computing_grows_with_the_rows_whatever_was_measured) {
  // T' = T W' / W: node 0 took 5 s for 10 rows.
  const auto model = model_of(
      "rows = 40\nmeasured_rows = [10, 20]\n[[section]]\ncommunication = 'none'\nstage = [{ seconds = [5, 4], fixed = "
      "1 }]\n",
      equal_nodes(2));
  const auto run = predict_program(model, Rows{30, 10});
  EXPECT_DOUBLE_EQ(run.nodes[0].computing, 16);
  EXPECT_DOUBLE_EQ(run.nodes[1].computing, 3);
}

TEST(StageTimes, costs_of_a_node_of_speed_1_are_divided_by_the_speed) {
  const auto model = model_of(
      "rows = 40\n[[section]]\ncommunication = 'none'\nstage = [{ per_row = 1, fixed = 3, cost = { kind = 'linear', "
      "per_record "
      "= 2 } }]\n",
      "[[node]]\nspeed = 2\n");
  EXPECT_DOUBLE_EQ(predict_program(model, Rows{10}).nodes[0].computing, (10 + 3 + 20) / 2.0);
}

// 5.1
TEST(StageTimes, blocking_passes_pay_overheads_and_all_rows) {
  const partition::NodeTimes times = times_of("reads = ['a'], writes = ['a']", 250, 100);
  EXPECT_DOUBLE_EQ(times.reading, 3 * 1 + 25);
  EXPECT_DOUBLE_EQ(times.writing, 3 * 2 + 50);
  EXPECT_DOUBLE_EQ(times_of("reads = ['a']", 250, 100).writing, 0);
}

TEST(StageTimes, what_fits_memory_is_not_read_and_one_row_more_takes_two_passes) {
  EXPECT_DOUBLE_EQ(times_of("reads = ['a'], writes = ['a']", 100, 100).seconds(), 0);
  EXPECT_DOUBLE_EQ(times_of("reads = ['a']", 101, 100).reading, 2 + 10.1);
}

// 5.2 and the unrolled loop: two blocks of the three share memory for 200 rows.
TEST(StageTimes, a_prefetch_hides_behind_the_computing_of_a_block) {
  const partition::NodeTimes part = times_of("per_row = 0.04, reads = ['a'], io = 'prefetch'", 300, 200);
  EXPECT_DOUBLE_EQ(part.reading, 3 * (1 + 0.5) + 10 + 2 * (10 - 4));
  const partition::NodeTimes all = times_of("per_row = 0.2, reads = ['a'], io = 'prefetch'", 300, 200);
  EXPECT_DOUBLE_EQ(all.reading, 3 * (1 + 0.5) + 10);
  const partition::NodeTimes written =
      times_of("per_row = 0.2, reads = ['a'], writes = ['a'], io = 'prefetch'", 300, 200);
  EXPECT_DOUBLE_EQ(written.writing, 3 * 2 + 60);
  EXPECT_DOUBLE_EQ(times_of("per_row = 0.2, reads = ['a'], io = 'prefetch'", 200, 200).reading, 0);
}

TEST(StageTimes, each_prefetched_variable_hides_behind_all_of_the_computing) {
  const std::string two =
      kVariable + "[[variable]]\nname = 'b'\nrow_bytes = 8\nread_seconds = 0.1\nwrite_seconds = 0\n";
  // Two blocks of each variable share the memory. A block is read in 7.5 s and computed in 5 s.
  const std::string stage = "per_row = 0.06666666666666667, io = 'prefetch', reads = ";
  const partition::NodeTimes one = times_of(stage + "['a']", 600, 150);
  EXPECT_NEAR(one.reading, 8 * 1.5 + 7.5 + 7 * 2.5, 1e-9);
  EXPECT_NEAR(times_of(stage + "['a', 'b']", 600, 300, two).reading, 2 * one.reading, 1e-9);
}

TEST(StageTimes, streams_take_as_long_as_processor_or_disk) {
  const partition::NodeTimes disk =
      times_of("per_row = 0.1, reads = ['a'], writes = ['a'], io = 'streaming'", 300, 200);
  EXPECT_DOUBLE_EQ(disk.computing, 30);
  EXPECT_DOUBLE_EQ(disk.seconds(), 90);
  EXPECT_DOUBLE_EQ(disk.writing, 2 * disk.reading);
  EXPECT_DOUBLE_EQ(times_of("per_row = 1, reads = ['a'], io = 'streaming'", 300, 200).seconds(), 300);
}

TEST(StageTimes, memory_keeps_what_is_used_most_often_then_what_is_smaller) {
  const std::string two = kVariable + "[[variable]]\nname = 'b'\nrow_bytes = 16\nread_seconds = 1\nwrite_seconds = 1\n";
  // 24 bytes for each of 100 rows; memory holds 16 of them.
  EXPECT_DOUBLE_EQ(times_of("reads = ['a', 'b']", 100, 200, two).reading, 2 * 1 + 100);  // a stays: 1600 bytes by 800
  // b stays if a stage also writes it; then a alone is on the disk, without room for more than a row.
  EXPECT_DOUBLE_EQ(times_of("reads = ['a', 'b'], writes = ['b']", 100, 200, two).reading, 100 * 1 + 10);
}

TEST(StageTimes, a_replicated_variable_does_not_shrink_with_the_rows) {
  const std::string copy = "[[variable]]\nname = 'a'\nbytes = 1600\nread_seconds = 7\nwrite_seconds = 9\n";
  EXPECT_DOUBLE_EQ(times_of("reads = ['a']", 1, 100, copy).reading, 2 * 1 + 7);
  EXPECT_DOUBLE_EQ(times_of("reads = ['a']", 999, 100, copy).reading, 2 * 1 + 7);
  EXPECT_DOUBLE_EQ(times_of("reads = ['a']", 1, 200, copy).reading, 0);
}

TEST(StageTimes, a_message_of_a_variable_on_disk_is_read_first) {
  const std::string program = "rows = 1000\n" + kOverheads + kVariable +
                              "[[section]]\ncommunication = 'reduction'\nmessage_bytes = 16\nmessage_variable = 'a'\n"
                              "stage = [{ fixed = 0 }]\n";
  const auto model = model_of(program, equal_nodes(2, "memory = 800"));
  EXPECT_DOUBLE_EQ(predict_program(model, Rows{10, 101}).nodes[1].sending, 1 + 2 * 0.1);
  EXPECT_DOUBLE_EQ(predict_program(model, Rows{10, 100}).nodes[1].sending, 0);
}

TEST(StageTimes, the_tiles_of_a_pipeline_divide_computing_and_passes) {
  const auto model = model_of("rows = 1000\n" + kOverheads + kVariable +
                                  "[[section]]\ncommunication = 'pipeline'\ntiles = 2\n"
                                  "stage = [{ per_row = 1, reads = ['a'] }]\n",
                              equal_nodes(2, "memory = 800"));
  const partition::NodeTimes times = predict_program(model, Rows{250, 10}).nodes[0];
  EXPECT_DOUBLE_EQ(times.computing, 250);
  EXPECT_DOUBLE_EQ(times.reading, 2 * (2 * 1 + 12.5));  // 3 passes over all are 2 over each half
}

}  // namespace
}  // namespace hetsort::research::test
