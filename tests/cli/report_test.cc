// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <random>
#include <sstream>

#include "tests/cli/program.h"
#include "tests/cli/report/sample.h"

namespace hetsort::cli::test {
namespace {

/// Tries to break out of HTML, of attributes and of quotes.
const std::string kHostile =
    "<script>alert(1)</script>\"'&`touch pwned`@x~0~~1~\\\n'; system('touch pwned'); set output 'pwned'\ne\nEOD\n";

class ReportCommand : public ::testing::Test {
 protected:
  void write(const std::string& name, const Json& json) const { shell_.write(name, json.dump()); }
  /// The page that `arguments` make.
  std::string page(const std::string& arguments) const {
    const Outcome outcome = shell_.run("$H report " + arguments + " -o page.html");
    EXPECT_EQ(outcome.exit_code, 0) << outcome;
    EXPECT_EQ(outcome.out, "");
    return shell_.file("page.html");
  }
  void expect_error(const std::string& arguments, const std::string& text) const {
    const Outcome outcome = shell_.run("$H report " + arguments + " -o none.html");
    EXPECT_TRUE(failed_with(outcome, text)) << arguments;
    EXPECT_FALSE(shell_.names().contains("none.html")) << arguments;
  }
  Shell shell_;
};

TEST_F(ReportCommand, begins_with_the_sentence_that_explains_the_plan) {
  Json run = sample_run("auto", {"fast", "slow"}, 2);
  run["explanation"] = "fast alone takes 1 s; both ranks take 2 s, because links <bound> the exchange";
  run["ranks"][0]["measured"] = {{"processors", 2},
                                 {"form_seconds_per_record", 1e-7},
                                 {"merge_seconds_per_record", 2e-7},
                                 {"link_in_bytes_per_second", 123.4e6}};
  write("run.json", run);
  const std::string html = page("run.json");
  const std::size_t sentence =
      html.find("The plan: fast alone takes 1 s; both ranks take 2 s, because links &lt;bound&gt;");
  EXPECT_LT(sentence, html.find("</header>")) << html;
  EXPECT_NE(html.find("123.4"), std::string::npos);
  const Outcome text = shell_.run("$H report run.json --format text");
  EXPECT_NE(text.out.find("plan: fast alone takes 1 s; both"), std::string::npos) << text;
  write("two.json", sample_run("equal", {"fast", "slow"}, 3));
  EXPECT_EQ(count_of(page("run.json two.json"), "The plan: fast alone"), 1U);
}

TEST_F(ReportCommand, shows_a_run_that_sort_reported) {
  ASSERT_EQ(shell_.run("$H gen 1000 in && $H sort in -o out --report run.json").exit_code, 0);
  const std::string html = page("run.json");
  EXPECT_TRUE(html.starts_with("<!DOCTYPE html>"));
  EXPECT_TRUE(html.ends_with("</html>\n"));
  const Json run = Json::parse(shell_.file("run.json"));
  for (const Json& phase : run["ranks"][0]["phases"])
    EXPECT_NE(html.find("<td>" + phase["name"].get<std::string>() + "</td>"), std::string::npos) << phase;
}

TEST_F(ReportCommand, prints_timelines_of_80_columns) {
  write("a.json", sample_run("equal", {"fast", "slow"}, 10));
  write("b.json", sample_run("planned", {"fast", "slow"}, 5));
  const Outcome outcome = shell_.run("$H report a.json b.json --format text");
  EXPECT_EQ(outcome.exit_code, 0) << outcome;
  // Half of its time rank 0 forms runs, half of it it merges; its exchange takes no time. 63 columns are left for it.
  EXPECT_NE(outcome.out.find("0 fast |" + std::string(31, 'f')), std::string::npos) << outcome.out;
  EXPECT_NE(outcome.out.find(std::string(31, 'm') + "| 10.00 s\n"), std::string::npos) << outcome.out;
  EXPECT_NE(outcome.out.find("Run 2: planned, thread, 2,000 records, 5.00 s, 0.50 of run 1\n"), std::string::npos);
  EXPECT_NE(outcome.out.find("Phases: f form_runs, e exchange, m merge_runs\n"), std::string::npos) << outcome.out;
  std::istringstream lines(outcome.out);
  for (std::string line; std::getline(lines, line);) EXPECT_LE(line.size(), 80u) << line;
  EXPECT_EQ(shell_.run("$H report a.json b.json --format text -o text").exit_code, 0);
  EXPECT_EQ(shell_.file("text"), outcome.out);
}

TEST_F(ReportCommand, shows_predicted_beside_measured_seconds_and_what_bounds_each_rank) {
  Json run = sample_run("phases", {"fast", "a-host-with-a-long-name"}, 10);
  for (Json& rank : run["ranks"]) {
    rank["predicted_form_runs_seconds"] = 4.25;
    rank["form_runs_bound"] = "processor";
    rank["predicted_exchange_seconds"] = 5.75;
    rank["exchange_bound"] = "shared link";
  }
  write("run.json", run);
  const Outcome outcome = shell_.run("$H report run.json --format text");
  EXPECT_EQ(outcome.exit_code, 0) << outcome;
  const std::string row = "0 fast           5.00   4.25  1.18 processor       5.00   5.75  0.87 shared link\n";
  EXPECT_NE(outcome.out.find(row), std::string::npos) << outcome.out;
  EXPECT_NE(outcome.out.find("whole run 10.00 s, predicted 11.00 s, ratio 0.91\n"), std::string::npos) << outcome.out;
  std::istringstream lines(outcome.out);
  for (std::string line; std::getline(lines, line);) EXPECT_LE(line.size(), 80u) << line;
  const std::string html = page("run.json");
  EXPECT_NE(html.find("Measured and predicted seconds"), std::string::npos);
  EXPECT_EQ(count_of(html, "<td>shared link</td>"), 2u);
  write("without.json", sample_run("equal", {"fast"}, 10));
  EXPECT_EQ(page("without.json").find("Measured and predicted seconds"), std::string::npos);
}

TEST_F(ReportCommand, shows_what_bounds_the_exchange_where_only_that_was_predicted) {
  Json run = sample_run("auto", {"fast", "slow"}, 10);
  run["ranks"][0]["predicted_exchange_seconds"] = 5.75;
  run["ranks"][0]["exchange_bound"] = "link out";
  write("run.json", run);
  const Outcome text = shell_.run("$H report run.json --format text");
  EXPECT_NE(text.out.find("5.00   5.75  0.87 link out\n"), std::string::npos) << text;
  EXPECT_EQ(count_of(page("run.json"), "<td>link out</td>"), 1u);
}

TEST_F(ReportCommand, shows_work_in_place_of_ranks_that_fell_behind) {
  Json run = sample_run("auto", {"fast", "a-host-with-a-long-name"}, 10);
  write("run.json", run);
  constexpr std::string_view kCaption = "Work in place of ranks that fell behind";
  EXPECT_EQ(page("run.json").find(kCaption), std::string::npos);
  run["ranks"][0]["taken_ranges"] = {{{"from", 1}, {"ranges", 3}, {"bytes", 12'340'000}}};
  run["ranks"][0]["copied_runs"] = {{{"from", 1}, {"records", 5000}}};
  write("run.json", run);
  const Outcome text = shell_.run("$H report run.json --format text");
  EXPECT_NE(text.out.find("\n0 fast merged 3 ranges (12.3 MB) in place of 1 a-host-wit\n"), std::string::npos) << text;
  EXPECT_NE(text.out.find("\n0 fast formed 5,000 records again in place of 1 a-host-wit\n"), std::string::npos) << text;
  const std::string html = page("run.json");
  EXPECT_NE(html.find(kCaption), std::string::npos);
  EXPECT_NE(html.find("<td class=\"n\">5,000</td>"), std::string::npos);
}

TEST_F(ReportCommand, shows_waiting_as_waiting) {
  Json run = sample_run("phases", {"fast", "slow"}, 10);
  Json& form = run["ranks"][0]["phases"][0];  // from 0 to 5
  form["worked_seconds"] = 2;
  form["waits"] = {{{"begin", 2}, {"end", 3}, {"part", 0.25}}, {{"begin", 3}, {"end", 5}, {"part", 1}}};
  form["waited_for"] = {{{"rank", 1}, {"seconds", 1.25}}};
  write("run.json", run);
  const Outcome text = shell_.run("$H report run.json --format text");
  const std::string rank = "0 fast |" + std::string(19, 'f') + std::string(12, '.');
  EXPECT_NE(text.out.find(rank), std::string::npos) << text;
  EXPECT_NE(text.out.find(", m merge_runs, . waiting\n"), std::string::npos) << text;
  const std::string html = page("run.json");
  EXPECT_EQ(count_of(html, "<g class=\"waits\">"), 2U);
  EXPECT_NE(
      html.find("form_runs, 5.000 s (0 to 5.000); worked 2.000 s, waited 3.000 s, for blocks: 1.250 s rank 1 slow"),
      std::string::npos);
  EXPECT_NE(html.find("<td class=\"n\">7.000</td><td class=\"n\">3.000</td>"), std::string::npos);
}

TEST_F(ReportCommand, compares_the_time_that_a_rank_worked_with_its_prediction) {
  Json run = sample_run("phases", {"a", "b", "c"}, 10);
  const std::vector<std::string> bounds{"processor", "link in", "link out"};
  const std::vector<double> predicted{2, 4, 1};
  for (std::size_t i = 0; i < 3; ++i) {
    Json& rank = run["ranks"][i];
    rank["predicted_form_runs_seconds"] = 5;
    rank["form_runs_bound"] = "disk";
    rank["predicted_exchange_seconds"] = predicted[i];
    rank["exchange_bound"] = bounds[i];
    rank["phases"][2]["worked_seconds"] = 2.5;
  }
  write("run.json", run);
  const Outcome text = shell_.run("$H report run.json --format text");
  // The links of the last rank end long before those of the second: their time cannot be seen.
  for (const char* const row :
       {"    2.50   2.00  1.25 processor\n", "    4.95   4.00  1.24 link in\n", "       -   1.00     - link out\n"})
    EXPECT_NE(text.out.find(row), std::string::npos) << row << text;
}

TEST_F(ReportCommand, timelines_have_80_columns_however_long_a_run_took_and_however_many_phases_it_had) {
  for (const double seconds : {999.0, 1000.0, 123456.7, 9e8}) {
    Json run = sample_run("equal", {"fast", "slow"}, seconds);
    for (int i = 0; i < 12; ++i)
      run["ranks"][0]["phases"].push_back({{"name", "phase_" + std::to_string(i)}, {"begin", 0.0}, {"end", 0.1}});
    write("a.json", run);
    const Outcome outcome = shell_.run("$H report a.json --format text");
    EXPECT_EQ(outcome.exit_code, 0) << outcome;
    EXPECT_NE(outcome.out.find(fmt::format("{:.2f} s\n", seconds)), std::string::npos) << outcome.out;
    EXPECT_NE(outcome.out.find("phase_11\n"), std::string::npos) << outcome.out;
    std::istringstream lines(outcome.out);
    for (std::string line; std::getline(lines, line);) EXPECT_LE(line.size(), 80u) << line;
  }
}

TEST_F(ReportCommand, text_has_nothing_that_a_terminal_obeys) {
  Json run = sample_run("\x1b[2J", {"\x1b]0;x\x07", "b"}, 1);
  for (Json& rank : run["ranks"])
    for (Json& phase : rank["phases"]) phase["name"] = "\x1b\n\r";
  write("run.json", run);
  const Outcome outcome = shell_.run("$H report run.json --format text");
  EXPECT_EQ(outcome.exit_code, 0) << outcome;
  for (const char c : outcome.out) EXPECT_TRUE(c == '\n' || static_cast<unsigned char>(c) >= ' ') << int{c};
  EXPECT_NE(outcome.out.find("# ???"), std::string::npos) << outcome.out;
  expect_error("run.json --format pdf", "--format 'pdf' is none of html, text");
}

TEST_F(ReportCommand, draws_one_bar_for_each_rank_and_phase) {
  const std::vector<std::string> hosts{"a", "b", "c", "d"};
  write("1.json", sample_run("equal", hosts, 5));
  write("2.json", {{"schema", "hetsort.compare/1"},
                   {"rounds", {{{"lambert", sample_run("lambert", hosts, 2)}, {"x", sample_run("x", hosts, 3)}}}}});
  const std::string html = page("1.json 2.json");
  EXPECT_EQ(count_of(html, "<g class=\"bar phase"), 3 * hosts.size() * kSamplePhases);
  for (int run = 1; run <= 3; ++run)
    for (std::size_t rank = 0; rank < hosts.size(); ++rank)
      for (int phase = 0; phase < kSamplePhases; ++phase) {
        const std::string id =
            "\"run" + std::to_string(run) + "-rank" + std::to_string(rank) + "-phase" + std::to_string(phase) + "\"";
        EXPECT_EQ(count_of(html, "id=" + id), 1u) << id;
      }
  EXPECT_NE(html.find("<title>rank 3 d: merge_runs, "), std::string::npos);
}

TEST_F(ReportCommand, the_page_refers_to_nothing_outside_and_runs_nothing) {
  write("run.json", sample_run("equal", {"a", "b"}, 1));
  const std::string html = page("run.json");
  for (const char* forbidden : {"//", "<script", "<link", "<img", "@import", "url(", "src=", "xlink", "javascript",
                                "onerror=", "onload=", "onclick=", "onmouse"})
    EXPECT_EQ(count_of(html, forbidden), 0u) << forbidden;
  const std::string id = " id=\"";
  std::set<std::string> ids;
  for (std::size_t at = html.find(id); at != std::string::npos; at = html.find(id, at + 1)) {
    const std::string value = html.substr(at + id.size(), html.find('"', at + id.size()) - at - id.size());
    EXPECT_TRUE(ids.insert(value).second) << "twice: " << value;
  }
  EXPECT_NE(html.find("default-src 'none'"), std::string::npos);
}

TEST_F(ReportCommand, texts_of_files_stay_texts) {
  Json run = sample_run(kHostile, {kHostile, "b"}, 1);
  run["ranks"][0]["phases"][0]["name"] = kHostile;
  run["exchange"] = kHostile;
  run["error"] = kHostile;
  run["checksum"] = kHostile;
  run["context"][kHostile] = {kHostile, {{kHostile, kHostile}}};
  write("<b>'`x`.json", run);
  write("2.json", {{"schema", "hetsort.compare/1"}, {"rounds", {{{kHostile, sample_run("x", {kHostile}, 1)}}}}});
  const std::string html = page("\"<b>'\\`x\\`.json\" 2.json");
  EXPECT_EQ(count_of(html, "<script"), 0u);
  EXPECT_EQ(count_of(html, "<b>"), 0u);
  EXPECT_NE(html.find("&lt;script&gt;alert(1)"), std::string::npos);
  EXPECT_EQ(shell_.names(), (Names{"2.json", "<b>'`x`.json", "page.html"}));
}

TEST_F(ReportCommand, reads_standard_input_and_writes_standard_output) {
  write("run.json", sample_run("equal", {"a"}, 1));
  const Outcome outcome = shell_.run("$H report --no-pictures - -o - < run.json");
  EXPECT_EQ(outcome.exit_code, 0) << outcome;
  EXPECT_NE(outcome.out.find("standard input"), std::string::npos);
}

TEST_F(ReportCommand, leaves_an_existing_page_as_it_was_on_any_error) {
  shell_.write("page.html", "old");
  shell_.write("bad.json", "{");
  EXPECT_TRUE(failed_with(shell_.run("$H report bad.json -o page.html"), "report bad.json: line 1, column 2"));
  EXPECT_EQ(shell_.file("page.html"), "old");
  write("run.json", sample_run("equal", {"a"}, 1));
  const std::string before = shell_.file("run.json");
  EXPECT_TRUE(
      failed_with(shell_.run("ln run.json same; $H report run.json -o same"), "-o names same, which is also RUN.json"));
  EXPECT_EQ(shell_.file("run.json"), before);
}

TEST_F(ReportCommand, answers_nonsense_with_one_clear_error) {
  shell_.write("nan.json", R"({"schema":"hetsort.run/1","seconds":NaN})");
  shell_.write("binary.json", std::string("\x7f"
                                          "ELF\0\0",
                                          6));
  shell_.write("new\nline.json", "x");
  write("plan.json", {{"schema", "hetsort.plan/1"}});
  write("next.json", {{"schema", "hetsort.run/2"}});
  write("run.json", sample_run("equal", {"a"}, 1));
  expect_error("nan.json", "report nan.json: line 1, column 37: this is not JSON");
  expect_error("binary.json", "report binary.json: line 1, column 1: this is not JSON");
  expect_error("'new\nline.json'", "report new?line.json: line 1, column 1");
  expect_error("plan.json", "/schema: 'hetsort.plan/1' is not a report");
  expect_error("run.json next.json", "report next.json: /schema: 'hetsort.run/2'");
  expect_error("/dev/zero", "report /dev/zero: line 1, column 67108865: larger than 64 MiB");
  expect_error("missing.json", "missing.json: No such file");
  expect_error(".", "directory");
  expect_error("", "wants a RUN.json");
  expect_error("run.json --no-pictrues", "unknown option '--no-pictrues'; did you mean '--no-pictures'?");
  EXPECT_TRUE(failed_with(shell_.run("$H report run.json"), "-o FILE"));
  EXPECT_TRUE(failed_with(shell_.run("$H report run.json -o no/page.html"), "no/page.html"));
  EXPECT_TRUE(failed_with(shell_.run("$H report run.json -o - >/dev/full"), "No space left"));
}

TEST_F(ReportCommand, extreme_but_valid_figures_are_drawn) {
  constexpr std::uint64_t kMaxCount = ~std::uint64_t{0};
  Json run = sample_run("equal", {"", std::string(5000, 'x'), "\u00e4\u202e"}, 1);
  for (Json& rank : run["ranks"]) {
    for (const char* key : {"planned_output_records", "output_records", "bytes_read", "bytes_sent"})
      rank[key] = kMaxCount;
    rank["phases"][0]["end"] = 1e-300;
    rank["phases"][1] = {{"name", ""}, {"begin", 0}, {"end", 1e9}};
  }
  Json nothing = sample_run("none", {"a", "b"}, 1);
  nothing["seconds"] = 0;
  nothing["predicted_seconds"] = 0;
  nothing["records"] = 0;
  for (Json& rank : nothing["ranks"])
    for (Json& phase : rank["phases"]) phase["begin"] = phase["end"] = 0;
  write("1.json", run);
  write("2.json", nothing);
  EXPECT_EQ(page("1.json 2.json").find("nan"), std::string::npos);
}

TEST_F(ReportCommand, a_single_run_is_compared_with_nothing_and_charts_have_no_fixed_width) {
  Json run = sample_run("equal", {"a", "b"}, 1);
  run["joules"] = 1234.4;
  write("run.json", run);
  const std::string one = page("run.json");
  EXPECT_EQ(one.find("omparison<"), std::string::npos);
  EXPECT_NE(one.find("<dt>joules</dt><dd>1234</dd>"), std::string::npos);
  EXPECT_EQ(one.find("viewBox"), std::string::npos);
  EXPECT_NE(page("run.json run.json").find("<h2>Comparison</h2>"), std::string::npos);
}

TEST_F(ReportCommand, what_a_page_cannot_show_is_reported) {
  Json run = sample_run("equal", {"a"}, 1);
  run["ranks"][0]["phases"] = std::vector<Json>(10'001, run["ranks"][0]["phases"][0]);
  write("run.json", run);
  const std::string html = page("run.json");
  EXPECT_EQ(count_of(html, "class=\"bar "), 0u);
  EXPECT_EQ(count_of(html, "No timeline: too many bars."), 1u);
  EXPECT_EQ(count_of(html, "<td>form_runs</td>"), 10'001u);
  std::string files;
  for (int i = 0; i < 20; ++i) files += "run.json ";
  expect_error(files, "report run.json: /: more than 200000 phases in all files");
}

TEST_F(ReportCommand, help_lists_the_options) {
  const Outcome outcome = shell_.run("$H report --help");
  EXPECT_EQ(outcome.exit_code, 0);
  for (const char* text : {"-o", "--no-pictures", "hetsort.compare/1"})
    EXPECT_NE(outcome.out.find(text), std::string::npos) << text;
}

TEST_F(ReportCommand, any_number_in_a_report_is_drawn_or_refused) {
  constexpr unsigned kSeed = 20250117;
  SCOPED_TRACE(kSeed);
  std::mt19937_64 random(kSeed);
  const std::vector<Json> values{0, 1e-300, 1e-9, 0.1, 1e9, 1e308, -0.0, -1, ~std::uint64_t{0}, nullptr, "1"};
  for (int i = 0; i < 40; ++i) {
    Json flat = sample_run("equal", {"a", "b"}, 1).flatten();
    for (int change = 0; change < 3; ++change) {
      auto member = flat.begin();
      std::advance(member, random() % flat.size());
      *member = values[random() % values.size()];
    }
    write("run.json", flat.unflatten());
    const Outcome outcome = shell_.run("rm -f page.html; $H report run.json -o page.html");
    EXPECT_TRUE(outcome.exit_code == 0 || failed_with(outcome, "report run.json: /")) << outcome << flat;
    EXPECT_EQ(shell_.names().contains("page.html"), outcome.exit_code == 0) << flat;
  }
}

}  // namespace
}  // namespace hetsort::cli::test
