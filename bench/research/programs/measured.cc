// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
#include "bench/research/programs/measured.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <future>
#include <utility>

#include "bench/research/mheta/write_program.h"
#include "bench/research/programs/programs.h"
#include "io/publish.h"

namespace hetsort::research::programs {
namespace {

using Clock = std::chrono::steady_clock;
using research::NodeNumbers;
using research::Program;
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

double median(Values values) {
  std::ranges::sort(values);
  return values.empty() ? 0.0 : values[values.size() / 2];
}

/// Median seconds of a call.
template <typename Call>
double median_seconds(Call call) {
  Values times;
  for (int round = 0; round < kRounds; ++round) {
    const auto begin = Clock::now();
    call();
    times.push_back(seconds_since(begin));
  }
  return median(std::move(times));
}

/// A number of each rank, for all of them on rank 0. Collective.
NodeNumbers gathered(Node& node, double value) { return {.values = gather(node, {&value, 1}), .by_node = true}; }

/// O_r, O_w and O_A: what a block takes beside its bytes. Collective.
void measure_blocks(Node& node, Program& program) {
  const RunSettings& settings = node.settings();
  const auto own = static_cast<std::size_t>(node.ranks().rank());
  const double rate = settings.disk_bytes_per_second.empty() ? 0.0 : settings.disk_bytes_per_second[own];
  Array array({.rows = 1, .columns = 1}, settings.folder, rate);
  Values value(1);
  program.write_overhead = gathered(node, median_seconds([&] { array.write(0, 0, value); }));
  program.read_overhead = gathered(node, median_seconds([&] { array.read(0, 0, value); }));
  program.prefetch_overhead = gathered(node, median_seconds([] { std::async(std::launch::async, [] {}).get(); }));
}

/// O_S and what it takes to receive a message that has arrived. Collective.
void measure_messages(Node& node, Program& program) {
  comm::Communicator& ranks = node.ranks();
  const Values message(1, 0.0);
  Values received(1);
  Values sends;
  Values receives;
  for (int round = 0; round < kRounds && ranks.size() > 1; ++round) {
    const auto begin = Clock::now();
    node.send((ranks.rank() + 1) % ranks.size(), message);
    sends.push_back(seconds_since(begin));
    ranks.barrier();
    const auto sent = Clock::now();
    node.receive((ranks.rank() + ranks.size() - 1) % ranks.size(), received);
    receives.push_back(seconds_since(sent));
  }
  program.send_overhead = gathered(node, median(std::move(sends)));
  program.receive_overhead = gathered(node, median(std::move(receives)));
}

double for_each_row(double seconds, double rows) { return rows > 0 ? seconds / rows : 0.0; }

/// Puts what the ranks have measured into the program. Collective.
void add_costs(Node& node, Program& program) {
  const MeasuredCosts& costs = node.costs();
  for (std::size_t i = 0; i < program.variables.size(); ++i) {
    program.variables[i].read_seconds = gathered(node, for_each_row(costs.reading[i], costs.rows_read[i]));
    program.variables[i].write_seconds = gathered(node, for_each_row(costs.writing[i], costs.rows_written[i]));
  }
  std::size_t number = 0;
  for (std::size_t i = 0; i < program.sections.size(); ++i) {
    research::ProgramSection& section = program.sections[i];
    section.reduce = gathered(node, costs.combining[i]);
    // The first rank combines.
    if (!section.reduce.values.empty())
      section.reduce.values.assign(section.reduce.values.size(), section.reduce.values.front());
    for (research::ProgramStage& stage : section.stages) {
      const double computing = costs.computing[number++];
      const bool replicated = stage.name == kReplicatedWork;
      (replicated ? stage.fixed : stage.per_row) =
          gathered(node, replicated ? computing : for_each_row(computing, static_cast<double>(node.rows())));
    }
  }
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
  Program program = node.program();
  program.iterations = files.iterations;
  program.latency = *std::ranges::max_element(shortest);
  measure_messages(node, program);
  measure_blocks(node, program);
  add_costs(node, program);
  if (node.ranks().rank() != 0) return;
  write_text(files.prefix + "-program.toml", research::program_text(program));
  write_text(files.prefix + "-cluster.toml", cluster_text(node, files, seconds_per_byte));
}

}  // namespace hetsort::research::programs
