// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
//
// hetsort: picks the subcommand and turns what it throws into one message and the exit code.
#include <fcntl.h>
#include <fmt/format.h>
#include <malloc.h>
#include <unistd.h>

#include <csignal>
#include <cstdlib>
#include <exception>
#include <new>
#include <string>
#include <string_view>
#include <vector>

#include "bench/research/search/strategies.h"
#include "cli/commands.h"
#include "cli/options/command_line.h"
#include "cli/process/outcome.h"
#include "cli/process/signals.h"
#include "cli/subcommands.h"
#include "cli/terminal/messages.h"
#include "comm/launcher.h"
#include "io/part_name.h"
#include "job/options/spelling.h"
#include "job/report/version.h"

namespace hetsort::cli {
namespace {

std::string usage() {
  std::string text = "usage: hetsort COMMAND [OPTION...] [OPERAND...]\n\n";
  for (const Subcommand& command : subcommands()) text += fmt::format("  {:12}{}\n", command.name, command.summary);
  return text + "\n'hetsort help COMMAND' explains a command; 'hetsort --version' prints the version.\n";
}

/// `command`: what asks for it.
int print_version(const std::string& command) {
  return print_once({{"command", command}},
                    fmt::format("hetsort {}\nMPI: {}; io_uring: {}; GLPK: {}; compression: gzip, zstd, lz4\n",
                                job::kVersion, comm::mpi_name(), job::kUring, job::kGlpk));
}

int dispatch(std::vector<std::string> arguments) {
  if (arguments.empty()) throw UsageError("no command given; 'hetsort --help' lists them");
  if (arguments.front() == "help" && arguments.size() > 1) arguments = {arguments[1], "--help"};
  const std::string& name = arguments.front();
  if (name == "--help" || name == "-h" || name == "help") {
    return print_once({{"command", "--help"}}, usage());
  }
  if (name == "--version") return print_version(name);
  std::vector<std::string> names;
  for (const Subcommand& command : subcommands()) {
    if (command.name == name && arguments.size() == 2 && arguments[1] == "--version") return print_version(name);
    if (command.name == name) return command.run(Arguments(arguments).subspan(1));
    names.emplace_back(command.name);
  }
  const std::string near = job::nearest(name, names);
  throw UsageError(near.empty() ? fmt::format("unknown command '{}'; 'hetsort --help' lists them", name)
                                : fmt::format("unknown command '{}'; did you mean '{}'?", name, near));
}

/// Opens /dev/null in place of a closed standard descriptor, which a file of ours would get otherwise. Reading closed
/// standard input and writing closed standard output fail; messages to closed standard error vanish.
void occupy_standard_descriptors() {
  for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; ++fd)
    if (::fcntl(fd, F_GETFD) < 0) static_cast<void>(::open("/dev/null", fd == STDOUT_FILENO ? O_RDONLY : O_WRONLY));
}

constexpr int kExitError = 2;

/// Ends the process like a failed command when an exception leaves a thread, which would otherwise end by SIGABRT
/// without a message. A thread that the system refuses to a library, and memory that runs out, come here.
[[noreturn]] void end_on_escaped_exception() noexcept {
  const std::exception_ptr escaped = std::current_exception();
  if (!escaped) std::abort();
  io::remove_unpublished_files();
  try {
    std::rethrow_exception(escaped);
  } catch (const std::bad_alloc&) {
    print_message("out of memory");
  } catch (const std::exception& error) {
    print_message(error.what());
  } catch (...) {
    print_message("unknown error");
  }
  ::_exit(kExitError);
}

}  // namespace
}  // namespace hetsort::cli

int main(int argc, char** argv) {
  hetsort::cli::release_signals();
  std::set_terminate(hetsort::cli::end_on_escaped_exception);
  hetsort::cli::occupy_standard_descriptors();
  // A write beyond `ulimit -f` then fails like any other, with a message.
  std::signal(SIGXFSZ, SIG_IGN);
  // Memory of long lines and their keys returns to the system when it is freed. By default the C library keeps what
  // each thread has used, which together exceeds the limit of --memory.
  ::mallopt(M_MMAP_THRESHOLD, 512 * 1024);
  hetsort::research::add_search_strategies();
  std::vector<std::string> arguments;
  try {
    arguments.assign(argv + 1, argv + argc);
    return hetsort::cli::dispatch(arguments);
  } catch (const std::bad_alloc&) {
    hetsort::cli::report_mistake("out of memory", arguments);
  } catch (const std::exception& error) {
    hetsort::cli::report_mistake(error.what(), arguments);
  }
  return hetsort::cli::kExitError;
}
