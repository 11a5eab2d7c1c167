// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
#include "bench/research/mheta/program_text.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "partition/error.h"
#include "partition/text/cost_text.h"
#include "partition/text/quantity.h"
#include "partition/text/toml_reader.h"

namespace hetsort::research {
namespace {

constexpr std::size_t kMaxSections = 1'000;  // beyond any program that a person describes; so are the next ones
constexpr std::size_t kMaxStages = 1'000;    // stages of one section
constexpr std::size_t kMaxVariables = 1'000;
constexpr std::int64_t kMaxTiles = 1'000'000;
constexpr std::int64_t kMaxIterations = 1'000'000'000;

std::string place_text(std::string_view file, partition::TextPlace place) {
  return fmt::format("{}:{}:{}: ", file, place.line, place.column);
}

void check_cost(std::string_view key, double value) {
  if (std::isfinite(value) && value >= 0) return;
  throw partition::PlanError(fmt::format("{} must be finite and at least 0, not {}", key, value));
}

/// Reads one file.
class ProgramReader {
 public:
  ProgramReader(std::string_view text, std::string_view source_name)
      : document_(text, source_name), file_(source_name) {}

  Program read() {
    const partition::TomlTable root = document_.root();
    root.allow_only({"name", "rows", "iterations", "measured_rows", "io", "message", "variable", "section"});
    program_.name = root.has("name") ? root.text("name") : file_;
    program_.rows = whole_between(root, "rows", 0, std::numeric_limits<std::int64_t>::max());
    if (root.has("iterations")) program_.iterations = whole_between(root, "iterations", 1, kMaxIterations);
    if (root.has("measured_rows")) measured_rows_ = numbers(root, "measured_rows");
    if (root.has("io")) read_overheads(root.table("io"));
    if (root.has("message")) read_messages(root.table("message"));
    for (const partition::TomlTable& table : root.tables("variable"))
      program_.variables.push_back(read_variable(table));
    if (program_.variables.size() > kMaxVariables)
      root.fail("variable", fmt::format("more than {} variables", kMaxVariables));
    for (const partition::TomlTable& table : root.tables("section")) {
      if (program_.sections.size() == kMaxSections) table.fail("", fmt::format("more than {} sections", kMaxSections));
      program_.sections.push_back(read_section(table));
    }
    if (program_.sections.empty()) throw partition::PlanError(fmt::format("{}: there is no [[section]]", file_));
    return std::move(program_);
  }

 private:
  static std::int64_t whole_between(const partition::TomlTable& table, std::string_view key, std::int64_t min,
                                    std::int64_t max) {
    if (!table.has(key)) table.fail(key, fmt::format("the field '{}' is missing", key));
    const std::int64_t value = table.whole(key);
    if (value < min || value > max)
      table.fail(key, fmt::format("{} must be from {} to {}, not {}", key, min, max, value));
    return value;
  }

  NodeNumbers numbers(const partition::TomlTable& table, std::string_view key) const {
    NodeNumbers read;
    if (!table.has(key)) return read;
    read.field = key;
    read.place = place_text(file_, table.place(key));
    read.values.clear();
    read.by_node = table.each_number(key, [&](double value) {
      check_cost(key, value);
      read.values.push_back(value);
    });
    if (read.values.empty()) table.fail(key, fmt::format("{} is an empty list", key));
    return read;
  }

  static double cost(const partition::TomlTable& table, std::string_view key) {
    const double value = table.number_or(key, 0);
    if (!std::isfinite(value) || value < 0)
      table.fail(key, fmt::format("{} must be finite and at least 0, not {}", key, value));
    return value;
  }

  static double bytes(const partition::TomlTable& table, std::string_view key) {
    try {
      return static_cast<double>(partition::parse_bytes(table.text_or_number(key), key));
    } catch (const partition::TomlError&) {
      throw;
    } catch (const partition::PlanError& error) {
      table.fail(key, error.what());
    }
  }

