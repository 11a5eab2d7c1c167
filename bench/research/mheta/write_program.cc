// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
#include "bench/research/mheta/write_program.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cassert>
#include <string_view>
#include <vector>

namespace hetsort::research {
namespace {

std::string text_of(const NodeNumbers& numbers) {
  if (numbers.by_node) return fmt::format("[{:.9g}]", fmt::join(numbers.values, ", "));
  return fmt::format("{:.9g}", numbers.values.front());
}

bool any(const NodeNumbers& numbers) {
  return std::ranges::any_of(numbers.values, [](double value) { return value != 0; });
}

/// "name = numbers", or nothing for zeros, which are the default.
std::string line(std::string_view name, const NodeNumbers& numbers) {
  return any(numbers) ? fmt::format("{} = {}\n", name, text_of(numbers)) : "";
}

struct Field {
  std::string_view name;
  const NodeNumbers& numbers;
};

/// A table in one line, without zeros.
std::string inline_table(std::string_view name, const std::vector<Field>& fields, double latency = 0) {
  std::vector<std::string> texts;
  for (const Field& field : fields)
    if (any(field.numbers)) texts.push_back(fmt::format("{} = {}", field.name, text_of(field.numbers)));
  if (latency > 0) texts.push_back(fmt::format("latency = {:.9g}", latency));
  return texts.empty() ? "" : fmt::format("{} = {{ {} }}\n", name, fmt::join(texts, ", "));
}

std::string names_of(const Program& program, const std::vector<std::size_t>& variables) {
  std::vector<std::string> names;
  names.reserve(variables.size());
  for (const std::size_t variable : variables) names.push_back(fmt::format("\"{}\"", program.variables[variable].name));
  return fmt::format("[{}]", fmt::join(names, ", "));
}

std::string_view word_of(Communication communication) {
  switch (communication) {
    case Communication::kNearestNeighbour:
      return "nearest-neighbour";
    case Communication::kReduction:
      return "reduction";
    case Communication::kPipeline:
      return "pipeline";
    case Communication::kAllToAll:
      return "all-to-all";
    case Communication::kNone:
      break;
  }
  return "none";
}

std::string variable_text(const ProgramVariable& variable) {
  assert(variable.storage != Storage::kExcess && variable.side == RowSide::kInput);
  std::string text = fmt::format("\n[[variable]]\nname = \"{}\"\n{} = {:.0f}\n", variable.name,
                                 variable.distributed ? "row_bytes" : "bytes", variable.bytes);
  if (variable.read_only) text += "access = \"read-only\"\n";
  if (variable.storage == Storage::kFile) text += "storage = \"file\"\n";
  if (variable.read_seconds) text += fmt::format("read_seconds = {}\n", text_of(*variable.read_seconds));
  if (variable.write_seconds && !variable.read_only)
    text += fmt::format("write_seconds = {}\n", text_of(*variable.write_seconds));
  return text;
}

std::string stage_text(const Program& program, const ProgramStage& stage) {
  assert(stage.costs.empty() && stage.side == RowSide::kInput);
  std::string text = "\n[[section.stage]]\n";
  if (!stage.name.empty()) text += fmt::format("name = \"{}\"\n", stage.name);
  text += line("per_row", stage.per_row) + line("fixed", stage.fixed);
  if (!stage.reads.empty()) text += fmt::format("reads = {}\n", names_of(program, stage.reads));
  if (!stage.writes.empty()) text += fmt::format("writes = {}\n", names_of(program, stage.writes));
  if (stage.io == IoMode::kPrefetch) text += "io = \"prefetch\"\n";
  if (stage.io == IoMode::kStreaming) text += "io = \"streaming\"\n";
  return text;
}

std::string section_text(const Program& program, const ProgramSection& section) {
  std::string text = fmt::format("\n[[section]]\nname = \"{}\"\ncommunication = \"{}\"\n", section.name,
                                 word_of(section.communication));
  if (section.communication == Communication::kAllToAll)
    text += fmt::format("bytes_per_row = {:.0f}\n", section.bytes_per_row);
  else if (section.message_bytes > 0)
    text += fmt::format("message_bytes = {:.0f}\n", section.message_bytes);
  if (section.communication == Communication::kPipeline) text += fmt::format("tiles = {}\n", section.tiles);
  if (section.message_variable)
    text += fmt::format("message_variable = \"{}\"\n", program.variables[*section.message_variable].name);
  if (section.communication == Communication::kReduction) text += line("reduce", section.reduce);
  for (const ProgramStage& stage : section.stages) text += stage_text(program, stage);
  return text;
}

}  // namespace

std::string program_text(const Program& program) {
  std::string text;
  if (!program.name.empty()) text += fmt::format("name = \"{}\"\n", program.name);
  text += fmt::format("rows = {}\niterations = {}\n", program.rows, program.iterations);
  text += inline_table("io", {{"read_overhead", program.read_overhead},
                              {"write_overhead", program.write_overhead},
                              {"prefetch_overhead", program.prefetch_overhead}});
  text += inline_table("message",
                       {{"send_overhead", program.send_overhead}, {"receive_overhead", program.receive_overhead}},
                       program.latency);
  for (const ProgramVariable& variable : program.variables) text += variable_text(variable);
  for (const ProgramSection& section : program.sections) text += section_text(program, section);
  return text;
}

}  // namespace hetsort::research
