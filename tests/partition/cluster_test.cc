// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
#include "partition/cluster.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <random>

#include "partition/error.h"
#include "partition/lower_bound.h"
#include "partition/plan.h"
#include "partition/scatter.h"
#include "partition/text/toml_hazard.h"
#include "tests/partition/problems.h"

namespace hetsort::partition::test {
namespace {

std::string message_of(const std::string& text) {
  try {
    parse_cluster(text, "c.toml");
  } catch (const PlanError& error) {
    return error.what();
  }
  return "accepted";
}

void expect_message(const std::string& text, const std::string& part) {
  EXPECT_NE(message_of(text).find(part), std::string::npos) << text << "\n-> " << message_of(text);
}

TEST(Cluster, reads_every_field_and_repeats_equal_nodes) {
  const Cluster cluster = parse_cluster(R"(
    [[node]]
    name = "caseb"
    count = 2
    speed = 2.0
    compute = { kind = "linear", per_record = 4.629e-3 }
    receive = { kind = "linear", per_record = 1.0e-5 }
    memory = "8GiB"
    disk_read = "500MB/s"
    disk_write = "400MB/s"
    [[node]]
    speed = 3
    root = true
  )",
                                        "c.toml");
  ASSERT_EQ(cluster.nodes.size(), 3u);
  EXPECT_EQ(cluster.nodes[1].name, "caseb");
  EXPECT_EQ(cluster.nodes[2].name, "2");
  EXPECT_EQ(cluster.nodes[0].speed, 2.0);
  EXPECT_DOUBLE_EQ(cluster.nodes[0].compute->value(1000), 4.629);
  EXPECT_EQ(cluster.nodes[0].memory_bytes, std::int64_t{8} << 30);
  EXPECT_EQ(cluster.nodes[0].disk_read_bytes_per_second, 500e6);
  EXPECT_EQ(cluster.nodes[0].disk_write_bytes_per_second, 400e6);
  EXPECT_EQ(cluster.root(), 2u);
}

TEST(Cluster, reads_every_kind_of_cost) {
  const auto cost = [](const std::string& text) {
    return parse_cluster("[[node]]\ncompute = " + text, "c").nodes[0].compute->value(200);
  };
  EXPECT_DOUBLE_EQ(cost("{ kind = 'linear', per_record = 2 }"), 400);
  EXPECT_DOUBLE_EQ(cost("{ kind = 'affine', start = 5, per_record = 2 }"), 405);
  EXPECT_DOUBLE_EQ(cost("{ kind = 'nlogn', coefficient = 2, start = 1 }"), 1 + 2 * 200 * std::log(200.0));
  EXPECT_DOUBLE_EQ(cost("{ kind = 'nlogn', coefficient = 1 }"), 200 * std::log(200.0));
  EXPECT_DOUBLE_EQ(cost("{ kind = 'power', coefficient = 3, exponent = 2 }"), 120000);
  EXPECT_DOUBLE_EQ(cost("{ kind = 'table', points = [[100, 1], [300, 2.0]] }"), 1.5);
  EXPECT_DOUBLE_EQ(cost("{ kind = 'step', per_record = 1, memory_records = 100, io_step = 7 }"), 214);
}

TEST(Cluster, names_line_and_column_and_the_known_words) {
  expect_message("[[node]]\nspeed = 1\nsped = 2\n", "c.toml:3:1: unknown field 'sped'; known: name, count, speed, ");
  expect_message("[[node]]\ncompute = { kind = \"liner\", per_record = 1 }\n",
                 "c.toml:2:20: unknown kind of cost 'liner'; known: linear, affine, ");
  expect_message("[[node]]\ncompute = { kind = \"linear\", per_recrd = 1 }\n",
                 "c.toml:2:30: unknown field 'per_recrd'");
  expect_message("[[nodes]]\nspeed = 1\n", "unknown field 'nodes'; known: start, select, publish, ");
  expect_message("[[node]]\nspeed = = 1\n", "c.toml:2:");
}

TEST(Cluster, refuses_what_makes_no_sense) {
  expect_message("", "there is no [[node]]");
  expect_message("[[[node]]\nspeed = 1", "c.toml:1:3:");
  expect_message("[[node]]\n", "c.toml:1:1: a node needs a speed or a compute cost");
  expect_message("node = 3", "must be a list of tables");
  expect_message("node = [3]", "must be a table");
  for (const char* speed : {"0", "-1", "nan", "inf", "-inf"})
    expect_message(std::string("[[node]]\nspeed = ") + speed, "c.toml:2:");
  expect_message("[[node]]\nspeed = \"fast\"", "speed must be a number");
  expect_message("[[node]]\nspeed = 1\ncount = 0", "count must be at least 1");
  expect_message("[[node]]\nspeed = 1\ncount = 1.5", "count must be a whole number");
  expect_message("[[node]]\nspeed = 1\ncount = 2000000", "more than 1000000 nodes");
  expect_message("[[node]]\nspeed = 1\nroot = true\n[[node]]\nspeed = 1\nroot = true", "only one node");
  expect_message("[[node]]\nspeed = 1\nroot = true\ncount = 2", "only one node");
  expect_message("[[node]]\nspeed = 1\nmemory = \"lots\"", "c.toml:3:10: memory 'lots' is not a size");
  expect_message("[[node]]\nspeed = 1\nmemory = -5", "memory '-5' is negative");
  expect_message("[[node]]\nspeed = 1\ndisk_read = \"0MB/s\"", "above zero");
  expect_message("[[node]]\nspeed = 1\nname = \"\"", "name must have");
  expect_message("[[node]]\nspeed = 1\nname = \"a\\nb\"", "no control characters");
  for (const std::string hidden : {"\\u007f", "\\u009b", "\\u202e", "\\u2066", "\\u061c", "\\u2028"})
    expect_message("[[node]]\nspeed = 1\nname = \"a" + hidden + "\"", "no control characters");
  expect_message("[[node]]\ncompute = 3", "compute must be a table");
  expect_message("[[node]]\ncompute = { per_record = 1 }", "'kind' is missing");
  expect_message("[[node]]\ncompute = { kind = 'linear' }", "'per_record' is missing");
  expect_message("[[node]]\ncompute = { kind = 'linear', per_record = -1 }", "not negative");
  expect_message("[[node]]\ncompute = { kind = 'linear', per_record = nan }", "c.toml:2:");
  expect_message("[[node]]\ncompute = { kind = 'table', points = [] }", "at least one point");
  expect_message("[[node]]\ncompute = { kind = 'table', points = [[1]] }", "pairs of numbers");
  expect_message("[[node]]\ncompute = { kind = 'table', points = [[1, 2], [1, 3]] }", "two points");
}

TEST(Cluster, reads_the_resources_of_whole_runs) {
  const Cluster cluster = parse_cluster(R"(
    select = 0.1
    publish = 0.2
    shared_bandwidth = "1gbit"
    shared_disk_read = "100MB/s"
    shared_disk_write = "50MB/s"
    [[node]]
    compute = { kind = "linear", per_record = 1e-6 }
    merge = { kind = "linear", per_record = 2e-7 }
    message = "2GB/s"
    message_out = "1GB/s"
    bandwidth = "800mbit"
    bandwidth_out = "400mbit"
  )",
                                        "c.toml");
  const ClusterNode& node = cluster.nodes[0];
  EXPECT_DOUBLE_EQ(node.merge->value(10), 2e-6);
  EXPECT_EQ(node.message_in_bytes_per_second, 2e9);
  EXPECT_EQ(node.message_out_bytes_per_second, 1e9);
  EXPECT_EQ(node.link_in_bytes_per_second, 100e6);
  EXPECT_EQ(node.link_out_bytes_per_second, 50e6);
  EXPECT_EQ(cluster.select_seconds, 0.1);
  EXPECT_EQ(cluster.publish_seconds, 0.2);
  EXPECT_EQ(cluster.shared_link_bytes_per_second, 125e6);
  EXPECT_EQ(cluster.shared_disk_read_bytes_per_second, 100e6);
  EXPECT_EQ(cluster.shared_disk_write_bytes_per_second, 50e6);
  expect_message("[[node]]\nspeed = 1\nmerge = { kind = 'nlogn', coefficient = 1 }", "c.toml:3:9: merge must be");
  expect_message("[[node]]\nspeed = 1\nbandwidth_in = '0mbit'", "c.toml:3:16: bandwidth_in '0mbit' must be above zero");
  expect_message("publish = -1\n[[node]]\nspeed = 1", "c.toml:1:11: publish must be a finite number of seconds");
}

