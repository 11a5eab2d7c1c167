// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
#include "cli/signals.h"

#include <unistd.h>

#include <csignal>
#include <cstdint>
#include <cstring>

#include "io/publish.h"
#include "io/spill.h"

namespace hetsort::cli {

namespace {

constexpr int kSignalExitBase = 128;
// Space that any file system gives back within a fraction of a second.
constexpr std::uint64_t kQuicklyReleasedBytes = std::uint64_t{512} << 20;

void say(const char* text) { static_cast<void>(!::write(STDERR_FILENO, text, std::strlen(text))); }

/// Lets a child that nobody waits for close the files of this process, when it holds much temporary space: giving that
/// back can take the file system seconds. Async-signal-safe.
void release_files_in_background() noexcept {
  const pid_t parent = ::getpid();
  if (io::SpillSpace::bytes_in_use() < kQuicklyReleasedBytes || ::_Fork() != 0) return;
  // Whoever reads our output must see its end when the parent ends.
  ::close(STDIN_FILENO);
  ::close(STDOUT_FILENO);
  ::close(STDERR_FILENO);
  ::setsid();
  // The parent's exit closes its descriptors first; what is closed last gives the space back.
  while (::getppid() == parent) ::usleep(1000);
  ::_exit(0);
}

void end_process(int signal) {
  io::remove_unpublished_files();
  say(signal == SIGINT    ? "hetsort: interrupted (SIGINT); output untouched\n"
      : signal == SIGTERM ? "hetsort: terminated (SIGTERM); output untouched\n"
                          : "hetsort: hung up (SIGHUP); output untouched\n");
  release_files_in_background();
  ::_exit(kSignalExitBase + signal);
}

}  // namespace

void end_cleanly_on_signals() {
  for (const int signal : {SIGINT, SIGTERM, SIGHUP}) {
    struct sigaction old {};
    if (::sigaction(signal, nullptr, &old) == 0 && old.sa_handler == SIG_IGN) continue;
    struct sigaction action {};
    action.sa_handler = end_process;
    ::sigaction(signal, &action, nullptr);
  }
}

}  // namespace hetsort::cli
