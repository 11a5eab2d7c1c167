// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
#include "bench/research/mheta/sort_program.h"

namespace hetsort::research {
namespace {

constexpr std::size_t kInputFile = 0;  // places of the variables
constexpr std::size_t kRuns = 1;
constexpr std::size_t kOutputFile = 2;

NodeNumbers for_all(double seconds) {
  NodeNumbers numbers;
  numbers.values = {seconds};
  numbers.by_node = false;
  return numbers;
}

ProgramVariable of_records(std::string name, Storage storage, RowSide side, std::int64_t record_bytes) {
  ProgramVariable variable;
  variable.name = std::move(name);
  variable.storage = storage;
  variable.side = side;
  variable.bytes = static_cast<double>(record_bytes);
  return variable;
}

/// A section that is a barrier, at which the first node works for `seconds`.
ProgramSection closing_section(std::string name, const partition::RunModel& model, double seconds) {
  ProgramSection section;
  section.name = std::move(name);
  section.communication = Communication::kReduction;
  section.reduce = for_all(seconds);
  section.reduce.by_node = true;  // seconds of the cluster file, whatever the speeds
  section.reduce.values.assign(model.ranks.size(), seconds);
  return section;
}

ProgramSection form_section(const partition::RunModel& model) {
  ProgramSection section = closing_section("form_runs", model, model.select_seconds);
  ProgramStage stage;
  stage.name = "sort";
  stage.costs.reserve(model.ranks.size());
  for (const partition::RankResources& rank : model.ranks) stage.costs.push_back(rank.sort);
  stage.cost_by_node = true;
  stage.reads = {kInputFile};
  stage.writes = {kRuns};
  stage.io = IoMode::kStreaming;
  section.stages.push_back(std::move(stage));
  return section;
}

ProgramSection exchange_section(const partition::RunModel& model) {
  ProgramSection section;
  section.name = "exchange";
  section.communication = Communication::kAllToAll;
  section.bytes_per_row = static_cast<double>(model.record_bytes);
  ProgramStage stage;
  stage.name = "merge";
  stage.side = RowSide::kOutput;
  stage.per_row.by_node = true;
  stage.per_row.values.clear();
  stage.per_row.values.reserve(model.ranks.size());
  for (const partition::RankResources& rank : model.ranks) stage.per_row.values.push_back(rank.merge_seconds);
  stage.reads = {kRuns};
  stage.writes = {kOutputFile};
  stage.io = IoMode::kStreaming;
  section.stages.push_back(std::move(stage));
  return section;
}

}  // namespace

ProgramModel sort_program(const partition::RunModel& model, std::int64_t records) {
  Program program;
  program.name = "sort";
  program.rows = records;
  program.variables = {of_records("input", Storage::kFile, RowSide::kInput, model.record_bytes),
                       of_records("runs", Storage::kExcess, RowSide::kInput, model.record_bytes),
                       of_records("output", Storage::kFile, RowSide::kOutput, model.record_bytes)};
  program.sections = {form_section(model), exchange_section(model),
                      closing_section("publish", model, model.publish_seconds)};
  program.sections.back().stages.emplace_back().name = "publish";
  std::vector<ProgramNode> nodes;
  nodes.reserve(model.ranks.size());
  for (const partition::RankResources& rank : model.ranks) {
    ProgramNode node{.name = rank.name, .host = rank.host};
    // Files are read and written in blocks that the memory for records does not include.
    if (rank.memory_records)
      node.memory_bytes = static_cast<double>(*rank.memory_records) * static_cast<double>(model.record_bytes);
    node.rates = rank.rates;
    node.message = rank.message;
    nodes.push_back(std::move(node));
  }
  ProgramModel on_nodes(std::move(program), std::move(nodes), model.shared);
  on_nodes.set_start_seconds(model.start_seconds);
  return on_nodes;
}

}  // namespace hetsort::research
