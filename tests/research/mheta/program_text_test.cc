// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
#include "bench/research/mheta/program_text.h"

#include <gtest/gtest.h>

#include "partition/error.h"
#include "tests/research/mheta/programs.h"

namespace hetsort::research::test {
namespace {

const std::string kHead = "rows = 10\n[[variable]]\nname = 'a'\nrow_bytes = 8\naccess = 'read-only'\n";
const std::string kSection = "[[section]]\ncommunication = 'none'\n";

std::string error_of(const std::string& program, const std::string& cluster = equal_nodes(2)) {
  try {
    model_of(program, cluster);
  } catch (const partition::PlanError& error) {
    return error.what();
  }
  return "accepted";
}

void expect_error(const std::string& program, const std::string& text, const std::string& cluster = equal_nodes(2)) {
  EXPECT_NE(error_of(program, cluster).find(text), std::string::npos) << error_of(program, cluster);
}

TEST(ProgramText, mistakes_are_named_with_file_line_and_field) {
  expect_error(kHead + kSection + "stage = [{ reads = ['b'] }]\n", "p.toml:8:21: unknown variable 'b'; known: a");
  expect_error(kHead + kSection + "stage = [{ writes = ['a'] }]\n", "p.toml:8:22: variable 'a' is read-only");
  expect_error(kHead + kSection, "p.toml:6:1: section '' has no stage");
  expect_error(kHead, "p.toml: there is no [[section]]");
  expect_error(kHead + kSection + "stage = [{ per_row = -1 }]\n",
               "p.toml:8:22: per_row must be finite and at least 0, not -1");
  expect_error(kHead + kSection + "stage = [{ fixed = [0, inf] }]\n", "p.toml:8:24: fixed must be finite");
  expect_error(kHead + kSection + "stage = [{ per_row = nan }]\n", "p.toml:8:22: per_row must be finite");
  expect_error(kHead + kSection + "stage = [{ per_row = [1, 2, 3] }]\n",
               "p.toml:8:22: per_row has 3 numbers for 2 nodes");
  expect_error(kHead + "[[section]]\ncommunication = 'gossip'\n",
               "p.toml:7:17: unknown communication 'gossip'; known: none");
  expect_error(kHead + "[[section]]\ncommunication = 'none'\ntiles = 3\n",
               "p.toml:8:9: tiles is for the communication 'pipeline'");
  expect_error(kHead + "[[section]]\nkind = 'none'\n", "unknown field 'kind'; known: name, communication");
  expect_error("rows = -1\n", "p.toml:1:8: rows must be from 0");
  expect_error("iterations = 3\n", "the field 'rows' is missing");
  expect_error("rows = 1\n[[variable]]\nname = 'a'\nrow_bytes = 0\n", "p.toml:4:13: row_bytes must be above zero");
  expect_error("rows = 1\n[[variable]]\nname = 'a'\n", "variable 'a' needs one of row_bytes (distributed) and bytes");
  expect_error(kHead + kSection + "stage = [{ seconds = [1, 2] }]\n", "p.toml:8:22: seconds need measured_rows");
  expect_error("measured_rows = [1, 0]\n" + kHead + kSection + "stage = [{ seconds = [1, 2] }]\n",
               "p.toml:1:17: measured_rows must be at least 1");
}

TEST(ProgramText, a_single_node_has_no_neighbours) {
  for (const char* communication : {"nearest-neighbour", "pipeline"})
    expect_error(one_section(std::string("communication = '") + communication + "'"),
                 "p.toml:5:17: communication: a single node has no neighbours", equal_nodes(1));
  EXPECT_EQ(error_of(one_section("communication = 'reduction'"), equal_nodes(1)), "accepted");
}

TEST(ProgramText, thousands_of_sections_are_refused) {
  std::string text = "rows = 10\n";
  for (int i = 0; i < 1001; ++i) text += kSection + "stage = [{ per_row = 1 }]\n";
  expect_error(text, "p.toml:3002:1: more than 1000 sections");
}

TEST(ProgramText, memory_and_disks_must_be_known_and_hold_a_row_of_each_variable) {
  const std::string program = kHead + kSection + "stage = [{ per_row = 1, reads = ['a'], io = 'prefetch' }]\n";
  const std::string disks = "disk_read = '1MB/s'\ndisk_write = '1MB/s'\n";
  expect_error(program, "c.toml:1:1: node '0' has no memory", equal_nodes(1, "memory = 0\n" + disks));
  expect_error(program, "c.toml:1:1: node '0': a memory of 15 bytes holds no row of each variable",
               equal_nodes(1, "memory = 15\n" + disks));
  EXPECT_EQ(error_of(program, equal_nodes(1, "memory = 16\n" + disks)), "accepted");
  expect_error(program, "c.toml:1:1: node '0' needs disk_read and disk_write", equal_nodes(1, "memory = 1600"));
  EXPECT_EQ(error_of(program, equal_nodes(1)), "accepted");
}

TEST(ProgramText, a_cost_of_speed_1_needs_a_speed) {
  const std::string cluster = "[[node]]\ncompute = { kind = 'linear', per_record = 1 }\n";
  expect_error(kHead + kSection + "stage = [{ per_row = 1 }]\n",
               "c.toml:1:1: node '0' has no speed, and p.toml:8:22: per_row is a number for a node of speed 1",
               cluster);
  EXPECT_EQ(error_of(kHead + kSection + "stage = [{ per_row = [1] }]\n", cluster), "accepted");
}

TEST(ProgramText, hostile_text_ends_in_an_error) {
  for (const char* text :
       {"", "[[section]]", "rows = 1\nsection = 3", "rows = 1\nsection = [1]", "rows = 1\nvariable = 'x'", "rows = 1e3",
        "rows = 1\nio = 3", "rows = 9223372036854775808", "rows = 1\n[[section]]\ncommunication = 'none'\nstage = [1]",
        "rows = 1\n[[section]]\ncommunication = 'none'\nstage = [{ per_row = 'x' }]",
        "rows = 1\n[[section]]\ncommunication = 'none'\nstage = [{ per_row = [] }]",
        "rows = 1\n[[section]]\ncommunication = 'none'\nstage = [{ reads = 'a' }]"})
    EXPECT_THROW(parse_program(text, "p.toml"), partition::PlanError) << text;
}

}  // namespace
}  // namespace hetsort::research::test
