// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
//
// Command lines of all commands. The first byte of an input selects the command, its lines are the arguments.
//
// "--help" comes first. So a command parses all its arguments, prints its help and does nothing else.
#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <stdexcept>

#include "cli/commands.h"
#include "tests/fuzz/fuzz.h"

namespace hetsort::fuzz::test {

namespace {

constexpr std::array kCommands{cli::gen_command,    cli::sort_command,      cli::validate_command,
                               cli::plan_command,   cli::calibrate_command, cli::compare_command,
                               cli::report_command, cli::completion_command};

std::vector<std::string> arguments_of(std::string_view text) {
  std::vector<std::string> arguments{"--help"};
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    arguments.emplace_back(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return arguments;
}

/// Help goes to standard output, where nobody wants it.
void silence_output() {
  static const bool silenced = ::dup2(::open("/dev/null", O_WRONLY | O_CLOEXEC), STDOUT_FILENO) >= 0;
  require(silenced, "/dev/null cannot be opened");
}

}  // namespace

std::vector<std::string> seeds() {
  // NOLINTBEGIN(bugprone-suspicious-missing-comma): the first byte of each is the command
  return {
      std::string(1, '\0') + "-b100\n-a\n-c\n--keys\nzipf:1.5\n--threads=4\n1000\nout\n",
      "\1"
      "in\n-o\nout\n-S\n4G\n-T\n/tmp\n-j\n4\n--strategy\nlambert\n--speeds\n1,2,4\n--record-size=100\n--key\n0:10\n",
      "\1"
      "--cluster\nc.toml\n--exchange\nthreads\n--stall-timeout\n60\n--progress\nlines\n--report\nr.json\n-q\n",
      "\2"
      "-q\n-s\n--record-size\n8\n--key=0:8\n-o\nsum\nin\n",
      "\3"
      "-n\n1000000\n--speeds\n1,2.5\n--compare\n--format\njson\n--strategy\npower:1.5\n--cost\npower:1.2\n",
      "\4"
      "-o\nc.toml\n--max-seconds\n5\n-S\n50%\n--mpi\noff\n",
      "\5"
      "in\n-o\nout\n--strategies\nequal,lambert\n--rounds\n3\n--format\ntable\n",
      "\6"
      "run.json\n-o\nreport.html\n--format\nhtml\n--no-pictures\n",
  };
  // NOLINTEND(bugprone-suspicious-missing-comma)
}

std::vector<std::string> words() {
  return {
      "\n--",     "\n-",      "=",      ",",    ":",    "\n--records\n", "\n--strategy\n",  "\n--speeds\n", "{rank}",
      "50%",      "64K",      "4GiB",   "GB/s", "nan",  "inf",           "1e400",           "few:",         "zipf:",
      "power:",   "\n-j\n",   "\n-S\n", "auto", "none", "threads",       "--verify-output", "--root-input", "emulated:",
      "\xff\xfe", "\x1b[31m", "%s%n"};
}

}  // namespace hetsort::fuzz::test

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace hetsort;  // NOLINT(google-build-using-namespace)
  if (size == 0) return 0;
  fuzz::test::silence_output();
  const std::vector<std::string> arguments = fuzz::test::arguments_of(fuzz::test::text_of(data + 1, size - 1));
  try {
    const int code = fuzz::test::kCommands[data[0] % fuzz::test::kCommands.size()](arguments);
    fuzz::test::require(code == 0, "help is no success");
  } catch (const std::runtime_error&) {
    // The command line was refused.
  }
  return 0;
}
