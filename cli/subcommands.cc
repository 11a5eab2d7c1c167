// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
#include "cli/subcommands.h"

#include <array>

namespace hetsort::cli {

std::span<const Subcommand> subcommands() {
  static constexpr std::array kSubcommands{
      Subcommand{"gen", gen_command, gen_options, "write benchmark records"},
      Subcommand{"sort", sort_command, sort_options, "sort records of files or stdin"},
      Subcommand{"checkpoint", checkpoint_command, checkpoint_options, "show what a sort that was ended has kept"},
      Subcommand{"validate", validate_command, validate_options, "check order, count and checksum of sorted records"},
      Subcommand{"plan", plan_command, plan_options, "share records among unequal nodes"},
      Subcommand{"calibrate", calibrate_command, calibrate_options,
                 "measure the nodes of a job: writes a cluster file"},
      Subcommand{"compare", compare_command, compare_options, "sort with several strategies in turn and compare them"},
      Subcommand{"report", report_command, report_options, "make a page of reports of runs"},
      Subcommand{"completion", completion_command, completion_options, "print completions for bash, zsh or fish"},
  };
  return kSubcommands;
}

}  // namespace hetsort::cli
