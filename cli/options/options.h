// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
//
// Command lines: Boost.Program_options with the project's error messages.
#pragma once

#include <boost/program_options.hpp>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "cli/commands.h"
#include "comm/agreement.h"

namespace hetsort::cli {

/// The request cannot be understood: an unknown option, a bad value, options that exclude each other. Exit code 2.
class UsageError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// A command line that was parsed.
struct CommandLine {
  boost::program_options::variables_map values;
  /// The command, operands and options that all ranks of a job must have in common. Without those that concern one
  /// rank: -S, -T, -j, --io, --progress, -v, -q.
  std::vector<comm::SharedSetting> shared;
};

/// Parses the arguments of `command`: `visible` are the named options (value names in their descriptions appear in
/// --help); everything else is collected under "operand" (std::vector<std::string>, absent when there is none).
/// No abbreviations. Single letters may be combined and may carry their value ("-b100", "-as"). A lone "-" is an
/// operand; after "--" everything is.
/// Throws: UsageError naming the option and, for an unknown one, the nearest known.
CommandLine parse_options(const std::string& command, Arguments arguments,
                          const boost::program_options::options_description& visible);

/// The operands, in order.
std::vector<std::string> operands_of(const boost::program_options::variables_map& values);

/// The text of --help.
std::string help_text(const char* usage, const boost::program_options::options_description& options);

/// A non-negative decimal number of at most 64 bits, digits only. Throws: UsageError naming `what`.
std::uint64_t parse_count(std::string_view text, std::string_view what);

}  // namespace hetsort::cli
