// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
//
// The program as its users meet it: run by a shell in a folder of its own.
#pragma once

#include <gtest/gtest.h>
#include <sys/wait.h>

#include <cstdlib>
#include <filesystem>
#include <ostream>
#include <set>
#include <string>

#include "tests/io/scratch.h"

namespace hetsort::cli::test {

/// The files in a folder.
using Names = std::set<std::string>;

struct Outcome {
  int exit_code = 0;
  std::string out;
  std::string err;
};

inline std::ostream& operator<<(std::ostream& stream, const Outcome& outcome) {
  return stream << "exit " << outcome.exit_code << ", stderr: " << outcome.err;
}

/// The program that "$H" stands for in a command line: where the line asks for faults of calls, the variant that has
/// them.
inline std::string program_of(const std::string& line) {
#ifdef HETSORT_FAULTY_PROGRAM
  if (line.find("FAULTS=") != std::string::npos) return HETSORT_FAULTY_PROGRAM;
#endif
  static_cast<void>(line);
  return HETSORT_PROGRAM;
}

/// A fresh folder in which command lines run; "$H" stands for the program in them.
class Shell {
 public:
  Shell() = default;
  /// In a folder of `parent`.
  explicit Shell(const std::string& parent) : work_(parent) {}

  Outcome run(const std::string& line) const {
    // Another user may have made them.
    std::filesystem::remove(logs_ / "out");
    std::filesystem::remove(logs_ / "err");
    const std::string command = "cd '" + work_.path() + "' && H='" + program_of(line) + "'; { " + line + "\n} >'" +
                                (logs_ / "out") + "' 2>'" + (logs_ / "err") + "'";
    const int status = std::system(command.c_str());
    const int exit_code = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
    return {exit_code, io::test::read_all(logs_ / "out"), io::test::read_all(logs_ / "err")};
  }
  std::string file(const std::string& name) const { return io::test::read_all(work_ / name); }
  void write(const std::string& name, const std::string& text) const { io::test::write_all(work_ / name, text); }
  Names names() const { return work_.names(); }
  const std::string& path() const { return work_.path(); }

 private:
  io::test::Scratch work_;
  io::test::Scratch logs_;
};

/// Whether it ended with the error's exit code and one message that holds `text`.
inline ::testing::AssertionResult failed_with(const Outcome& outcome, const std::string& text) {
  const bool one_message = outcome.err.starts_with("hetsort: ") && outcome.err.find('\n') == outcome.err.size() - 1;
  if (outcome.exit_code == 2 && one_message && outcome.err.find(text) != std::string::npos)
    return ::testing::AssertionSuccess();
  return ::testing::AssertionFailure() << outcome << " instead of an error with '" << text << "'";
}

}  // namespace hetsort::cli::test
