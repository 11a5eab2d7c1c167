// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
//
// A question to another program: text on its standard input, its answer on standard output.
#pragma once

#include <cstdint>
#include <string>

namespace hetsort::job {

/// What a program that is asked may take.
struct ProgramLimits {
  double seconds = 60;                       ///< a plan that takes longer rarely saves as much
  std::uint64_t output_bytes = 64ULL << 20;  ///< far above the shares of a million nodes
};

/// What a program printed.
struct ProgramAnswer {
  std::string out;
  std::string err;
};

/// Runs a command: words between spaces, without a shell, the first one found as in PATH. All three streams are files
/// in memory, so that a program that does not read, or prints much, blocks nobody. A program that reaches a limit is
/// killed. Throws: RequestError that names the program if it cannot run, fails or reaches a limit, with the last line
/// that it printed on standard error; io::Error.
ProgramAnswer ask_program(const std::string& command, const std::string& question, const ProgramLimits& limits = {});

/// The last line of a text that is not empty, fit for a message.
std::string last_line(const std::string& text);

}  // namespace hetsort::job
