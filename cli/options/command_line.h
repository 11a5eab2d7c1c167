// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
//
// Command lines: Boost.Program_options reads them, by the tables of options, with the project's error messages.
#pragma once

#include <string>
#include <vector>

#include "cli/options/arguments.h"
#include "comm/agreement.h"
#include "job/options/option.h"
#include "job/request/request_error.h"

namespace hetsort::cli {

/// The request cannot be understood: an unknown option, a bad value, options that exclude each other. Exit code 2.
using UsageError = job::RequestError;

/// A command line that was read.
struct CommandLine {
  std::vector<std::string> operands;
  /// The command, operands and options that all ranks of a job must have in common.
  std::vector<comm::SharedSetting> shared;
  bool help = false;  ///< the help is asked for, and nothing else
};

/// Reads the arguments of `command` and fills the request that `options` are bound to. Messages name these options from
/// now on. No abbreviations. Single letters may be combined and may carry their value ("-b100", "-as"). A lone "-" is
/// an operand; after "--" everything is. Throws: UsageError naming the option and, for an unknown one, the nearest
/// known.
CommandLine parse_command_line(const std::string& command, Arguments arguments, job::Options& options);

/// The option --help. `letter`: '\0' = none.
job::Option help_option(char letter = 'h');

/// The text of --help.
std::string help_text(const char* usage, const job::Options& options);

}  // namespace hetsort::cli
