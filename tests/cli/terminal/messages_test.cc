// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
//
// Messages that cannot be written change nothing; results that cannot be written are failures.
#include "cli/terminal/messages.h"

#include <algorithm>
#include <cstdlib>
#include <optional>
#include <string>

#include "job/report/printable.h"
#include "tests/cli/program.h"

namespace hetsort::cli::test {
namespace {

/// The locale of the environment while this object lives.
class Locale {
 public:
  explicit Locale(const char* name) {
    if (const char* const before = std::getenv("LC_ALL")) before_ = before;
    ::setenv("LC_ALL", name, 1);
  }
  Locale(const Locale&) = delete;
  Locale& operator=(const Locale&) = delete;
  ~Locale() {
    if (before_)
      ::setenv("LC_ALL", before_->c_str(), 1);
    else
      ::unsetenv("LC_ALL");
  }

 private:
  std::optional<std::string> before_;
};

TEST(Messages, show_control_characters_and_broken_utf_8_as_escapes) {
  const Locale utf8("C.UTF-8");
  EXPECT_EQ(terminal_safe("plain caf\u00e9 \u20ac \U0001f600"), "plain caf\u00e9 \u20ac \U0001f600");
  EXPECT_EQ(terminal_safe("a\nb\tc\rd"), "a\\nb\\tc\\rd");
  EXPECT_EQ(terminal_safe("\x1b[2J\x7f"), "\\x1b[2J\\x7f");
  EXPECT_EQ(terminal_safe("\xc2\x9b!"), "\\xc2\\x9b!");
  EXPECT_EQ(terminal_safe("caf\xe9"), "caf\\xe9");
  EXPECT_EQ(terminal_safe("\xe2\x82"), "\\xe2\\x82");
  EXPECT_EQ(terminal_safe(std::string_view("\0", 1)), "\\x00");
  // Longer forms than needed, a half of a pair of UTF-16, beyond the last character.
  EXPECT_EQ(terminal_safe("\xc0\x9b\xe0\x82\x9b"), "\\xc0\\x9b\\xe0\\x82\\x9b");
  EXPECT_EQ(terminal_safe("\xed\xa0\x80"), "\\xed\\xa0\\x80");
  EXPECT_EQ(terminal_safe("\xf4\x90\x80\x80"), "\\xf4\\x90\\x80\\x80");
}

TEST(Messages, show_what_changes_the_direction_or_line_of_text_as_escapes) {
  const Locale utf8("de_DE.utf8");
  for (const std::string hidden : {"\u061c", "\u200e", "\u200f", "\u2028", "\u2029", "\u202a", "\u202b", "\u202c",
                                   "\u202d", "\u202e", "\u2066", "\u2067", "\u2068", "\u2069", "\u0080", "\u009f"}) {
    const std::string shown = terminal_safe("a" + hidden + "b");
    EXPECT_EQ(shown.size(), 2 + 4 * hidden.size()) << shown;
    EXPECT_TRUE(std::ranges::all_of(shown, [](char c) { return c >= ' ' && c <= '~'; })) << shown;
    EXPECT_EQ(job::with_replacements("a" + hidden + "b", "?"), "a?b");
    EXPECT_FALSE(job::is_printable(hidden + "b"));
  }
  EXPECT_TRUE(job::is_printable("\u00a0\u05d0\u0627\u202f\u2065"));
}

TEST(Messages, show_no_byte_that_an_8_bit_terminal_obeys) {
  for (const char* const name : {"C", "de_DE.ISO-8859-1"}) {
    const Locale locale(name);
    EXPECT_EQ(terminal_safe("\u00db\u00fc \u20ac"), "\\xc3\\x9b\u00fc \\xe2\\x82\\xac") << name;
  }
}

TEST(Messages, standard_error_that_cannot_be_written_changes_no_outcome) {
  const Shell shell;
  shell.run("$H gen 100 in && $H sort in -o sorted && $H sort in -o x --report run.json");
  shell.run("printf '[[node]]\\nspeed = 1\\n' >c.toml");
  using Case = std::pair<std::string, int>;
  for (const auto& [line, code] :
       {Case{"$H sort -v --explain in -o out", 0}, Case{"$H sort missing -o out", 2}, Case{"$H sort --bogus", 2},
        Case{"HETSORT_FAULTS=read:1:delay6000 $H sort --progress lines in -o out", 0},
        Case{"HETSORT_FAULTS=read:1:delay1000 $H sort --progress bar in -o out", 0}, Case{"$H validate sorted", 0},
        Case{"$H validate in", 1}, Case{"$H validate missing", 2}, Case{"$H gen -c 10 x", 0}, Case{"$H gen 10", 2},
        Case{"$H plan -n 1 --speeds 1", 0}, Case{"$H plan", 2}, Case{"PATH=/none $H report run.json -o r.html", 0},
        Case{"$H report missing -o r.html", 2}, Case{"$H calibrate -o none/c.toml", 2},
        Case{"$H calibrate -o c2.toml --max-seconds 1 -T .", 0},
        Case{"$H compare in -o out --strategies equal --rounds 1", 0}, Case{"$H compare", 2}, Case{"$H", 2}}) {
    for (const char* const where : {"2>/dev/full", "2>&-", "2> >(exec true)"}) {
      if (line.find("delay6000") != line.npos && where != std::string("2>/dev/full")) continue;
      const Outcome outcome = shell.run("export H; bash -c '" + line + " " + where + "'");
      EXPECT_EQ(outcome.exit_code, code) << line << " " << where << ": " << outcome;
    }
  }
}

TEST(Messages, text_that_standard_output_does_not_take_is_a_failure) {
  const Shell shell;
  shell.run("$H gen 100 in && $H sort in -o x --report run.json");
  for (const std::string line :
       {"$H --help", "$H --version", "$H sort --help", "$H gen --help", "$H validate --help", "$H plan --help",
        "$H calibrate --help", "$H compare --help", "$H report --help", "$H completion zsh",
        "$H sort in -o out --dry-run", "$H plan -n 1 --speeds 1", "$H plan -n 1 --speeds 1 --format json",
        "$H plan -n 1 --speeds 1,2 --compare", "$H report run.json --format text", "$H validate -q -o - in",
        "$H calibrate -q -o - --max-seconds 1 -T .", "$H compare -q in -o out --strategies equal --rounds 1"}) {
    EXPECT_TRUE(failed_with(shell.run(line + " >/dev/full"), "write standard output: No space left on device")) << line;
    EXPECT_TRUE(failed_with(shell.run(line + " >&-"), "write standard output: Bad file descriptor")) << line;
  }
}

TEST(Messages, a_closed_descriptor_is_not_taken_by_a_file) {
  const Shell shell;
  shell.run("$H gen 1000 in && $H sort in -o expected");
  EXPECT_EQ(shell.run("$H sort -v --explain in -o out <&- >&- 2>&- && cmp out expected").exit_code, 0);
  EXPECT_TRUE(failed_with(shell.run("$H sort -o out <&-"), "standard input"));
}

TEST(Messages, a_limit_on_the_size_of_files_is_a_failure_with_its_reason) {
  const Shell shell;
  shell.run("$H gen 20000 in && echo old >out && $H sort in -o x --report run.json && rm x");
  const Names before = shell.names();
  for (const std::string line :
       {"$H sort in -o out", "$H sort in -o new", "$H gen 20000 out", "$H sort -S 300K -T . in -o out",
        "$H report run.json -o out", "$H validate in -q -o out", "$H calibrate -o out --max-seconds 1 -q -T ."}) {
    const std::string limit = line.find("validate") != line.npos ? "0" : line.find("report") != line.npos ? "1" : "100";
    // The limit would hold for the test's own file of messages too.
    const Outcome outcome =
        shell.run("export H; bash -o pipefail -c '(ulimit -f " + limit + "; " + line + ") 2>&1 | cat >&2'");
    EXPECT_TRUE(failed_with(outcome, "File too large")) << line;
    EXPECT_EQ(shell.file("out"), "old\n") << line;
    EXPECT_EQ(shell.names(), before) << line;
  }
}

TEST(Messages, names_never_reach_the_terminal_as_they_are) {
  const Shell shell;
  for (const std::string line :
       {"$H sort \"$N\" -o out", "$H sort in -o \"$N/out\"", "$H sort in -o out -T \"$N\"",
        "$H sort in -o out --report \"$N/r\"", "$H sort in -o out --cluster \"$N\"", "$H gen 10 \"$N/x\"",
        "$H gen \"$N\" x", "$H validate \"$N\"", "$H plan -n 10 --cluster \"$N\"", "$H report \"$N\" -o r",
        "$H compare \"$N\" -o out --strategies equal", "$H calibrate -o \"$N/c\"", "$H \"$N\"", "$H sort \"--$N\"",
        "$H sort in --strategy \"$N\""}) {
    const Outcome outcome = shell.run("$H gen 10 in; N=$(printf 'bad\\033[2J\\nname\\007'); " + line);
    EXPECT_TRUE(failed_with(outcome, "bad\\x1b[2J\\nname\\x07")) << line;
    EXPECT_EQ(outcome.err.find_first_of("\x1b\x07"), outcome.err.npos) << line;
  }
  // U+009B and U+202E, as UTF-8 and alone.
  for (const std::string line :
       {"$H sort \"$N\" -o out", "$H validate \"$N\"", "$H gen 10 in -o \"$N\"", "$H sort --bogus=\"$N\"",
        "$H report \"$N\" -o r", "$H plan -n 1 --cluster \"$N\"", "$H sort in -o out -T \"$N\"", "$H sort -c \"$N\""}) {
    const Outcome outcome =
        shell.run("export LC_ALL=C.UTF-8; $H gen 10 in; N=$(printf 'a\\302\\233b\\342\\200\\256c\\233'); " + line);
    EXPECT_EQ(outcome.exit_code, 2) << line << outcome;
    EXPECT_TRUE(std::ranges::all_of(outcome.err, [](char c) { return c == '\n' || (c >= ' ' && c <= '~'); })) << line;
  }
  const Outcome explained = shell.run(
      "N=$(printf 'd\\033[2J\\nname'); mkdir \"$N\"; $H gen 10000 in; $H sort -S 300K --explain in -o out -T \"$N\"");
  EXPECT_EQ(explained.exit_code, 0) << explained;
  EXPECT_NE(explained.err.find("d\\x1b[2J\\nname"), explained.err.npos) << explained;
}

TEST(Messages, reports_are_ascii_whatever_names_hold) {
  const Shell shell;
  const Outcome outcome = shell.run(
      "N=$(printf 'a\\302\\233b\\342\\200\\256c\\233\\303\\274'); $H gen 10 \"$N\"; "
      "$H sort \"$N\" -o \"$N.out\" --report r.json --trace t.json && $H report r.json -o r.html --no-pictures");
  EXPECT_EQ(outcome.exit_code, 0) << outcome;
  for (const std::string name : {"r.json", "t.json"})
    EXPECT_TRUE(std::ranges::all_of(shell.file(name), [](char c) { return c == '\n' || (c >= ' ' && c <= '~'); }));
  EXPECT_NE(shell.file("r.json").find("a\\u009bb\\u202ec\\ufffd\\u00fc.out"), std::string::npos)
      << shell.file("r.json");
  const std::string page = shell.file("r.html");
  EXPECT_EQ(page.find("\u009b"), std::string::npos);
  EXPECT_EQ(page.find("\u202e"), std::string::npos);
}

TEST(Messages, a_dumb_terminal_gets_no_control_sequences) {
  const Shell shell;
  shell.run("$H gen 1000 in");
  const std::string sort = "HETSORT_FAULTS=read:2:delay1500 '\"$H\"' sort in -o out --progress ";
  const auto typed = [&](const std::string& terminal, const std::string& progress) {
    return shell.run("TERM=" + terminal + " script -qec '" + sort + progress + "' /dev/null </dev/null").out;
  };
  EXPECT_NE(typed("xterm", "auto").find('\x1b'), std::string::npos);
  EXPECT_EQ(typed("dumb", "auto").find('\x1b'), std::string::npos);
  EXPECT_EQ(typed("dumb", "bar").find('\x1b'), std::string::npos);
}

}  // namespace
}  // namespace hetsort::cli::test
