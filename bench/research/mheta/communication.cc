// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
#include "bench/research/mheta/communication.h"

#include <algorithm>

namespace hetsort::research {
namespace {

/// T_i->j(q).
double transit_seconds(const ProgramModel& model, double bytes, std::size_t from, std::size_t to) {
  return model.program().latency + bytes * std::max(model.overheads(from).link_out, model.overheads(to).link_in);
}

/// The node waits until `arrival`, if that is later than its clock.
void wait_until(double arrival, std::size_t node, ProgramClocks& state, std::vector<partition::NodeTimes>& times) {
  const double waits = std::max(0.0, arrival - state.clock[node]);
  times[node].blocked += waits;
  state.clock[node] += waits;
}

void send_messages(double seconds, std::size_t node, ProgramClocks& state, std::vector<partition::NodeTimes>& times) {
  times[node].sending += seconds;
  state.clock[node] += seconds;
}

void receive_messages(double seconds, std::size_t node, ProgramClocks& state,
                      std::vector<partition::NodeTimes>& times) {
  times[node].receiving += seconds;
  state.clock[node] += seconds;
}

}  // namespace

MessageCost message_cost(const ProgramModel& model, const ProgramSection& section, std::size_t node,
                         const MemoryDivision& memory) {
  const NodeOverheads& overheads = model.overheads(node);
  MessageCost cost{overheads.send + section.message_bytes * overheads.message.out,
                   overheads.receive + section.message_bytes * overheads.message.in};
  if (section.message_variable && on_disk(model, *section.message_variable, memory)) {
    const double bytes = model.program().variables[*section.message_variable].bytes;
    cost.send += overheads.read + model.read_seconds(*section.message_variable, node) * section.message_bytes / bytes;
  }
  return cost;
}

void exchange_with_neighbours(const ProgramModel& model, const SectionOfProgram& of, ProgramClocks& state,
                              std::vector<partition::NodeTimes>& times) {
  const double bytes = of.section.message_bytes;
  std::vector<double>& lower_sent = state.earlier;  // when the message to the node before is sent
  lower_sent.assign(state.active.size(), 0.0);
  const std::size_t count = state.active.size();
  for (std::size_t place = 0; place < count; ++place) {
    const std::size_t node = state.active[place];
    const double send = message_cost(model, of.section, node, state.memory[node]).send;
    lower_sent[place] = state.clock[node] + send;  // 5.11: T_tau(i) + N->(i,i') O->(q), this one first
    const int messages = (place > 0 ? 1 : 0) + (place + 1 < count ? 1 : 0);
    send_messages(messages * send, node, state, times);
  }
  double upper_sent = 0;  // when the node before has sent its last message, the one to this node
  for (std::size_t place = 0; place < count; ++place) {
    const std::size_t node = state.active[place];
    const double receive = message_cost(model, of.section, node, state.memory[node]).receive;
    const double own_sent = state.clock[node];
    double arrival = 0;  // 5.12: when the message of the slowest sender arrives
    if (place > 0) arrival = upper_sent + transit_seconds(model, bytes, state.active[place - 1], node);
    if (place + 1 < count)
      arrival = std::max(arrival, lower_sent[place + 1] + transit_seconds(model, bytes, state.active[place + 1], node));
    wait_until(arrival, node, state, times);
    const int messages = (place > 0 ? 1 : 0) + (place + 1 < count ? 1 : 0);
    receive_messages(messages * receive, node, state, times);  // 5.6 is the sum of all three
    upper_sent = own_sent;
  }
}

void reduce_values(const ProgramModel& model, const SectionOfProgram& of, ProgramClocks& state,
                   std::vector<partition::NodeTimes>& times) {
  if (state.active.empty()) return;
  const std::size_t master = state.active.front();
  const double bytes = of.section.message_bytes;
  double last = 0;  // 5.3 and 5.12 with the erratum: only T_tau(0) is subtracted
  for (std::size_t place = 1; place < state.active.size(); ++place) {
    const std::size_t node = state.active[place];
    send_messages(message_cost(model, of.section, node, state.memory[node]).send, node, state, times);
    last = std::max(last, state.clock[node] + transit_seconds(model, bytes, node, master));
  }
  wait_until(last, master, state, times);
  const MessageCost at_master = message_cost(model, of.section, master, state.memory[master]);
  const auto workers = static_cast<double>(state.active.size() - 1);
  receive_messages(workers * at_master.receive, master, state, times);
  const double combine = model.reduce_seconds(of.number, master);  // T_r of 5.7
  times[master].computing += combine;
  state.clock[master] += combine;
  for (std::size_t place = 1; place < state.active.size(); ++place) {
    const std::size_t node = state.active[place];
    send_messages(at_master.send, master, state, times);
    const double arrival = state.clock[master] + transit_seconds(model, bytes, master, node);  // 5.8: T_alpha(i)
    wait_until(arrival, node, state, times);                                                   // 5.9
    receive_messages(message_cost(model, of.section, node, state.memory[node]).receive, node, state, times);
  }
}

void run_pipeline(const ProgramModel& model, const SectionOfProgram& of, ProgramClocks& state,
                  std::vector<partition::NodeTimes>& times) {
  const auto tiles = static_cast<std::size_t>(of.section.tiles);
  std::vector<double>& sent = state.earlier;  // T_p(i-1, j): when the node before has sent tile j
  sent.assign(tiles, 0.0);
  for (std::size_t place = 0; place < state.active.size(); ++place) {
    const std::size_t node = state.active[place];
    partition::NodeTimes tile;
    for (std::size_t i = 0; i < of.section.stages.size(); ++i) {
      const StageOfNode stage{of.section.stages[i], of.first_stage + i, node, static_cast<double>(tiles)};
      const partition::NodeTimes one = stage_times(model, stage, state.rows[node], state.memory[node]);
      tile.computing += one.computing;
      tile.reading += one.reading;
      tile.writing += one.writing;
    }
    const MessageCost message = message_cost(model, of.section, node, state.memory[node]);
    const bool first = place == 0;  // 5.4: it does not wait
    const bool last = place + 1 == state.active.size();
    const double transit =
        first ? 0.0 : transit_seconds(model, of.section.message_bytes, state.active[place - 1], node);
    for (double& tile_sent : sent) {
      if (!first) {
        wait_until(tile_sent + transit, node, state, times);  // 5.5; the clock is T_p(i, j-1)
        receive_messages(message.receive, node, state, times);
      }
      state.clock[node] += tile.seconds();
      if (!last) send_messages(message.send, node, state, times);
      tile_sent = state.clock[node];
    }
    const auto count = static_cast<double>(tiles);
    times[node].computing += count * tile.computing;
    times[node].reading += count * tile.reading;
    times[node].writing += count * tile.writing;
  }
}

}  // namespace hetsort::research
