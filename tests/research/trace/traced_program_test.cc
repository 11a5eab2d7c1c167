// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <stdexcept>

#include "bench/research/mheta/program_text.h"
#include "bench/research/mheta/write_program.h"
#include "bench/research/trace/iteration.h"
#include "bench/research/trace/sections.h"

namespace hetsort::research::test {
namespace {

using namespace trace;

using Calls = std::vector<Call>;
using AllCalls = std::vector<Calls>;

Call send(int to, std::int64_t bytes = 8, double computing = 0) {
  return {.kind = CallKind::kSend, .partner = to, .bytes = bytes, .computing = computing};
}
Call receive(int from, std::int64_t bytes = 8, double computing = 0) {
  return {.kind = CallKind::kReceive, .partner = from, .bytes = bytes, .computing = computing};
}
Call all(int ranks, std::int64_t bytes = 8, double computing = 0) {
  return {.kind = CallKind::kCollective, .partner = ranks, .bytes = bytes, .computing = computing};
}
Call file(CallKind kind, int number, std::int64_t bytes, double seconds) {
  return {.kind = kind, .partner = number, .bytes = bytes, .seconds = seconds};
}
const Call kEndOfRank{.kind = CallKind::kEnd};
const Call kMarked{.kind = CallKind::kMark};

/// The words of all sections but the last, which has what follows the last communication.
std::vector<Communication> words_of(AllCalls calls) {
  for (Calls& of_rank : calls) of_rank.push_back(kEndOfRank);
  std::vector<Communication> words;
  for (const TracedSection& section : sections_of(calls)) words.push_back(section.communication);
  EXPECT_EQ(words.back(), Communication::kNone);
  words.pop_back();
  return words;
}

using Words = std::vector<Communication>;

TEST(TracedSections, messages_to_one_rank_and_back_are_a_reduction) {
  const Calls other{send(0), receive(0)};
  EXPECT_EQ(words_of({{receive(2), receive(1), send(1), send(2)}, other, other}), Words{Communication::kReduction});
  const Calls to_last{send(2), receive(2)};
  EXPECT_EQ(words_of({to_last, to_last, {receive(0), receive(1), send(0), send(1)}}), Words{Communication::kReduction});
}

TEST(TracedSections, messages_both_ways_between_neighbours_are_an_exchange) {
  const Words exchange{Communication::kNearestNeighbour};
  const AllCalls line{{send(1), receive(1)}, {send(0), send(2), receive(0), receive(2)}, {receive(1), send(1)}};
  EXPECT_EQ(words_of(line), exchange);
  AllCalls ring = line;
  ring[0].insert(ring[0].begin(), {send(2), receive(2)});
  ring[2].insert(ring[2].begin(), {receive(0), send(0)});
  EXPECT_EQ(words_of(ring), exchange);
  // Two arrays: all sends come first.
  EXPECT_EQ(words_of({{send(1), send(1), receive(1), receive(1)}, {send(0), send(0), receive(0), receive(0)}}),
            exchange);
}

TEST(TracedSections, messages_from_each_rank_to_the_next_are_a_pipeline) {
  const AllCalls calls{{send(1, 8, 2), send(1, 8, 2), kEndOfRank},
                       {receive(0), send(2, 8, 3), receive(0), send(2, 8, 3), kEndOfRank},
                       {receive(1, 8, 1), receive(1, 8, 4), {.kind = CallKind::kEnd, .computing = 5}}};
  const std::vector<TracedSection> sections = sections_of(calls);
  ASSERT_EQ(sections.size(), 2);
  EXPECT_EQ(sections[0].communication, Communication::kPipeline);
  EXPECT_EQ(sections[0].tiles, 2);
  EXPECT_EQ(sections[0].ranks[0].computing, 4);
  EXPECT_EQ(sections[0].ranks[1].computing, 6);
  // The last rank computes as long after its last message as after the one before.
  EXPECT_EQ(sections[0].ranks[2].computing, 1 + 4 + 4);
  EXPECT_EQ(sections[1].ranks[2].computing, 1);
  EXPECT_EQ(words_of({{receive(1), receive(1)}, {send(0), send(0)}}), Words{Communication::kPipeline});
}

TEST(TracedSections, other_messages_are_one_all_to_all_up_to_the_next_call_of_all_ranks) {
  const Calls last{send(0), send(1), receive(0), all(3)};
  EXPECT_EQ(words_of({{send(2), receive(2), all(3)}, {receive(2), all(3)}, last}),
            (Words{Communication::kAllToAll, Communication::kReduction}));
  // A collective call of some ranks is no call of all.
  EXPECT_EQ(words_of({{all(2), all(3)}, {all(2), all(3)}, {all(3)}}),
            (Words{Communication::kAllToAll, Communication::kReduction}));
}

TEST(TracedSections, computing_and_files_belong_to_the_communication_behind_them) {
  const AllCalls calls{{file(CallKind::kRead, 4, 100, 0.5), all(1, 8, 2), file(CallKind::kWrite, 4, 50, 0.25),
                        file(CallKind::kWrite, 4, 50, 0.25), all(1, 8, 3), kEndOfRank}};
  const std::vector<TracedSection> sections = sections_of(calls);
  ASSERT_EQ(sections.size(), 3);
  EXPECT_EQ(sections[0].ranks[0].computing, 2);
  EXPECT_EQ(sections[0].ranks[0].files.front().bytes_read, 100);
  EXPECT_EQ(sections[1].ranks[0].files.front().bytes_written, 100);
  EXPECT_EQ(sections[1].ranks[0].files.front().write_seconds, 0.5);
  EXPECT_EQ(sections[1].ranks[0].computing, 3);
}

TEST(TracedSections, the_first_rank_of_a_reduction_combines_between_its_messages) {
  const std::vector<TracedSection> sections =
      sections_of({{receive(1, 8, 5), receive(2, 8, 1), send(1, 8, 1), send(2), kEndOfRank},
                   {send(0, 8, 7), receive(0), kEndOfRank},
                   {send(0), receive(0), kEndOfRank}});
  EXPECT_EQ(sections[0].ranks[0].computing, 5);
  EXPECT_EQ(sections[0].ranks[0].combining, 2);
  EXPECT_EQ(sections[0].ranks[1].computing, 7);
}

TEST(TracedSections, different_orders_of_marks_and_calls_are_refused) {
  EXPECT_THROW(sections_of({{all(2), kMarked, kEndOfRank}, {kMarked, all(2), kEndOfRank}}), std::runtime_error);
}

/// The iteration of one rank that makes these collective calls, each with its number of bytes.
TracedIteration iteration_of_bytes(const std::vector<std::int64_t>& bytes, const std::vector<double>& computing = {}) {
  Calls calls;
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    if (bytes[i] == 0)
      calls.push_back(kMarked);
    else
      calls.push_back(all(1, bytes[i], computing.empty() ? 0 : computing[i]));
  }
  calls.push_back(kEndOfRank);
  return iteration_of(sections_of({calls}));
}

std::vector<std::int64_t> bytes_of(const TracedIteration& iteration) {
  std::vector<std::int64_t> bytes;
  for (const TracedSection& section : iteration.sections) bytes.push_back(section.message_bytes);
  return bytes;
}

using Bytes = std::vector<std::int64_t>;

TEST(TracedIterations, the_pattern_that_covers_most_of_the_run_is_an_iteration) {
  const TracedIteration found = iteration_of_bytes({9, 9, 9, 1, 2, 2, 1, 2, 2, 1, 2, 2, 1, 2, 2, 7});
  EXPECT_EQ(bytes_of(found), (Bytes{1, 2, 2}));
  EXPECT_EQ(found.seen, 4);
  EXPECT_EQ(found.measured, 3);
}

TEST(TracedIterations, costs_are_means_without_the_first_iteration) {
  const TracedIteration found = iteration_of_bytes({1, 2, 1, 2, 1, 2}, {90, 90, 3, 5, 5, 7});
  EXPECT_EQ(found.sections[0].ranks[0].computing, 4);
  EXPECT_EQ(found.sections[1].ranks[0].computing, 6);
}

TEST(TracedIterations, marks_decide_where_there_are_some) {
  const TracedIteration found = iteration_of_bytes({4, 1, 1, 0, 1, 1, 0, 1, 1, 0, 6});
  EXPECT_EQ(bytes_of(found), (Bytes{1, 1}));
  EXPECT_EQ(found.seen, 3);
  EXPECT_THROW(iteration_of_bytes({1, 0, 1, 0, 1, 1, 0}), std::runtime_error);
}

TEST(TracedIterations, a_run_without_a_pattern_is_one_iteration) {
  const TracedIteration found = iteration_of_bytes({1, 2, 3});
  EXPECT_EQ(bytes_of(found), (Bytes{1, 2, 3, 0}));
  EXPECT_EQ(found.seen, 1);
}

TEST(TracedProgram, files_are_variables_on_disk_in_the_order_of_their_first_use) {
  Calls calls;
  for (int i = 0; i < 3; ++i) {
    calls.push_back(file(CallKind::kRead, 5, 800, 2));
    calls.push_back(file(CallKind::kRead, 3, 8, 1));  // less than a tenth of what the other section reads
    calls.push_back(all(1, 8, 40));
    calls.push_back(file(CallKind::kRead, 3, 1600, 4));
    calls.push_back(file(CallKind::kWrite, 3, 1600, 8));
    calls.push_back(all(1, 16, 20));
  }
  calls.push_back(kEndOfRank);
  const Program program = program_of(iteration_of(sections_of({calls})), {{0.5}, {0.25}, 0.125}, {100}, 0);
  ASSERT_EQ(program.variables.size(), 2);
  EXPECT_EQ(program.iterations, 3);
  EXPECT_EQ(program.variables[0].bytes, 8);
  EXPECT_TRUE(program.variables[0].read_only);
  EXPECT_EQ(program.variables[0].read_seconds->values, std::vector<double>{0.02});
  EXPECT_EQ(program.variables[1].bytes, 16);
  EXPECT_EQ(program.variables[1].write_seconds->values, std::vector<double>{0.08});
  EXPECT_EQ(program.sections[0].stages[0].reads, std::vector<std::size_t>{0});
  EXPECT_EQ(program.sections[1].stages[0].reads, std::vector<std::size_t>{1});
  EXPECT_EQ(program.sections[0].stages[0].per_row.values, std::vector<double>{0.4});
}

TEST(TracedProgram, its_text_is_read_back_as_it_was) {
  const std::string text = R"(name = "p"
rows = 10
iterations = 3
io = { read_overhead = [1, 2], prefetch_overhead = 0.5 }
message = { send_overhead = 2, latency = 0.25 }

[[variable]]
name = "a"
row_bytes = 8
access = "read-only"
storage = "file"
read_seconds = [1, 2]

[[variable]]
name = "b"
bytes = 80
read_seconds = 3
write_seconds = 4

[[section]]
name = "s"
communication = "pipeline"
message_bytes = 16
tiles = 4
message_variable = "b"

[[section.stage]]
name = "t"
per_row = [1, 2]
fixed = 5
reads = ["a", "b"]
writes = ["b"]
io = "prefetch"

[[section]]
name = "r"
communication = "reduction"
message_bytes = 8
reduce = [1, 1]

[[section.stage]]
per_row = 1

[[section]]
name = "x"
communication = "all-to-all"
bytes_per_row = 100

[[section.stage]]
fixed = 1
)";
  EXPECT_EQ(program_text(parse_program(text, "p.toml")), text);
}

}  // namespace
}  // namespace hetsort::research::test
