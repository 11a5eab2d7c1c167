// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
//
// The program on several ranks of this machine, run by a shell in a folder of its own.
#pragma once

#include <chrono>
#include <csignal>
#include <iterator>
#include <regex>
#include <string>
#include <string_view>
#include <vector>

#include "tests/cli/program.h"

namespace hetsort::cli::test {

inline constexpr bool kOpenMpi = HETSORT_OPEN_MPI;
/// Whether mpirun forwards more standard input than a pipe holds. MPICH's ends if the program does not read it at once.
inline constexpr bool kForwardsInput = kOpenMpi;

/// For jobs that are refused and have nothing to clean up: Open MPI's mpirun waits seconds for ranks that are gone.
inline constexpr const char* kEndAtOnce = "export OMPI_MCA_odls_base_sigkill_timeout=0\n";

/// In command lines "$H" stands for the program, "$M" for mpirun, and "$A" for the program with $FAULTS on the rank
/// $VICTIM alone and the process id of each rank in pids/RANK.
class MpiShell : public Shell {
 public:
  MpiShell() { static_cast<void>(Shell::run("mkdir d t pids")); }

  /// Runs again if the launcher crashed while it forwarded standard input: that says nothing about the program.
  Outcome run(const std::string& line) {
    constexpr int kTries = 5;
    Outcome outcome;
    for (int i = 0; i < kTries; ++i) {
      const auto begin = std::chrono::steady_clock::now();
      outcome = Shell::run("M='timeout 60 " HETSORT_MPIRUN "'; A=./apart; export H\n" + line);
      seconds_ = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
      if (!launcher_crashed(outcome)) break;
    }
    return outcome;
  }
  /// Writes the script behind "$A".
  void allow_victims() const {
    write("apart",
          "#!/bin/sh\n"
          "rank=${OMPI_COMM_WORLD_RANK:-$PMI_RANK}\n"
          "echo $$ >pids/$rank\n"
          "if [ \"$rank\" = \"$VICTIM\" ]; then\n"
          "  [ -z \"$FAULTS\" ] || export HETSORT_FAULTS=\"$FAULTS\"\n"
          "  [ -z \"$INSTEAD\" ] || exec $H $INSTEAD\n"
          "  [ -z \"$STOPPED\" ] || kill -STOP $$\n"
          "fi\n"
          "exec $H \"$@\"\n");
    static_cast<void>(Shell::run("chmod +x apart"));
  }
  /// How long the last run took.
  double seconds() const { return seconds_; }
  /// The names in a folder of it, one a line.
  std::string names_in(const std::string& folder) const { return Shell::run("ls -A " + folder).out; }

 private:
  /// Open MPI 4 has a race in the first of these functions (open-mpi/ompi issue 7483), and its mpirun may crash in the
  /// second one when it ends.
  static bool launcher_crashed(const Outcome& outcome) {
    return outcome.exit_code == 128 + SIGSEGV &&
           (outcome.err.find("orte_iof_hnp_read_local_handler") != std::string::npos ||
            outcome.err.find("PMIx_server_finalize") != std::string::npos);
  }

  double seconds_ = 0;
};

/// What the program itself has printed; mpirun prints other messages. Notes do not count, nor do the lines of progress
/// that a job prints after some seconds on a busy machine.
inline std::vector<std::string> messages_in(const std::string& text) {
  static const std::regex message("hetsort: (?!note: |[a-z_]+ *(\n| [0-9.]+ (%|GB)))[^\n]*");
  std::vector<std::string> found;
  for (std::sregex_iterator at(text.begin(), text.end(), message); at != std::sregex_iterator(); ++at)
    found.push_back(at->str());
  return found;
}

inline int messages(const Outcome& outcome) { return static_cast<int>(messages_in(outcome.err).size()); }

/// Whether the job ended with exit code 2 and one message, which holds all `texts`.
inline ::testing::AssertionResult job_failed_with(const Outcome& outcome, const std::vector<std::string>& texts) {
  const std::vector<std::string> found = messages_in(outcome.err);
  bool all = outcome.exit_code == 2 && found.size() == 1;
  for (const std::string& text : texts) all = all && found.front().find(text) != std::string::npos;
  if (all) return ::testing::AssertionSuccess();
  return ::testing::AssertionFailure() << outcome << " instead of one message with " << ::testing::PrintToString(texts);
}

}  // namespace hetsort::cli::test