TEST(Cluster, refuses_rates_that_are_zero_negative_or_no_number_with_their_place) {
  for (const char* field : {"bandwidth", "bandwidth_in", "bandwidth_out", "disk_read", "disk_write", "message",
                            "message_in", "message_out"})
    for (const char* rate : {"0", "-1", "nan", "inf", "'0MB/s'", "'-5MB/s'", "'nan'", "'infMB/s'"})
      expect_message(fmt::format("[[node]]\nspeed = 1\n{} = {}\n", field, rate),
                     fmt::format("c.toml:3:{}: {} ", std::string(field).size() + 4, field));
  for (const char* field : {"shared_bandwidth", "shared_disk_read", "shared_disk_write"})
    expect_message(fmt::format("{} = '0MB/s'\n[[node]]\nspeed = 1\n", field), "c.toml:1:");
}

TEST(Cluster, reads_a_matrix_of_links) {
  const Cluster cluster = parse_cluster(
      "links = [['', '100MB/s', '8mbit'], [1000, '', 2000], ['3MB/s', '4MB/s', '']]\n"
      "[[node]]\nname = 'a'\nspeed = 1\n[[node]]\nname = 'b'\ncount = 2\nspeed = 1\n",
      "c");
  EXPECT_EQ(cluster.link_bytes_per_second, (LinkMatrix{{0, 100e6, 1e6}, {1000, 0, 2000}, {3e6, 4e6, 0}}));
  const std::array<std::size_t, 2> places{2, 0};
  const Cluster selected = select_nodes(cluster, places);
  EXPECT_EQ(selected.link_bytes_per_second, (LinkMatrix{{0, 3e6}, {1e6, 0}}));
  EXPECT_EQ(selected.nodes[1].name, "a");
}