  template <typename Value, std::size_t kCount>
  static Value word(const partition::TomlTable& table, std::string_view key,
                    const std::array<std::pair<std::string_view, Value>, kCount>& words) {
    std::array<std::string_view, kCount> known;
    const std::string text = table.text(key);
    for (std::size_t i = 0; i < kCount; ++i) {
      known[i] = words[i].first;
      if (text == known[i]) return words[i].second;
    }
    table.fail_unknown(key, key, text, known);
  }

  void read_overheads(const partition::TomlTable& table) {
    table.allow_only({"read_overhead", "write_overhead", "prefetch_overhead"});
    program_.read_overhead = numbers(table, "read_overhead");
    program_.write_overhead = numbers(table, "write_overhead");
    program_.prefetch_overhead = numbers(table, "prefetch_overhead");
  }

  void read_messages(const partition::TomlTable& table) {
    table.allow_only({"send_overhead", "receive_overhead", "latency"});
    program_.send_overhead = numbers(table, "send_overhead");
    program_.receive_overhead = numbers(table, "receive_overhead");
    program_.latency = cost(table, "latency");
  }

  ProgramVariable read_variable(const partition::TomlTable& table) const {
    table.allow_only({"name", "row_bytes", "bytes", "access", "storage", "read_seconds", "write_seconds"});
    ProgramVariable variable;
    variable.name = table.text("name");
    if (find(variable.name)) table.fail("name", fmt::format("a second variable '{}'", variable.name));
    if (table.has("row_bytes") == table.has("bytes"))
      table.fail("name", fmt::format("variable '{}' needs one of row_bytes (distributed) and bytes (replicated)",
                                     variable.name));
    variable.distributed = table.has("row_bytes");
    const std::string_view size = variable.distributed ? "row_bytes" : "bytes";
    variable.bytes = bytes(table, size);
    if (variable.bytes < 1) table.fail(size, fmt::format("{} must be above zero", size));
    constexpr std::array<std::pair<std::string_view, bool>, 2> kAccess{{{"read-only", true}, {"read-write", false}}};
    if (table.has("access")) variable.read_only = word(table, "access", kAccess);
    constexpr std::array<std::pair<std::string_view, Storage>, 2> kStorage{
        {{"memory", Storage::kArray}, {"file", Storage::kFile}}};
    if (table.has("storage")) variable.storage = word(table, "storage", kStorage);
    if (table.has("read_seconds")) variable.read_seconds = numbers(table, "read_seconds");
    if (table.has("write_seconds")) variable.write_seconds = numbers(table, "write_seconds");
    return variable;
  }

  std::optional<std::size_t> find(std::string_view name) const {
    const auto found = std::ranges::find(program_.variables, name, &ProgramVariable::name);
    if (found == program_.variables.end()) return std::nullopt;
    return static_cast<std::size_t>(found - program_.variables.begin());
  }

  std::size_t variable_named(const std::string& name) const {
    if (const auto place = find(name)) return *place;
    std::vector<std::string_view> known;
    known.reserve(program_.variables.size());
    for (const ProgramVariable& variable : program_.variables) known.push_back(variable.name);
    throw partition::PlanError(fmt::format("unknown variable '{}'; known: {}", name, fmt::join(known, ", ")));
  }

  void read_communication(const partition::TomlTable& table, ProgramSection& section) const {
    constexpr std::array<std::pair<std::string_view, Communication>, 5> kWords{
        {{"none", Communication::kNone},
         {"nearest-neighbour", Communication::kNearestNeighbour},
         {"reduction", Communication::kReduction},
         {"pipeline", Communication::kPipeline},
         {"all-to-all", Communication::kAllToAll}}};
    section.communication = word(table, "communication", kWords);
    section.place = place_text(file_, table.place("communication"));
    const auto only_with = [&](std::string_view key, Communication communication, std::string_view name) {
      if (table.has(key) && section.communication != communication)
        table.fail(key, fmt::format("{} is for the communication '{}' only", key, name));
    };
    only_with("tiles", Communication::kPipeline, "pipeline");
    only_with("reduce", Communication::kReduction, "reduction");
    only_with("bytes_per_row", Communication::kAllToAll, "all-to-all");
    if (table.has("tiles")) section.tiles = whole_between(table, "tiles", 1, kMaxTiles);
    section.reduce = numbers(table, "reduce");
    if (section.communication == Communication::kAllToAll) section.bytes_per_row = bytes(table, "bytes_per_row");
    if (table.has("message_bytes")) section.message_bytes = bytes(table, "message_bytes");
    if (!table.has("message_variable")) return;
    const std::string name = table.text("message_variable");
    section.message_variable = find(name);
    if (!section.message_variable) table.fail("message_variable", fmt::format("unknown variable '{}'", name));
  }

