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

namespace hetsort::cli {

/// The request cannot be understood: an unknown option, a bad value, options that exclude each other. Exit code 2.
class UsageError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// Parses `arguments`: `visible` are the named options (value names in their descriptions appear in --help);
/// everything else is collected under "operand" (std::vector<std::string>, absent when there is none).
/// No abbreviations. Single letters may be combined and may carry their value ("-b100", "-as"). A lone "-" is an
/// operand; after "--" everything is.
/// Throws: UsageError naming the option and, for an unknown one, the nearest known.
boost::program_options::variables_map parse_options(Arguments arguments,
                                                    const boost::program_options::options_description& visible);

/// Whether --help was given; then `usage` and the options are printed.
bool answers_help(const boost::program_options::variables_map& values, const char* usage,
                  const boost::program_options::options_description& options);

/// A non-negative decimal number of at most 64 bits, digits only. Throws: UsageError naming `what`.
std::uint64_t parse_count(std::string_view text, std::string_view what);

}  // namespace hetsort::cli