TEST(Cluster, refuses_a_matrix_that_does_not_fit_the_nodes) {
  const std::string nodes = "\n[[node]]\nspeed = 1\n[[node]]\nspeed = 1\n";
  expect_message("links = [['', '1MB/s']]" + nodes, "c.toml:1:9: links must have 2 rows, one for each node, not 1");
  expect_message("links = [['', '1MB/s'],\n ['1MB/s']]" + nodes,
                 "c.toml:2:2: links must have 2 columns in each row, one for each node, not 1");
  expect_message("links = 3" + nodes, "c.toml:1:9: links must be a list of lists");
  expect_message("links = ['a', 'b']" + nodes, "c.toml:1:10: links must be a list of lists");
  for (const char* rate : {"0", "-1", "nan", "inf", "true", "''", "'0mbit'", "'-1MB/s'", "'nan'"})
    expect_message(fmt::format("links = [['', {}], [1, '']]", rate) + nodes, "c.toml:1:15: ");
}

TEST(Cluster, a_start_is_seconds_before_all_nodes) {
  EXPECT_EQ(parse_cluster("start = 0.25\n[[node]]\nspeed = 1\n", "c").start_seconds, 0.25);
  EXPECT_EQ(parse_cluster("[[node]]\nspeed = 1\n", "c").start_seconds, 0);
  for (const char* start : {"-0.5", "inf", "nan"})
    expect_message("start = " + std::string(start) + "\n[[node]]\nspeed = 1\n",
                   "c.toml:1:9: start must be a finite number of seconds, at least 0");
  expect_message("start = '1 s'\n[[node]]\nspeed = 1\n", "c.toml:1:9: ");
  expect_message("[[node]]\nspeed = 1\nstart = 1\n", "c.toml:3:1: unknown field 'start'");
}