  ProgramSection read_section(const partition::TomlTable& table) {
    table.allow_only(
        {"name", "communication", "message_bytes", "message_variable", "tiles", "reduce", "bytes_per_row", "stage"});
    ProgramSection section;
    if (table.has("name")) section.name = table.text("name");
    read_communication(table, section);
    for (const partition::TomlTable& stage : table.tables("stage")) {
      if (section.stages.size() == kMaxStages) stage.fail("", fmt::format("more than {} stages", kMaxStages));
      section.stages.push_back(read_stage(stage));
      if (section.communication == Communication::kPipeline && section.stages.back().io == IoMode::kStreaming)
        stage.fail("io", "the tiles of a pipeline cannot stream");
    }
    if (section.stages.empty())
      table.fail("", fmt::format("section '{}' has no stage: write [[section.stage]]", section.name));
    return section;
  }

  ProgramStage read_stage(const partition::TomlTable& table) {
    table.allow_only({"name", "per_row", "seconds", "fixed", "cost", "reads", "writes", "io"});
    ProgramStage stage;
    if (table.has("name")) stage.name = table.text("name");
    if (table.has("per_row") && table.has("seconds")) table.fail("seconds", "a stage has either per_row or seconds");
    stage.per_row = table.has("seconds") ? measured_per_row(table) : numbers(table, "per_row");
    stage.fixed = numbers(table, "fixed");
    if (table.has("cost")) stage.costs.push_back(partition::read_cost(table.table("cost")));
    constexpr std::array<std::pair<std::string_view, IoMode>, 3> kModes{
        {{"blocking", IoMode::kBlocking}, {"prefetch", IoMode::kPrefetch}, {"streaming", IoMode::kStreaming}}};
    if (table.has("io")) stage.io = word(table, "io", kModes);
    table.each_text("reads", [&](const std::string& name) { stage.reads.push_back(variable_named(name)); });
    table.each_text("writes", [&](const std::string& name) {
      stage.writes.push_back(variable_named(name));
      if (program_.variables[stage.writes.back()].read_only)
        throw partition::PlanError(fmt::format("variable '{}' is read-only", name));
    });
    return stage;
  }

  /// T' = T W' / W: the seconds that each node took for the rows that it had.
  NodeNumbers measured_per_row(const partition::TomlTable& table) const {
    if (!measured_rows_)
      table.fail("seconds", "seconds need measured_rows, the rows of each node when they were measured");
    NodeNumbers read = numbers(table, "seconds");
    if (!read.by_node || !measured_rows_->by_node || read.values.size() != measured_rows_->values.size())
      table.fail("seconds", "seconds and measured_rows must be lists of the same length");
    for (std::size_t i = 0; i < read.values.size(); ++i) {
      if (measured_rows_->values[i] < 1)
        throw partition::PlanError(
            fmt::format("{}measured_rows must be at least 1 for each node", measured_rows_->place));
      read.values[i] /= measured_rows_->values[i];
    }
    return read;
  }

  partition::TomlDocument document_;
  std::string file_;
  std::optional<NodeNumbers> measured_rows_;
  Program program_;
};

}  // namespace

Program parse_program(std::string_view text, std::string_view source_name) {
  return ProgramReader(text, source_name).read();
}

}  // namespace hetsort::research
