// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
#include "cli/shared/gnuplot.h"

#include <fcntl.h>
#include <spawn.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <span>
#include <system_error>

#include "cli/shared/messages.h"
#include "io/file.h"
#include "job/report/printable.h"

extern char** environ;

namespace hetsort::cli {
namespace {

/// A file in memory, to hand over as a standard stream.
io::File memory_file(const char* name) {
  const int fd = ::memfd_create(name, MFD_CLOEXEC);
  if (fd < 0) throw std::system_error(errno, std::generic_category(), name);
  return {fd, name};
}

/// Returns gnuplot's exit status as of waitpid().
int run(const io::File& input, const io::File& output) {
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, input.descriptor(), STDIN_FILENO);
  posix_spawn_file_actions_adddup2(&actions, output.descriptor(), STDOUT_FILENO);
  posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, "/dev/null", O_WRONLY, 0);
  char name[] = "gnuplot";
  char no_start_up_files[] = "-d";
  std::array<char*, 3> arguments{name, no_start_up_files, nullptr};
  pid_t child = 0;
  const int failure = posix_spawnp(&child, name, &actions, nullptr, arguments.data(), environ);
  posix_spawn_file_actions_destroy(&actions);
  if (failure == ENOENT) throw GnuplotMissing("gnuplot is not installed (Debian: gnuplot-nox)");
  if (failure != 0) throw std::system_error(failure, std::generic_category(), "start gnuplot");
  int status = 0;
  while (waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  return status;
}

}  // namespace

std::string run_gnuplot(const std::string& script) {
  const io::File input = memory_file("input of gnuplot");
  const io::File output = memory_file("output of gnuplot");
  input.write_at(std::as_bytes(std::span(script)), 0);
  if (run(input, output) != 0) throw UsageError("gnuplot could not draw the picture");
  std::string printed(output.status().size_bytes, '\0');
  output.read_at(std::as_writable_bytes(std::span(printed)), 0);
  return printed;
}

std::string gnuplot_text(const std::string& text) {
  std::string quoted = "'";
  for (const char c : job::with_replacements(text, "?")) {
    if (c == '\'') quoted += c;
    quoted += c;
  }
  return quoted + "'";
}

std::string data_field(const std::string& text) {
  std::string field = "\"";
  for (const char c : job::with_replacements(text, "?")) field += c == '"' || c == '\\' ? '?' : c;
  return field + "\"";
}

}  // namespace hetsort::cli
