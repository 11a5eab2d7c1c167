// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
//
// Reading, comparing and showing runs, without the program around it.
#include <gtest/gtest.h>

#include <cstdlib>
#include <random>

#include "cli/report/groups.h"
#include "cli/report/html.h"
#include "cli/report/page.h"
#include "cli/terminal/columns.h"
#include "job/report/json.h"
#include "tests/cli/report/sample.h"

namespace hetsort::cli::test {
namespace {

std::vector<job::RunReport> read(const Json& json) { return job::read_runs(json.dump(), "run.json"); }

/// What reading `text` throws; empty when it does not.
std::string complaint(const std::string& text) {
  try {
    job::read_runs(text, "run.json");
    return "";
  } catch (const job::ReportError& error) {
    return error.what();
  }
}

TEST(ReportModel, reads_every_field_of_a_run) {
  Json json = sample_run("lambert", {"a", "b"}, 2.5);
  json["checksum"] = "abc";
  json["ranks"][1]["outputs"] = Json::array({{{"path", "d1/o"}, {"bytes", 7}}, {{"path", "d2/o"}, {"bytes", 6}}});
  const job::RunReport run = read(json).at(0);
  EXPECT_EQ(run.strategy, "lambert");
  EXPECT_EQ(run.exchange, "thread");
  EXPECT_EQ(run.checksum, "abc");
  EXPECT_EQ(run.records, 2000u);
  EXPECT_DOUBLE_EQ(run.predicted_seconds.value_or(0), 2.75);
  ASSERT_EQ(run.ranks.size(), 2u);
  EXPECT_EQ(run.ranks[1].host, "b");
  EXPECT_EQ(run.ranks[1].planned_output_records, 1001u);
  EXPECT_DOUBLE_EQ(run.ranks[1].finish(), 2.4);
  EXPECT_EQ(run.ranks[1].phases.size(), 3u);
  EXPECT_TRUE(run.ranks[0].outputs.empty());
  ASSERT_EQ(run.ranks[1].outputs.size(), 2u);
  EXPECT_EQ(run.ranks[1].outputs[1].path, "d2/o");
  EXPECT_EQ(run.ranks[1].outputs[1].bytes, 6u);
  EXPECT_EQ(run.context[1], std::make_pair(std::string("command"), std::string("hetsort sort in")));
}

TEST(ReportModel, a_rank_is_done_before_it_publishes) {
  Json json = sample_run("lambert", {"a", "b"}, 2);  // done at 2 and 1.9
  for (Json& rank : json["ranks"])
    rank["phases"].push_back({{"name", "publish"}, {"begin", rank["phases"].back()["end"]}, {"end", 2.5}});
  const std::vector<job::RunReport> runs = read(json);
  EXPECT_DOUBLE_EQ(runs[0].ranks[1].finish(), 2.5);
  EXPECT_DOUBLE_EQ(runs[0].ranks[1].work_end(), 1.9);
  const std::vector<RunGroup> groups = group_runs(runs);
  EXPECT_EQ(groups.at(0).finishes, (std::vector<double>{2, 1.9}));
  EXPECT_NEAR(groups[0].finish_spread(), 0.05, 1e-12);
  EXPECT_EQ(RunGroup{}.finish_spread(), 0);
}

TEST(ReportModel, takes_what_may_be_null_or_absent) {
  Json json = sample_run("equal", {"a"}, 1);
  json["exchange"] = nullptr;
  json["predicted_seconds"] = nullptr;
  json["a field of a later version"] = {1, 2, 3};
  const job::RunReport run = read(json).at(0);
  EXPECT_EQ(run.exchange, "");
  EXPECT_FALSE(run.predicted_seconds);
  json.erase("exchange");
  json.erase("predicted_seconds");
  EXPECT_EQ(complaint(json.dump()), "");
}

TEST(ReportModel, puts_ranks_in_order_of_their_numbers) {
  Json json = sample_run("equal", {"a", "b"}, 1);
  std::swap(json["ranks"][0], json["ranks"][1]);
  EXPECT_EQ(read(json).at(0).ranks[0].host, "a");
}

TEST(ReportModel, names_runs_of_a_comparison_by_its_strategies) {
  const Json round{{"lambert, tuned", sample_run("lambert", {"a"}, 1)}, {"equal", sample_run("equal", {"a"}, 2)}};
  const std::vector<job::RunReport> runs = read({{"schema", "hetsort.compare/1"}, {"rounds", {round, round}}});
  ASSERT_EQ(runs.size(), 4u);
  EXPECT_EQ(runs[0].strategy, "lambert, tuned");
  EXPECT_EQ(runs[3].strategy, "equal");
  EXPECT_EQ(runs[3].round, 2u);
}

TEST(ReportModel, complaints_name_the_line_or_the_pointer) {
  EXPECT_EQ(complaint("{\"schema\":\n 'x'}"), "report run.json: line 2, column 2: this is not JSON");
  EXPECT_EQ(complaint(""), "report run.json: line 1, column 1: this is not JSON");
  EXPECT_EQ(complaint("[1e999]"), "report run.json: line 1, column 6: a number too large for any use");
  EXPECT_EQ(complaint("[]"), "report run.json: /: not an object");
  const auto change = [](const char* pointer, const Json& value) {
    Json json = sample_run("equal", {"a", "b"}, 1);
    json[Json::json_pointer(pointer)] = value;
    return complaint(json.dump());
  };
  EXPECT_EQ(change("/ranks/1/phases/2/end", -1), "report run.json: /ranks/1/phases/2/end: a negative time");
  EXPECT_EQ(change("/ranks/1/phases/2/begin", 7),
            "report run.json: /ranks/1/phases/2/end: a phase that ends before it begins");
  EXPECT_EQ(change("/seconds", 1e10), "report run.json: /seconds: a time beyond 1e+09 seconds");
  EXPECT_EQ(change("/seconds", "1"), "report run.json: /seconds: not a number of seconds");
  EXPECT_EQ(change("/records", -1), "report run.json: /records: not a whole number from 0 to 2^64 - 1");
  EXPECT_EQ(change("/records", 1.5), "report run.json: /records: not a whole number from 0 to 2^64 - 1");
  EXPECT_EQ(change("/ranks", 3), "report run.json: /ranks: not an array");
  EXPECT_EQ(change("/ranks/1", 3), "report run.json: /ranks/1: not an object");
  EXPECT_EQ(change("/ranks/1/rank", 0), "report run.json: /ranks/1/rank: rank 0 stands twice");
  EXPECT_EQ(change("/context", {1}), "report run.json: /context: not an object");
  EXPECT_EQ(change("/schema", "hetsort.run/2"),
            "report run.json: /schema: 'hetsort.run/2' is not a report this "
            "version reads (hetsort.run/1, hetsort.compare/1)");
  Json json = sample_run("equal", {"a"}, 1);
  json["ranks"][0].erase("host");
  EXPECT_EQ(complaint(json.dump()), "report run.json: /ranks/0: 'host' is missing");
}

TEST(ReportModel, complaints_about_comparisons_name_the_round) {
  Json run = sample_run("equal", {"a"}, 1);
  run["schema"] = "hetsort.run/2";
  const Json comparison{{"schema", "hetsort.compare/1"}, {"rounds", {{{"a/b~c\nd", run}}}}};
  EXPECT_EQ(complaint(comparison.dump()),
            "report run.json: /rounds/0/a~1b~0c?d/schema: 'hetsort.run/2' where this "
            "version reads 'hetsort.run/1'");
  EXPECT_EQ(complaint(R"({"schema":"hetsort.compare/1","rounds":[]})"), "report run.json: /rounds: no run in it");
}

TEST(ReportModel, refuses_what_would_exhaust_memory) {
  EXPECT_EQ(complaint(std::string(1'000'000, '[')), "report run.json: line 1, column 33: nested deeper than 32 levels");
  std::string members = "{\"a\":{}";
  for (std::uint64_t i = 0; i < job::kMaxMembers; ++i) members += ",\n\"m\":[0,0]";
  EXPECT_EQ(complaint(members + "}"), "report run.json: line 257, column 3: an object of more than 256 members");
  std::string many = "[0";
  for (std::uint64_t i = 0; i < job::kMaxReportValues; ++i) many += ",0";
  EXPECT_NE(complaint(many + "]").find("more than 4000000 values"), std::string::npos);
  EXPECT_NE(complaint(std::string(job::kMaxReportBytes + 1, ' ')).find("larger than 64 MiB"), std::string::npos);
  EXPECT_EQ(complaint("\"[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[\\\"[\""), "report run.json: /: not an object");
}

TEST(ReportGroups, have_the_median_and_spread_of_runs_that_succeeded) {
  std::vector<job::RunReport> runs;
  for (const double seconds : {3.0, 1.0, 2.0, 9.0})
    runs.push_back(read(sample_run("equal", {"a", "b"}, seconds)).at(0));
  runs.back().error = "disk full";
  runs.back().records = 0;
  runs.back().ranks.clear();
  runs.push_back(read(sample_run("lambert", {"a", "b"}, 1)).at(0));
  const std::vector<RunGroup> groups = group_runs(runs);
  ASSERT_EQ(groups.size(), 2u);
  EXPECT_EQ(groups[0].label, "equal");
  EXPECT_EQ(groups[0].runs.size(), 3u);
  EXPECT_EQ(groups[0].failed, 1u);
  EXPECT_EQ(group_runs({runs[3]}).at(0).failed, 1u);
  EXPECT_EQ(group_runs({runs[3]}).at(0).runs.size(), 0u);
  EXPECT_DOUBLE_EQ(groups[0].median_seconds, 2);
  EXPECT_DOUBLE_EQ(groups[0].spread(), 1);
  EXPECT_DOUBLE_EQ(groups[0].finishes.at(1), 1.9);
  EXPECT_DOUBLE_EQ(groups[0].predicted_seconds.value_or(0), 2.2);
  EXPECT_EQ(median({1, 2, 3, 10}), 2.5);
}

TEST(ReportGroups, keep_other_exchanges_inputs_and_numbers_of_ranks_apart) {
  Json inline_exchange = sample_run("equal", {"a"}, 1);
  inline_exchange["exchange"] = "inline";
  std::vector<job::RunReport> runs{read(sample_run("equal", {"a"}, 1)).at(0), read(inline_exchange).at(0)};
  EXPECT_EQ(group_runs(runs).at(1).label, "equal, inline");
  runs.push_back(runs[0]);
  runs.back().records = 7;
  EXPECT_EQ(group_runs(runs).at(2).label, "equal, thread, 7 records, 100000 bytes");
  runs = {read(sample_run("equal", {"a"}, 1)).at(0), read(sample_run("equal", {"a"}, 1)).at(0)};
  runs[1].ranks.push_back(runs[1].ranks[0]);
  EXPECT_EQ(group_runs(runs).at(1).label, "equal, 2 ranks");
}

TEST(ReportGroups, name_a_rank_by_its_host_only_where_all_runs_had_it_there) {
  const job::RunReport one = read(sample_run("equal", {"a", "b", "c"}, 1)).at(0);
  const job::RunReport other = read(sample_run("equal", {"a", "c", "b"}, 2)).at(0);
  EXPECT_EQ(group_runs({one, one}).at(0).rank_names, (std::vector<std::string>{"0 a", "1 b", "2 c"}));
  EXPECT_EQ(group_runs({one, other, one}).at(0).rank_names, (std::vector<std::string>{"0 a", "1", "2"}));
}

TEST(ReportPage, names_a_rank_by_its_host_only_where_all_groups_had_it_there) {
  const auto rows = [](const std::vector<std::string>& hosts) {
    std::vector<job::RunReport> runs = read(sample_run("equal", {"a", "b"}, 1));
    runs.push_back(read(sample_run("lambert", hosts, 1)).at(0));
    const Report report(std::move(runs));
    const std::string page = report_page(report, no_pictures(report));
    const std::size_t begin = page.find("Finish of each rank");
    return page.substr(begin, page.find("</table>", begin) - begin);
  };
  EXPECT_NE(rows({"a", "b"}).find(">1 b</th>"), std::string::npos);
  const std::string moved = rows({"a", "x", "b"});
  EXPECT_NE(moved.find(">0 a</th>"), std::string::npos) << moved;
  EXPECT_NE(moved.find(">1</th>"), std::string::npos) << moved;
  EXPECT_NE(moved.find(">2 b</th>"), std::string::npos) << moved;
}

TEST(ReportHtml, escapes_all_that_means_something) {
  EXPECT_EQ(escaped("<a href=\"x\">&'</a>"), "&lt;a href=&quot;x&quot;&gt;&amp;&#39;&lt;/a&gt;");
  EXPECT_EQ(escaped(std::string("\0\x1b\x7f\t\n", 5)), "\uFFFD\uFFFD\uFFFD\t\n");
  EXPECT_EQ(escaped("gr\u00fcn"), "gr\u00fcn");
  EXPECT_EQ(escaped("a\u009b\u202e<\xff"), "a\uFFFD\uFFFD&lt;\uFFFD");
}

TEST(ReportHtml, shortens_between_characters) {
  EXPECT_EQ(shortened("abcdef", 6), "abcdef");
  EXPECT_EQ(shortened("abcdefg", 6, kEllipsis), "abcde\u2026");
  EXPECT_EQ(shortened("\u00e4\u00f6\u00fc\u00df", 3, kEllipsis), "\u00e4\u00f6\u2026");
}

TEST(ReportHtml, writes_figures_for_people) {
  EXPECT_EQ(count_text(0), "0");
  EXPECT_EQ(count_text(999), "999");
  EXPECT_EQ(count_text(18446744073709551615U), "18,446,744,073,709,551,615");
  EXPECT_EQ(bytes_text(999), "999 B");
  EXPECT_EQ(bytes_text(999'999), "1.00 MB");
  EXPECT_EQ(bytes_text(18446744073709551615U), "18.45 EB");
  EXPECT_EQ(rate_text(5'000'000, 0), kNothing);
  EXPECT_EQ(rate_text(5'000'000, 2), "2.5");
  EXPECT_EQ(seconds_text(12.345), "12.35");
}

TEST(ReportPage, has_every_rank_in_tables_when_there_are_no_pictures) {
  const Report report(read(sample_run("equal", {"left", "right"}, 1)));
  const std::string page = report_page(report, no_pictures(report));
  EXPECT_NE(page.find("tables only: --no-pictures"), std::string::npos);
  EXPECT_EQ(count_of(page, "<svg"), 0u);
  EXPECT_EQ(count_of(page, "<td>merge_runs</td>"), 2u);
  EXPECT_EQ(count_of(page, ">1 right</th>"), 6u);
}

TEST(ReportPage, shows_once_what_runs_have_in_common) {
  Json other = sample_run("lambert", {"a"}, 1);
  other["context"]["date"] = "2025-02-02";
  std::vector<job::RunReport> runs = read(sample_run("equal", {"a"}, 1));
  runs.push_back(read(other).at(0));
  const Report report(std::move(runs));
  const std::string page = report_page(report, no_pictures(report));
  EXPECT_EQ(count_of(page, "One &amp; Only &lt;4&gt;"), 1u);
  EXPECT_EQ(count_of(page, "<dt>date</dt><dd>2025-01-01T00:00:00Z</dd>"), 1u);
  EXPECT_EQ(count_of(page, "<dt>date</dt><dd>2025-02-02</dd>"), 1u);
}

TEST(ReportPage, shows_the_error_of_a_failed_run) {
  Json json = sample_run("equal", {"a"}, 1);
  json["error"] = "write <out>: No space left";
  json["ranks"] = Json::array();
  const Report report(read(json));
  const std::string page = report_page(report, no_pictures(report));
  EXPECT_NE(page.find("Failed: write &lt;out&gt;: No space left"), std::string::npos);
}

/// One random change of the kinds that break parsers and checks.
std::string mutated(std::string text, std::mt19937_64& random) {
  static const std::vector<std::string> tokens{
      "null", "-1", "1e999", "NaN", "\"\"", "[]", "{}", "1e308", "true", "\\u0000", "18446744073709551616",
      "\xff", "]",  "}",     "\"",  "0.1"};
  const std::size_t at = random() % text.size();
  const std::size_t length = std::min<std::size_t>(random() % 40, text.size() - at);
  switch (random() % 4) {
    case 0:
      text[at] = static_cast<char>(random());
      return text;
    case 1:
      return text.erase(at, length);
    case 2:
      return text.insert(at, text.substr(at, length));
    default: {
      const std::size_t value = text.find_first_of(":,[", at);
      if (value == std::string::npos) return text.substr(0, at);
      const std::size_t end = std::min(text.find_first_of(",]}", value + 1), text.size());
      return text.replace(value + 1, end - value - 1, tokens[random() % tokens.size()]);
    }
  }
}

TEST(ReportPage, any_mutation_of_a_report_is_shown_or_refused) {
  const char* given = std::getenv("HETSORT_TEST_SEED");
  const std::uint64_t seed = given != nullptr ? std::strtoull(given, nullptr, 10) : 20250117;
  SCOPED_TRACE("HETSORT_TEST_SEED=" + std::to_string(seed));
  std::mt19937_64 random(seed);
  const Json round{{"lambert", sample_run("lambert", {"a", "b"}, 1)}};
  const std::vector<std::string> originals{sample_run("equal", {"a", "b"}, 1).dump(),
                                           Json{{"schema", "hetsort.compare/1"}, {"rounds", {round}}}.dump()};
  std::size_t shown = 0;
  constexpr std::size_t kTries = 4000;
  for (std::size_t i = 0; i < kTries; ++i) {
    const std::string text = mutated(originals[i % 2], random);
    try {
      const Report report(job::read_runs(text, "run.json"));
      EXPECT_NE(report_page(report, no_pictures(report)).find("</html>"), std::string::npos);
      ++shown;
    } catch (const job::ReportError& error) {
      EXPECT_EQ(std::string(error.what()).find('\n'), std::string::npos);
    }
  }
  EXPECT_GT(shown, kTries / 100);
  EXPECT_LT(shown, kTries);
}

}  // namespace
}  // namespace hetsort::cli::test
