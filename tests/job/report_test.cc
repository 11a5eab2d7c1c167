// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
//
// The report of a run is read as it was written.
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "job/report/json.h"
#include "job/report/model.h"

namespace hetsort::job::test {
namespace {

RankReport full_rank() {
  RankReport rank{.rank = 0, .host = "a", .threads = 2, .work_seconds = 0.5, .in_memory = true, .runs_in_memory = 3};
  rank.phases = {{.name = "form_runs", .begin = 0, .end = 1.5}, {.name = "exchange", .begin = 1.5, .end = 2}};
  rank.phases[1].worked_seconds = 0.25;
  rank.phases[1].waits = {{1.5, 1.75, 0.875}};
  rank.phases[1].waited_for = {{3, 0.25}};
  rank.process_seconds = 2.5;
  rank.outputs = {{"out.0", 100}, {"out.1", 200}};
  rank.unique_records = 7;
  // A rate may be more than any number of seconds.
  rank.measured = MeasuredRank{.processors = 0.5, .form_seconds = 1e-7, .link_in = 1.25e10};
  rank.predicted_form = PhasePrediction{1.25, "processor"};
  return rank;
}

TEST(Report, of_a_rank_is_read_as_it_was_written) {
  const std::string text = rank_json(full_rank());
  const RankReport rank = read_rank(text);
  EXPECT_EQ(rank_json(rank), text);
  EXPECT_EQ(rank.measured->processors, 0.5);
  EXPECT_EQ(rank.measured->link_in, 1.25e10);
  EXPECT_EQ(rank.measured->link_out, std::nullopt);
  EXPECT_EQ(rank.outputs.size(), 2U);
  ASSERT_TRUE(rank.predicted_form);
  EXPECT_EQ(rank.predicted_form->bound, "processor");
  EXPECT_FALSE(rank.predicted_exchange || rank.host_joules);
  EXPECT_EQ(rank.phases[0].waited(), 0);
  EXPECT_EQ(rank.phases[1].waited(), 0.25);
  EXPECT_EQ(rank.waited_seconds(), 0.25);
}

TEST(Report, refuses_impossible_waits) {
  for (const WaitReport wait : {WaitReport{2, 1, 1}, WaitReport{1, 2, 1.5}}) {
    RankReport rank = full_rank();
    rank.phases[1].waits = {wait};
    EXPECT_THROW(read_rank(rank_json(rank)), ReportError);
  }
}

TEST(Report, of_a_run_is_read_as_it_was_written) {
  RunReport written{.records = 5, .bytes = 500, .fingerprint = "0f", .seconds = 2, .strategy = "equal"};
  written.ranks = {full_rank()};
  const nlohmann::ordered_json context{{"record_size", 100}};
  const RunReport run = read_runs(run_json(written, context), "run.json").at(0);
  EXPECT_EQ(run_json(run, context), run_json(written, context));
  EXPECT_EQ(run.exchange, "");
  EXPECT_FALSE(run.predicted_seconds || run.joules);
}

TEST(Report, of_an_earlier_version_lacks_later_fields) {
  nlohmann::ordered_json json = nlohmann::ordered_json::parse(rank_json(full_rank()));
  for (const char* const later : {"work_seconds", "verified_bytes", "verify_seconds", "in_memory", "runs_in_memory"})
    json.erase(later);
  EXPECT_EQ(read_rank(json.dump()).work_seconds, 0);
  json.erase("host");
  EXPECT_THROW(read_rank(json.dump()), ReportError);
}

}  // namespace
}  // namespace hetsort::job::test
