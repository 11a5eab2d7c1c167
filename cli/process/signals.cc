// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
#include "cli/process/signals.h"

#include <sys/resource.h>
#include <sys/uio.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <csignal>
#include <cstdint>
#include <cstring>
#include <span>
#include <string>
#include <string_view>

#include "cli/terminal/messages.h"
#include "comm/base/deadline.h"
#include "comm/base/launch_environment.h"
#include "comm/communicator.h"
#include "io/mapping.h"
#include "io/publish.h"
#include "io/temp/spill.h"
#include "job/agreement.h"
#include "job/report/printable.h"

namespace hetsort::cli {

namespace {

constexpr int kSignalExitBase = 128;
constexpr int kContinueExit = 75;  // EX_TEMPFAIL of sysexits.h: try again
// Space that any file system gives back within a fraction of a second.
constexpr std::uint64_t kQuicklyReleasedBytes = std::uint64_t{512} << 20;

/// Whether this process reports the signal that ends it.
std::atomic<bool> reports_signals{true};
/// Whether it reports on a terminal.
std::atomic<bool> reports_on_terminal{false};

/// Writes the texts with one call, so that no other output comes between.
template <typename... Text>
void say(const Text*... texts) {
  const std::array<iovec, sizeof...(texts)> parts{iovec{const_cast<char*>(texts), std::strlen(texts)}...};
  static_cast<void>(!::writev(STDERR_FILENO, parts.data(), static_cast<int>(parts.size())));
}

/// Lets a child that nobody waits for close the files of this process, when it holds much temporary space: giving that
/// back can take the file system seconds. Async-signal-safe.
void release_files_in_background() noexcept {
  const pid_t parent = ::getpid();
  if (io::SpillSpace::bytes_in_use() < kQuicklyReleasedBytes || ::_Fork() != 0) return;
  // A reader of the output must see its end when the parent ends, so the child closes it.
  ::close(STDIN_FILENO);
  ::close(STDOUT_FILENO);
  ::close(STDERR_FILENO);
  ::setsid();
  // Wait until the parent has exited: the last process to close a file gives its space back.
  while (::getppid() == parent) ::usleep(1000);
  ::_exit(0);
}

/// How to continue what a signal ends; empty = nothing does.
std::string continuing_advice;
/// Whether this process is rank 0 of several, which also reports that a launcher ended a sort that can be continued.
std::atomic<bool> speaks_for_ranks{false};

const char* name_of(int signal) {
  switch (signal) {
    case SIGINT:
      return "hetsort: interrupted (SIGINT)";
    case SIGTERM:
      return "hetsort: terminated (SIGTERM)";
    case SIGUSR1:
      return "hetsort: told to end (SIGUSR1)";
    default:
      return "hetsort: hung up (SIGHUP)";
  }
}

void end_process(int signal) {
  io::remove_unpublished_files();
  // Where no bar was, the terminal has shown ^C at the begin of the line.
  const bool new_line = !end_bars() && signal == SIGINT && reports_on_terminal;
  const bool untouched = io::output_is_untouched();
  const bool continues = untouched && !continuing_advice.empty();
  if (reports_signals || (continues && speaks_for_ranks && !comm::has_printed_failure()))
    say(new_line ? "\n" : "", name_of(signal), untouched ? "; output untouched" : "", continues ? "; " : "",
        continues ? continuing_advice.c_str() : "", "\n");
  release_files_in_background();
  ::_exit(continues && (signal == SIGTERM || signal == SIGUSR1) ? kContinueExit : kSignalExitBase + signal);
}

/// Copies `name` with question marks for what is not printable, as far as it fits. Async-signal-safe.
void show_name(std::string_view name, std::span<char> shown) noexcept {
  std::size_t used = 0;
  while (!name.empty()) {
    const std::size_t bytes = job::character_bytes(name);
    if (used + bytes >= shown.size()) break;
    used += (job::printable_bytes(name) > 0 ? name.substr(0, bytes) : "?").copy(&shown[used], bytes);
    name.remove_prefix(bytes);
  }
  shown[used] = '\0';
}

/// Handles SIGBUS: a mapped input has become shorter, or memory is broken. In the latter case the access is made again
/// and ends the process.
void end_on_bus_error(int signal, siginfo_t* info, void* /*context*/) {
  static std::atomic_flag reported;
  const char* const name = info->si_code == BUS_ADRERR ? io::mapped_file_at(info->si_addr) : nullptr;
  if (name == nullptr) {
    ::signal(signal, SIG_DFL);
    return;
  }
  while (reported.test_and_set()) ::pause();  // another thread is ending the process
  io::remove_unpublished_files();
  static std::array<char, 4096> shown{};
  show_name(name, shown);
  end_bars();
  say("hetsort: read ", shown.data(), ": truncated while it was read",
      io::output_is_untouched() ? "; output untouched\n" : "\n");
  release_files_in_background();
  ::_exit(comm::kErrorExit);
}

/// Calls set(signal) for SIGINT, SIGTERM and SIGHUP, unless they are ignored.
template <typename Set>
void for_signals_that_end(const Set& set) {
  for (const int signal : {SIGINT, SIGTERM, SIGHUP}) {
    struct sigaction old {};
    if (::sigaction(signal, nullptr, &old) != 0 || old.sa_handler != SIG_IGN) set(signal);
  }
}

}  // namespace

void release_signals() {
  for_signals_that_end([](int signal) { ::signal(signal, SIG_DFL); });
}

void end_cleanly_on_signals() {
  reports_signals = !job::is_one_of_many();
  reports_on_terminal = ::isatty(STDERR_FILENO) == 1;
  struct sigaction bus_error {};
  bus_error.sa_sigaction = end_on_bus_error;
  bus_error.sa_flags = SA_SIGINFO;
  ::sigaction(SIGBUS, &bus_error, nullptr);
  for_signals_that_end([](int signal) { ::signal(signal, end_process); });
}

void continue_after_signals(const std::string& advice) {
  continuing_advice = advice;
  speaks_for_ranks = comm::launched_rank() == 0;
  struct sigaction old {};
  if (::sigaction(SIGUSR1, nullptr, &old) != 0 || old.sa_handler != SIG_IGN) ::signal(SIGUSR1, end_process);
}

void leave_report_to_outcome() { speaks_for_ranks = false; }

void allow_many_files() {
  rlimit limit{};
  if (::getrlimit(RLIMIT_NOFILE, &limit) != 0) return;
  limit.rlim_cur = limit.rlim_max;
  ::setrlimit(RLIMIT_NOFILE, &limit);
}

}  // namespace hetsort::cli
