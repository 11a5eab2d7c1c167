// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "bench/research/mheta/communication.h"

namespace hetsort::research {
namespace {

double per_byte(const std::optional<double>& rate) { return rate ? 1 / *rate : 0.0; }

double crossing_rows(double from, double to, double all) { return all > 0 ? from * (1 - to / all) : 0.0; }

/// The time of the disk that all nodes share, for all of them together.
double shared_disk_load(const ProgramModel& model, const SectionOfProgram& of, const ProgramClocks& state) {
  const double read = per_byte(model.shared().disk_read);
  const double write = per_byte(model.shared().disk_write);
  if (read == 0 && write == 0) return 0;
  double seconds = 0;
  for (const std::size_t node : state.active) {
    const double excess = excess_rows(model, node, state.rows[node]);
    const auto bytes = [&](std::size_t place) {
      const ProgramVariable& variable = model.program().variables[place];
      if (variable.storage == Storage::kExcess) return variable.bytes * excess;
      return variable.bytes * (variable.distributed ? state.rows[node].of(variable.side) : 1.0);
    };
    for (const ProgramStage& stage : of.section.stages) {
      if (stage.io != IoMode::kStreaming) continue;
      for (const std::size_t place : stage.reads) seconds += read * bytes(place);
      for (const std::size_t place : stage.writes) seconds += write * bytes(place);
    }
  }
  return seconds;
}

/// Whether the node computes in a stage of the section, or moves rows in its all-to-all.
bool takes_part(const SectionOfProgram& of, const NodeRows& rows) {
  if (of.section.communication == Communication::kAllToAll) return rows.any();
  return std::ranges::any_of(of.section.stages, [&](const ProgramStage& stage) { return rows.of(stage.side) > 0; });
}

/// The times of a node's own resources.
struct NodeLoad {
  StreamLoad stream;
  double send = 0;  ///< processor time for sending
  double receive = 0;
  double link_out = 0;
  double link_in = 0;
  double shared_link = 0;
  double shared_disk = 0;
};

/// Books the seconds of the slowest resource: those of the processor first, then what others take longer.
double book_slowest(const NodeLoad& load, partition::NodeTimes& times) {
  const double processor = load.stream.computing + load.send + load.receive;
  const double disk = load.stream.reading + load.stream.writing;
  const double slowest = std::max({processor, disk, load.link_out, load.link_in, load.shared_link, load.shared_disk});
  const double more = slowest - processor;
  times.computing += load.stream.computing;
  times.sending += load.send;
  times.receiving += load.receive;
  if (more == 0) return slowest;
  if (slowest == disk) {
    times.reading += more * load.stream.reading / disk;
    times.writing += more * load.stream.writing / disk;
  } else if (slowest == load.link_out) {
    times.sending += more;
  } else if (slowest == load.link_in) {
    times.receiving += more;
  } else {
    times.blocked += more;  // other nodes use what is shared
  }
  return slowest;
}

StreamLoad streams_of(const ProgramModel& model, const SectionOfProgram& of, const ProgramClocks& state,
                      const HostSums& hosts, std::size_t node) {
  StreamLoad sum;
  for (std::size_t i = 0; i < of.section.stages.size(); ++i) {
    const ProgramStage& stage = of.section.stages[i];
    if (stage.io != IoMode::kStreaming) continue;
    const StreamLoad one =
        stream_load(model, {stage, of.first_stage + i, node}, state.rows[node], hosts.rows[node], hosts.excess[node]);
    sum.computing += one.computing;
    sum.reading += one.reading;
    sum.writing += one.writing;
  }
  return sum;
}

}  // namespace

HostSums sums_of_hosts(const ProgramModel& model, const ProgramClocks& state) {
  std::size_t hosts = 0;
  for (const std::size_t node : state.active) hosts = std::max(hosts, model.host(node) + 1);
  HostSums of_hosts{std::vector<NodeRows>(hosts), std::vector<double>(hosts, 0.0)};
  for (const std::size_t node : state.active) {
    NodeRows& sum = of_hosts.rows[model.host(node)];
    sum.input += state.rows[node].input;
    sum.output += state.rows[node].output;
    of_hosts.excess[model.host(node)] += excess_rows(model, node, state.rows[node]);
  }
  HostSums by_node{std::vector<NodeRows>(model.nodes()), std::vector<double>(model.nodes(), 0.0)};
  for (const std::size_t node : state.active) {
    by_node.rows[node] = of_hosts.rows[model.host(node)];
    by_node.excess[node] = of_hosts.excess[model.host(node)];
  }
  return by_node;
}

void stream_stages(const ProgramModel& model, const SectionOfProgram& of, ProgramClocks& state,
                   std::vector<partition::NodeTimes>& times) {
  const HostSums hosts = sums_of_hosts(model, state);
  const double shared = shared_disk_load(model, of, state);
  for (const std::size_t node : state.active) {
    if (!takes_part(of, state.rows[node])) continue;
    NodeLoad load{.stream = streams_of(model, of, state, hosts, node)};
    load.shared_disk = shared;
    state.clock[node] += book_slowest(load, times[node]);
  }
}

void exchange_among_all(const ProgramModel& model, const SectionOfProgram& of, ProgramClocks& state,
                        std::vector<partition::NodeTimes>& times) {
  const HostSums hosts = sums_of_hosts(model, state);
  NodeRows all;
  double begin = 0;
  for (const std::size_t node : state.active) {
    all.input += state.rows[node].input;
    all.output += state.rows[node].output;
    begin = std::max(begin, state.clock[node]);
  }
  double shared_link = 0;
  if (const double seconds = per_byte(model.shared().link) * of.section.bytes_per_row; seconds > 0)
    for (const std::size_t node : state.active)
      shared_link += seconds * crossing_rows(state.rows[node].input, hosts.rows[node].output, all.output);
  const double shared_disk = shared_disk_load(model, of, state);
  const auto others = static_cast<double>(state.active.empty() ? 0 : state.active.size() - 1);
  for (const std::size_t node : state.active) {
    const NodeOverheads& overheads = model.overheads(node);
    const NodeRows& own = state.rows[node];
    const NodeRows& host = hosts.rows[node];
    const double bytes = of.section.bytes_per_row;
    NodeLoad load{.stream = streams_of(model, of, state, hosts, node)};
    load.send =
        others * overheads.send + overheads.message.out * bytes * crossing_rows(own.input, own.output, all.output);
    load.receive =
        others * overheads.receive + overheads.message.in * bytes * crossing_rows(own.output, own.input, all.input);
    load.link_out = overheads.link_out * bytes * crossing_rows(host.input, host.output, all.output);
    load.link_in = overheads.link_in * bytes * crossing_rows(host.output, host.input, all.input);
    load.shared_link = shared_link;
    load.shared_disk = shared_disk;
    times[node].blocked += begin - state.clock[node];
    state.clock[node] = begin + book_slowest(load, times[node]);
  }
}

}  // namespace hetsort::research