TEST(Cluster, checks_the_laboratory_fields_and_plans_the_same_without_them) {
  const std::string plain = "[[node]]\nspeed = 2\n[[node]]\nspeed = 1\n";
  const std::string slowed =
      "[[node]]\nspeed = 2\ncpu = 0.5\nbandwidth = \"800mbit\"\nlatency = \"1ms\"\n[[node]]\nspeed = 1\ncpu = 1\n"
      "bandwidth = \"100MB/s\"\n";
  const auto shares = [](const std::string& text) {
    return shares_of(make_plan(problem_from_cluster(parse_cluster(text, "c"), 100'000), "threshold"));
  };
  EXPECT_EQ(shares(plain), shares(slowed));
  for (const char* cpu : {"0", "-1", "nan", "inf"})
    expect_message(std::string("[[node]]\nspeed = 1\ncpu = ") + cpu,
                   "c.toml:3:7: cpu must be a finite number above zero");
  expect_message("[[node]]\nspeed = 1\ncpu = \"half\"", "cpu must be a number");
  expect_message("[[node]]\nspeed = 1\nbandwidth = \"800mbits\"", "c.toml:3:13: bandwidth '800mbits' is not a");
  expect_message("[[node]]\nspeed = 1\nbandwidth = \"0mbit\"", "above zero");
  expect_message("[[node]]\nspeed = 1\nlatency = 5", "c.toml:3:11: latency '5' is not a time such as");
  expect_message("[[node]]\ncpu = 0.5\n", "a node needs a speed or a compute cost");
}

TEST(Cluster, stops_nesting_and_size_bombs_before_the_parser_sees_them) {
  const std::string deep(200'000, '[');
  expect_message("x = " + deep, "nested too deeply");
  std::string braces;
  for (int i = 0; i < 50'000; ++i) braces += "{a=";
  expect_message("x = " + braces, "nested too deeply");
  std::string dots = "a";
  for (int i = 0; i < 100'000; ++i) dots += ".a";
  expect_message(dots + " = 1", "nested too deeply");
  expect_message("[" + dots + "]", "nested too deeply");
  expect_message("x = [\"\"\"q\"\"\"\", " + deep, "nested too deeply");
  expect_message("x = '\\' # ' \ny = " + deep, "nested too deeply");
  expect_message(std::string((std::size_t{256} << 20) + 1, '#'), "more than the 268435456");
}

TEST(Cluster, has_room_for_a_link_matrix_of_many_nodes) {
  constexpr std::size_t kNodes = 200;
  // Comments stand for the text of more nodes, which takes a parser much longer.
  std::string text = "#" + std::string(std::size_t{17} << 20, ' ') + "\nlinks = [";
  for (std::size_t row = 0; row < kNodes; ++row) {
    text += "[";
    for (std::size_t column = 0; column < kNodes; ++column) text += column == row + 1 ? "\"2MB/s\"," : "\"1MB/s\",";
    text += "],\n";
  }
  const Cluster cluster = parse_cluster(text + "]\n[[node]]\nspeed = 1\ncount = 200\n", "c.toml");
  ASSERT_EQ(cluster.link_bytes_per_second.size(), kNodes);
  EXPECT_EQ(cluster.link_bytes_per_second[198][199], 2e6);
  EXPECT_EQ(cluster.link_bytes_per_second[199][198], 1e6);
}

TEST(TomlHazard, is_not_misled_by_strings_comments_and_numbers) {
  EXPECT_FALSE(find_hazard("x = \"[[[[[[[[[[[[[[[[[[[[[[[[\"", 16));
  EXPECT_FALSE(find_hazard("# [[[[[[[[[[[[[[[[[[[[[[[[[[[[[", 16));
  EXPECT_FALSE(find_hazard("x = '''\n[[[[[[[[[[[[[[[[[[[[[[[[[\n'''", 16));
  std::string points = "x = [";
  for (int i = 0; i < 100; ++i) points += "[1.5, 2.5], ";
  EXPECT_FALSE(find_hazard(points + "]", 16));
  EXPECT_TRUE(find_hazard("x = '''a''' \ny = [[[[[[[[[[[[[[[[[[[", 16));
  EXPECT_TRUE(find_hazard("x = \"\\\\\"\ny = [[[[[[[[[[[[[[[[[[[", 16));
  EXPECT_EQ(find_hazard("x = 1\ny = [[[", 2)->place.line, 2u);
  EXPECT_EQ(find_hazard("x = 1\ny = [[[", 2)->place.column, 7u);
}

TEST(Cluster, takes_foreign_letters_in_comments_only) {
  EXPECT_EQ(parse_cluster("\xEF\xBB\xBF# caf\xC3\xA9\n[[node]]\nspeed = 1\n", "c").nodes.size(), 1u);
  expect_message("[[node]]\nspeed = \xCD\xAA 1\n", "c.toml:2:9: a character that is not ASCII");
  expect_message("[[node]]\nname = \"caf\xC3\xA9\"\n", "c.toml:2:12: a character that is not ASCII");
}

TEST(Cluster, survives_mutated_files) {
  const std::string seed_text =
      "links = [['', '1kbit'], [2, '']]\n[[node]]\nname = \"a\"\ncount = 2\nspeed = 2.5e0\ncompute = { kind = "
      "\"table\", points = [[1, 2], [3, 4.5]] }\n"
      "receive = { kind = 'affine', start = 1, per_record = 0x10 }\nmemory = \"\"\"8GiB\"\"\"\nroot = true\n"
      "[node.x.y]\n\"q.\\u0041\" = 1979-05-27T07:32:00Z # c\n";
  const std::string alphabet = "[]{}=.,\"'#\n\\ \t0aeE+-_:\x01\xff\xc3\xa9[[''\"\"";
  Seeded random(test_seed());
  for (int round = 0; round < 20'000; ++round) {
    std::string text = seed_text;
    for (std::uint64_t edits = 1 + random.engine() % 6; edits > 0; --edits) {
      const std::size_t place = random.engine() % (text.size() + 1);
      switch (random.engine() % 3) {
        case 0:
          text.insert(place, 1, alphabet[random.engine() % alphabet.size()]);
          break;
        case 1:
          text.erase(place, 1 + random.engine() % 8);
          break;
        default:
          text.insert(place, text.substr(random.engine() % text.size(), random.engine() % 40));
      }
    }
    try {
      parse_cluster(text, "c");
    } catch (const PlanError&) {
    }
  }
}

TEST(ProblemFromCluster, takes_seconds_when_all_give_them_else_work_by_speed) {
  const Cluster seconds =
      parse_cluster("[[node]]\ncompute={kind='linear',per_record=2}\nmemory='1000'\nspeed=4\n", "c");
  EXPECT_EQ(problem_from_cluster(seconds, 10).nodes[0].compute->value(3), 6);
  EXPECT_EQ(problem_from_cluster(seconds, 10).nodes[0].max_records, 10);
  EXPECT_EQ(problem_from_cluster(seconds, 10, {.record_bytes = 50}).nodes[0].max_records, 20);
  EXPECT_EQ(problem_from_cluster(seconds, 10, {.memory_caps = false}).nodes[0].max_records, kNoCap);
  const Cluster speeds =
      parse_cluster("[[node]]\nspeed=4\n[[node]]\nspeed=2\ncompute={kind='linear',per_record=2}\n", "c");
  EXPECT_EQ(problem_from_cluster(speeds, 10, {.shape = linear_cost(1)}).nodes[1].compute->value(6), 3);
  const ClusterUse half{.record_bytes = 50, .records_in_memory = [](std::int64_t bytes) { return bytes / 100 - 5; }};
  EXPECT_EQ(problem_from_cluster(seconds, 10, half).nodes[0].max_records, 5);
  const Cluster mixed = parse_cluster("[[node]]\nspeed=4\n[[node]]\ncompute={kind='linear',per_record=2}\n", "c");
  EXPECT_THROW(problem_from_cluster(mixed, 10), PlanError);
  EXPECT_THROW(problem_from_cluster(speeds, 10, {.record_bytes = 0}), PlanError);
}

TEST(ProblemFromCluster, names_the_place_of_a_node_whose_memory_holds_no_record) {
  const Cluster cluster = parse_cluster("[[node]]\nname='a'\nspeed=1\n[[node]]\nname='b'\nspeed=1\nmemory='99'\n", "c");
  try {
    problem_from_cluster(cluster, 10);
    ADD_FAILURE() << "accepted";
  } catch (const PlanError& error) {
    EXPECT_STREQ(error.what(), "c:4:1: node 'b': a memory of 99 bytes is too small to sort records of 100 bytes in it");
  }
}

TEST(ProblemFromCluster, a_start_is_added_to_seconds_and_changes_no_share) {
  const std::string nodes =
      "[[node]]\nname='a'\nspeed=2\ncompute={kind='linear',per_record=1}\n"
      "receive={kind='linear',per_record=0.25}\n"
      "[[node]]\nname='b'\nspeed=1\ncompute={kind='linear',per_record=2}\n"
      "receive={kind='linear',per_record=0.5}\n";
  const Problem without = problem_from_cluster(parse_cluster(nodes, "c"), 30);
  const Problem with = problem_from_cluster(parse_cluster("start = 7\n" + nodes, "c"), 30);
  for (const char* strategy : {"threshold", "dp", "proportional", "equal"}) {
    const Plan before = make_plan(without, strategy);
    const Plan plan = make_plan(with, strategy);
    EXPECT_DOUBLE_EQ(plan.makespan, before.makespan + 7) << strategy;
    EXPECT_DOUBLE_EQ(plan.lower_bound, before.lower_bound + 7) << strategy;
    for (std::size_t node = 0; node < 2; ++node) {
      EXPECT_EQ(plan.nodes[node].records, before.nodes[node].records) << strategy;
      EXPECT_DOUBLE_EQ(plan.nodes[node].finish, before.nodes[node].finish + 7) << strategy;
    }
  }
  // The same for a scatter, whichever node has the data.
  for (const std::size_t data_node : {0U, 1U}) {
    const auto scatter = [&](const Problem& problem) {
      const StrategyChoice choice = choose_strategy("scatter-exact");
      return make_plan(choose_root(problem, data_node, SendingOrder::kBandwidth, choice), choice);
    };
    EXPECT_DOUBLE_EQ(scatter(with).makespan, scatter(without).makespan + 7) << data_node;
    EXPECT_DOUBLE_EQ(scatter(with).lower_bound, scatter(without).lower_bound + 7) << data_node;
  }
  // No start is added to a plan of no records, nor to work units.
  Problem nothing = with;
  nothing.records = 0;
  EXPECT_EQ(make_plan(nothing, "threshold").makespan, 0);
  EXPECT_EQ(lower_bound(nothing), 0);
  const Cluster speeds = parse_cluster("start = 7\n[[node]]\nspeed=4\n", "c");
  EXPECT_EQ(make_plan(problem_from_cluster(speeds, 8, {.shape = linear_cost(1)}), "equal").makespan, 2);
}

}  // namespace
}  // namespace hetsort::partition::test
