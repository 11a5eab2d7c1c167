// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
//
// The subcommands of hetsort: one file each, one line each in the table of subcommands.cc.
#pragma once

#include <boost/program_options/options_description.hpp>
#include <span>
#include <string>

namespace hetsort::cli {

/// Arguments after the subcommand's name. Each returns the process's exit code; a problem with the request or the
/// run is thrown (UsageError, io::Error, partition::Error ...) and printed once by main, which then exits with 2.
using Arguments = std::span<const std::string>;

int gen_command(Arguments arguments);
int sort_command(Arguments arguments);
int validate_command(Arguments arguments);
int plan_command(Arguments arguments);
int report_command(Arguments arguments);
int calibrate_command(Arguments arguments);
int compare_command(Arguments arguments);
int completion_command(Arguments arguments);

/// The options of each command, which --help and completions show.
boost::program_options::options_description gen_options();
boost::program_options::options_description sort_options();
boost::program_options::options_description validate_options();
boost::program_options::options_description plan_options();
boost::program_options::options_description report_options();
boost::program_options::options_description calibrate_options();
boost::program_options::options_description compare_options();
boost::program_options::options_description completion_options();

}  // namespace hetsort::cli
