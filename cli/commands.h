// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
//
// The subcommands of hetsort: one file each, one line each in the table of subcommands.cc.
#pragma once

#include "cli/options/arguments.h"
#include "job/options/option.h"

namespace hetsort::cli {

// Each returns the process's exit code; a problem with the request or the run is thrown (UsageError, io::Error,
// partition::Error ...) and printed once by main, which then exits with 2.
int gen_command(Arguments arguments);
int sort_command(Arguments arguments);
int checkpoint_command(Arguments arguments);
int validate_command(Arguments arguments);
int plan_command(Arguments arguments);
int report_command(Arguments arguments);
int calibrate_command(Arguments arguments);
int compare_command(Arguments arguments);
int completion_command(Arguments arguments);

/// The options of each command, which --help and completions show.
job::Options gen_options();
job::Options sort_options();
job::Options checkpoint_options();
job::Options validate_options();
job::Options plan_options();
job::Options report_options();
job::Options calibrate_options();
job::Options compare_options();
job::Options completion_options();

}  // namespace hetsort::cli
