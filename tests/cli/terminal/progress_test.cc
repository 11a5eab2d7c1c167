// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
#include "cli/terminal/progress.h"

#include <sstream>

#include "tests/cli/program.h"

namespace hetsort::cli::test {
namespace {

TEST(Progress, shows_that_a_job_takes_longer_than_ten_minutes) {
  EXPECT_TRUE(is_long(7, 0.01));
  EXPECT_FALSE(is_long(7, 0.02));
  EXPECT_FALSE(is_long(7, 0.005)) << "too early to know";
  EXPECT_FALSE(is_long(700, 0));
}

TEST(Progress, a_line_leaves_out_what_is_least_needed_until_it_fits) {
  const sort::Monitor::Progress progress{"form_runs", 3'360'000'000, 8'000'000'000, 4.72};
  const auto line = [&](std::size_t columns) { return progress_text(progress, 0.42, columns); };
  EXPECT_EQ(line(80), "form_runs  42 %  3.4 of 8.0 GB  712 MB/s  ETA 0:07");
  EXPECT_EQ(line(45), "form_runs  42 %  3.4 of 8.0 GB  ETA 0:07");
  EXPECT_EQ(line(30), "form_runs  42 %  ETA 0:07");
  EXPECT_EQ(line(20), "42 %  ETA 0:07");
  EXPECT_EQ(line(8), "42 %");
  EXPECT_EQ(progress_text({"form_runs", 3'360'000'000, 0, 4.72}, 0, 80), "form_runs  3.4 GB  712 MB/s");
}

TEST(Progress, counts_data_once) {
  EXPECT_EQ(progress_text({"form_runs", 3'000'000'000, 8'000'000'000, 3, 4'000'000'000}, 0.375, 80),
            "form_runs  38 %  1.5 of 4.0 GB  500 MB/s  ETA 0:05");
}

TEST(Progress, shows_what_was_read_while_the_amount_of_work_is_unknown) {
  sort::Monitor monitor;
  monitor.begin_phase("form_runs", 1);
  monitor.plan_work(0);
  monitor.read(3000);
  EXPECT_EQ(monitor.progress().done_bytes, 3000U);
  monitor.advance(1000);
  EXPECT_EQ(monitor.progress().done_bytes, 3000U);
  monitor.know_total(6000, 3000);
  EXPECT_EQ(monitor.progress().done_bytes, 1000U);
  EXPECT_EQ(monitor.progress().data_bytes, 3000U);
}

TEST(Progress, a_bar_keeps_its_place) {
  const auto bar = [](const char* phase, double part, std::uint64_t rate) {
    const auto done = static_cast<std::uint64_t>(20e9 * part);
    return bar_text({phase, done, 20'000'000'000, static_cast<double>(done / rate / 1'000'000)}, part, 59);
  };
  EXPECT_EQ(bar("form_runs", 0.01, 50), "[                      ] form_runs         1 %    ETA 6:36 ");
  EXPECT_EQ(bar("select_splitters", 0.5, 1000), "[===========           ] select_splitters  50 %   ETA 0:10 ");
  EXPECT_EQ(bar("publish", 1, 999), "[======================] publish           100 %  ETA 0:00 ");
}

TEST(Progress, work_of_all_ranks_and_phases_counts_by_its_weight) {
  sort::Monitor monitor;
  monitor.add_others([] { return 100U; });
  monitor.begin_phase("form_runs", 1.5);
  monitor.plan_work(600);
  monitor.advance(100);
  monitor.advance(10, 2);
  monitor.begin_phase("merge_runs", 0.5);
  monitor.advance(100);
  EXPECT_EQ(monitor.progress().done_bytes, 100U + 150 + 20 + 50);
  EXPECT_DOUBLE_EQ(done_part(monitor.progress(), 0), 320.0 / 600);
}

/// What a terminal of 60 columns shows, one line for each return of its cursor.
std::vector<std::string> lines_on_terminal(const Shell& shell, const std::string& words) {
  const Outcome outcome = shell.run("script -qec \"stty cols 60; " + words + "\" /dev/null </dev/null");
  EXPECT_EQ(outcome.exit_code, 0) << words << outcome;
  std::vector<std::string> lines;
  std::istringstream text(outcome.out);
  for (std::string line; std::getline(text, line, '\r');) lines.push_back(line.substr(0, line.find('\x1b')));
  return lines;
}

TEST(Progress, fits_the_terminal_in_all_commands_that_take_long) {
  const Shell shell;
  shell.run("$H gen 100000 in && $H sort in -o sorted");
  const std::string slow = "HETSORT_FAULTS=read:3:delay900,write:2:delay900 ";
  for (const std::string words : {"$H sort -S 4M in -o out", "$H gen 100000 made", "$H validate sorted",
                                  "$H calibrate -T . --max-seconds 1 -o c"}) {
    const std::vector<std::string> lines = lines_on_terminal(shell, slow + words);
    std::size_t with_part = 0;
    for (const std::string& line : lines) {
      const bool is_progress = line.find('\n') == line.npos;
      EXPECT_LT(is_progress ? line.size() : 0, 60U) << words << line;
      with_part += line.find(" %  ") != line.npos && line.find("ETA ") != line.npos ? 1U : 0U;
    }
    EXPECT_GT(with_part, 0U) << words << ' ' << lines.size();
  }
}

/// The lines that a terminal shows after `text`.
std::vector<std::string> shown_by(const std::string& text) {
  std::vector<std::string> lines(1);
  std::size_t column = 0;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text.compare(i, 3, "\x1b[K") == 0) {
      lines.back().resize(std::min(lines.back().size(), column));
      i += 2;
    } else if (text[i] == '\n') {
      lines.emplace_back();
    } else if (text[i] == '\r') {
      column = 0;
    } else {
      lines.back().resize(std::max(lines.back().size(), column + 1), ' ');
      lines.back()[column++] = text[i];
    }
  }
  return lines;
}

TEST(Progress, leaves_nothing_on_the_line_of_a_message_after_an_interrupt) {
  const Shell shell;
  shell.run("$H gen 100000 in");
  // The terminal shows ^C where its cursor stands, and sends SIGINT.
  const Outcome outcome = shell.run(
      "touch log; E=$(printf '\\033'); "
      "{ for i in $(seq 150); do grep -aq $E log && break; sleep 0.1; done; printf '\\003'; sleep 1; } | "
      "HETSORT_FAULTS=read:2:delay20000 timeout 60 script -qfec \"stty cols 60; $H sort -S 4M in -o out\" log");
  EXPECT_EQ(outcome.exit_code, 130) << outcome;
  EXPECT_NE(outcome.out.find("\x1b[K\r^C"), std::string::npos) << outcome.out;
  EXPECT_EQ(shown_by(outcome.out), (std::vector<std::string>{"hetsort: interrupted (SIGINT); output untouched", ""}))
      << outcome.out;
}

TEST(Progress, message_after_an_interrupt_has_a_line_of_its_own) {
  const Shell shell;
  shell.run("$H gen 100000 in");
  // Without a bar the terminal shows ^C in front of the message.
  const Outcome outcome = shell.run(
      "touch log; { for i in $(seq 150); do grep -aq hetsort: log && break; sleep 0.1; done; printf '\\003'; sleep 1; "
      "} "
      "| HETSORT_FAULTS=read:2:delay20000 timeout 60 "
      "script -qfec \"$H sort --progress lines -S 4M in -o out\" log");
  EXPECT_EQ(outcome.exit_code, 130) << outcome;
  EXPECT_NE(outcome.out.find("^C\r\nhetsort: interrupted (SIGINT); output untouched\r\n"), std::string::npos)
      << outcome.out;
}

TEST(Progress, gives_its_line_to_an_error) {
  const Shell shell;
  shell.run("$H gen 100000 in");
  const Outcome outcome = shell.run(
      "HETSORT_FAULTS=read:2:delay900,read:4:EIO script -qec \"stty cols 60; $H sort -S 4M in -o out\" /dev/null "
      "</dev/null");
  EXPECT_EQ(outcome.exit_code, 2) << outcome;
  EXPECT_NE(outcome.out.find("\x1b[K"), std::string::npos) << outcome.out;
  const std::vector<std::string> lines = shown_by(outcome.out);
  ASSERT_EQ(lines.size(), 2U) << outcome.out;
  EXPECT_EQ(lines.front().find("hetsort: "), 0U) << outcome.out;
  EXPECT_TRUE(lines.front().ends_with("; output untouched")) << outcome.out;
}

}  // namespace
}  // namespace hetsort::cli::test
