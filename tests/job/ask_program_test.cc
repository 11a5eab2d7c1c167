// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
#include "job/shares/ask_program.h"

#include <gtest/gtest.h>

#include <string>

#include "job/request/request_error.h"
#include "tests/io/scratch.h"

namespace hetsort::job::test {
namespace {

/// The message of the error when a script is asked.
std::string error_of(const std::string& script, const ProgramLimits& limits = {}) {
  const io::test::Scratch scratch;
  io::test::write_all(scratch / "script", script);
  try {
    ask_program("/bin/sh " + (scratch / "script"), "question\n", limits);
  } catch (const RequestError& error) {
    return error.what();
  }
  return "no error";
}

TEST(AskProgram, passes_question_and_answer_of_any_size) {
  std::string question(4 << 20, 'x');
  question += '\n';
  EXPECT_EQ(ask_program("cat", question).out, question);
  EXPECT_EQ(ask_program("true", question).out, "");
  EXPECT_EQ(ask_program("  echo  two   words ", question).out, "two words\n");
}

TEST(AskProgram, names_the_program_and_what_happened) {
  EXPECT_EQ(error_of("echo first >&2; echo 'no luck' >&2; exit 3"), "/bin/sh failed with exit code 3: no luck");
  EXPECT_EQ(error_of("kill -9 $$"), "/bin/sh was ended by signal 9");
  EXPECT_THROW(ask_program(" ", ""), RequestError);
  EXPECT_THROW(ask_program("/missing/program", ""), RequestError);
}

TEST(AskProgram, kills_what_reaches_a_limit) {
  EXPECT_EQ(error_of("exec sleep 1000", {.seconds = 0}), "/bin/sh did not end within 0 s");
  EXPECT_EQ(error_of("exec cat /dev/zero", {.output_bytes = 1 << 20}), "/bin/sh printed more than 1 MiB");
}

TEST(LastLine, is_fit_for_a_message) {
  EXPECT_EQ(last_line("a\nb \n\n"), "b");
  EXPECT_EQ(last_line("a\x1b[0m"), "a?[0m");
  EXPECT_EQ(last_line(" \n"), "");
  EXPECT_EQ(last_line(std::string(1000, 'a')).size(), 200U);
}

}  // namespace
}  // namespace hetsort::job::test
