// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
//
// The options that make a command work on lines of text: --lines and those of sort(1) that only lines can have.
#pragma once

#include <boost/program_options.hpp>
#include <optional>
#include <string_view>

#include "cli/commands.h"
#include "order/lines/line_options.h"

namespace hetsort::cli {

/// --lines, -k, -t, -b, -d, -f, -g, -h, -i, -M, -n, -V, -z. Letters in `taken` mean something else in the command:
/// those options have their long names only. -k is --line-key in long, because --key is a key of records.
void add_line_options(boost::program_options::options_description& options, std::string_view taken = "");

/// The lines that are asked for, if any of these options is given. -r, -u and -s are taken from options named
/// "reverse", "unique" and "stable".
/// Throws: UsageError for a key or separator that cannot be understood, for options that are incompatible with each
/// other, and for --record-size, --key and --header.
std::optional<order::LineOptions> requested_lines(const boost::program_options::variables_map& values);

/// A key as in sort(1): FIELD[.CHARACTER][OPTIONS][,FIELD[.CHARACTER][OPTIONS]]. Throws: UsageError.
order::LineKey parse_line_key(std::string_view text);

/// Whether the arguments of sort are "-h" alone and nobody pipes lines into it: then the user wants help.
bool is_lone_h(Arguments arguments);

}  // namespace hetsort::cli
