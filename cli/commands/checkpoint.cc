// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
//
// hetsort checkpoint: what the folder of a checkpoint holds.
#include <fmt/format.h>

#include <string>
#include <vector>

#include "cli/commands.h"
#include "cli/options/command_line.h"
#include "cli/process/outcome.h"
#include "cli/terminal/messages.h"
#include "io/file_system.h"
#include "sort/checkpoint/inspect.h"

namespace hetsort::cli {

namespace {

constexpr const char* kCheckpointUsage = R"(usage: hetsort checkpoint DIR...

Prints what 'hetsort sort --checkpoint DIR' has kept there: whose sort it is, how far it is, and whether the same
command would continue it. The exit code is 1 if it would not, or if nothing is there.

)";

std::string text_of(const sort::CheckpointPart& part) {
  std::string text = fmt::format("  rank {}: {} runs with {} of records, {} on disk; {} of the output are written\n",
                                 part.rank, part.runs, io::human_size(part.run_bytes), io::human_size(part.disk_bytes),
                                 io::human_size(part.merged_bytes));
  for (const sort::SortFact& about : part.about)
    text += fmt::format("    {}: {}\n", terminal_safe(about.name), terminal_safe(about.text));
  for (const sort::SortFact& fact : part.facts)
    text += fmt::format("    {}: {}\n", terminal_safe(fact.name), terminal_safe(fact.text));
  if (part.in_use) return text + "    a sort uses it now\n";
  return text + (part.obstacle.empty() ? "    the same command continues\n"
                                       : fmt::format("    cannot be continued: {}\n", terminal_safe(part.obstacle)));
}

job::Options options_of() {
  job::Options options;
  options.add(help_option());
  return options;
}

}  // namespace

job::Options checkpoint_options() { return options_of(); }

int checkpoint_command(Arguments arguments) {
  job::Options options = options_of();
  const CommandLine line = parse_command_line("checkpoint", arguments, options);
  if (line.help) return print_once(line.shared, help_text(kCheckpointUsage, options));
  if (line.operands.empty()) throw UsageError("checkpoint wants a DIR; 'hetsort checkpoint --help' explains");
  return run_once(line.shared, [&] {
    int exit_code = 0;
    std::string text;
    for (const std::string& folder : line.operands) {
      const std::vector<sort::CheckpointPart> parts = sort::inspect_checkpoint(folder);
      text += terminal_safe(folder) + (parts.empty() ? ": no checkpoint\n" : ":\n");
      if (parts.empty()) exit_code = 1;
      for (const sort::CheckpointPart& part : parts) {
        text += text_of(part);
        if (!part.obstacle.empty() && !part.in_use) exit_code = 1;
      }
    }
    write_output(text);
    return exit_code;
  });
}

}  // namespace hetsort::cli
