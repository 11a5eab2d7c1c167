// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
#include "bench/research/programs/measured.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <chrono>

#include "bench/research/programs/programs.h"
#include "io/publish.h"

namespace hetsort::research::programs {
namespace {

using Clock = std::chrono::steady_clock;
using research::Communication;
using Values = std::vector<double>;

constexpr int kRounds = 20;
constexpr std::size_t kLongMessage = std::size_t{1} << 17;  // values, 1 MiB in all: the start hardly counts

double seconds_since(Clock::time_point begin) { return std::chrono::duration<double>(Clock::now() - begin).count(); }

/// Half of the median seconds of a message of this size from rank 0 to each rank and back, indexed by rank; 0 for rank
/// 0.
Values half_round_trips(Node& node, std::size_t size) {
  comm::Communicator& ranks = node.ranks();
  Values message(size, 0.0);
  Values medians(static_cast<std::size_t>(ranks.size()), 0.0);
  for (int other = 1; other < ranks.size(); ++other) {
    Values times;
    for (int round = 0; round < kRounds; ++round) {
      const auto begin = Clock::now();
      if (ranks.rank() == 0) {
        node.send(other, message);
        node.receive(other, message);
      } else if (ranks.rank() == other) {
        node.receive(0, message);
        node.send(0, message);
      }
      times.push_back(seconds_since(begin) / 2);
    }
    std::ranges::sort(times);
    if (ranks.rank() == 0) medians[static_cast<std::size_t>(other)] = times[times.size() / 2];
  }
  return medians;
}

/// Seconds until a short message that this rank sends is on its way.
double send_overhead(Node& node) {
  comm::Communicator& ranks = node.ranks();
  const Values message(1, 0.0);
  Values received(1);
  double seconds = 0;
  for (int round = 0; round < kRounds && ranks.size() > 1; ++round) {
    const auto begin = Clock::now();
    node.send((ranks.rank() + 1) % ranks.size(), message);
    seconds += seconds_since(begin) / kRounds;
    node.receive((ranks.rank() + ranks.size() - 1) % ranks.size(), received);
  }
  return seconds;
}

std::string list(const Values& values) { return fmt::format("[{:.9g}]", fmt::join(values, ", ")); }

/// A number of each rank as a list, on rank 0. Collective.
std::string gathered(Node& node, double value) { return list(gather(node, {&value, 1})); }

std::string names_of(const research::Program& program, const std::vector<std::size_t>& variables) {
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

double for_each_row(double seconds, double rows) { return rows > 0 ? seconds / rows : 0.0; }

std::string variables_text(Node& node) {
  std::string text;
  for (std::size_t i = 0; i < node.program().variables.size(); ++i) {
    const research::ProgramVariable& variable = node.program().variables[i];
    const MeasuredCosts& costs = node.costs();
    text += fmt::format("\n[[variable]]\nname = \"{}\"\nrow_bytes = {}\n", variable.name, variable.bytes);
    text += fmt::format("read_seconds = {}\n", gathered(node, for_each_row(costs.reading[i], costs.rows_read[i])));
    const std::string writing = gathered(node, for_each_row(costs.writing[i], costs.rows_written[i]));
    text += variable.read_only ? "access = \"read-only\"\n" : fmt::format("write_seconds = {}\n", writing);
  }
  return text;
}

std::string stage_text(Node& node, const research::ProgramStage& stage, double computing) {
  const bool replicated = stage.name == kReplicatedWork;
  std::string text = fmt::format("\n[[section.stage]]\nname = \"{}\"\n", stage.name);
  text += fmt::format("{} = {}\n", replicated ? "fixed" : "seconds", gathered(node, computing));
  if (!stage.reads.empty()) text += fmt::format("reads = {}\n", names_of(node.program(), stage.reads));
  if (!stage.writes.empty()) text += fmt::format("writes = {}\n", names_of(node.program(), stage.writes));
  if (stage.io == research::IoMode::kPrefetch) text += "io = \"prefetch\"\n";
  return text;
}

std::string sections_text(Node& node) {
  std::string text;
  std::size_t number = 0;
  const auto& sections = node.program().sections;
  for (std::size_t i = 0; i < sections.size(); ++i) {
    const research::ProgramSection& section = sections[i];
    text += fmt::format("\n[[section]]\nname = \"{}\"\ncommunication = \"{}\"\nmessage_bytes = {}\n", section.name,
                        word_of(section.communication), section.message_bytes);
    if (section.tiles > 1) text += fmt::format("tiles = {}\n", section.tiles);
    if (section.message_variable)
      text += fmt::format("message_variable = \"{}\"\n", node.program().variables[*section.message_variable].name);
    double combining = node.costs().combining[i];
    Values of_all = gather(node, {&combining, 1});
    if (section.communication == Communication::kReduction && !of_all.empty())
      text += fmt::format("reduce = {}\n", list(Values(of_all.size(), of_all.front())));
    for (const research::ProgramStage& stage : section.stages)
      text += stage_text(node, stage, node.costs().computing[number++]);
  }
  return text;
}

std::string cluster_text(Node& node, const MeasuredFiles& files, const Values& seconds_per_byte) {
  std::string text;
  for (int rank = 0; rank < node.ranks().size(); ++rank) {
    const auto place = static_cast<std::size_t>(rank);
    text += fmt::format("[[node]]\nname = \"{}-{}\"\nspeed = 1\n", node.ranks().host(rank), rank);
    if (!files.memory_bytes.empty()) text += fmt::format("memory = {:.0f}\n", files.memory_bytes[place]);
    if (seconds_per_byte[place] > 0)
      text += fmt::format("bandwidth = \"{:.6f}MB/s\"\n", 1e-6 / seconds_per_byte[place]);
  }
  return text;
}

void write_text(const std::string& path, const std::string& text) {
  io::OutputFile file(path);
  file.file().write(std::as_bytes(std::span(text)));
  file.publish(false);
}

}  // namespace

void write_measured(Node& node, const MeasuredFiles& files) {
  const Values shortest = half_round_trips(node, 1);
  const Values longest = half_round_trips(node, kLongMessage);
  Values seconds_per_byte(shortest.size(), 0.0);
  for (std::size_t i = 1; i < shortest.size(); ++i)
    seconds_per_byte[i] = std::max(0.0, longest[i] - shortest[i]) / (sizeof(double) * (kLongMessage - 1));
  const std::string sending = gathered(node, send_overhead(node));
  const double latency = *std::ranges::max_element(shortest);
  const research::Program& program = node.program();
  std::string text =
      fmt::format("name = \"{}\"\nrows = {}\niterations = {}\n", program.name, program.rows, files.iterations);
  text += fmt::format("measured_rows = {}\n", gathered(node, static_cast<double>(node.rows())));
  text += fmt::format("message = {{ send_overhead = {}, latency = {:.9g} }}\n", sending, latency);
  text += variables_text(node) + sections_text(node);
  if (node.ranks().rank() != 0) return;
  write_text(files.prefix + "-program.toml", text);
  write_text(files.prefix + "-cluster.toml", cluster_text(node, files, seconds_per_byte));
}

}  // namespace hetsort::research::programs
