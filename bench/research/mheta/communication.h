// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
//
// How sections end (Nakazawa 2005, 5.3.2 to 5.3.4). Each function advances the clocks of the nodes. Internal to the
// library.
//
// O-> and O<- are the overheads of a message at its two ends, T_w the time that a node waits, T_i->j the time that a
// message is under way. A node has advanced by T_tau, its stages, when it begins.
//
// An all-to-all, which the thesis leaves open, needs something of every node: all begin when the last one has ended its
// stages. Node i has a_i of N rows before and b_i after. It sends a_i (1 - b_i / N) rows and receives b_i (1 - a_i /
// N). Its processor, the two directions of its link, its disk and what all nodes share work in parallel; the slowest
// counts.
#pragma once

#include <span>
#include <vector>

#include "bench/research/mheta/stage_times.h"

namespace hetsort::research {

/// The state of one prediction.
struct ProgramClocks {
  std::vector<std::size_t> active;  ///< nodes that have rows, ascending
  std::vector<NodeRows> rows;       ///< rows of each node; likewise the next two vectors
  std::vector<MemoryDivision> memory;
  std::vector<double> clock;      ///< seconds since the iteration began
  std::vector<double> earlier{};  ///< scratch space for times
};

/// A section, and the number of its first stage, counted over all sections.
struct SectionOfProgram {
  const ProgramSection& section;
  std::size_t number = 0;
  std::size_t first_stage = 0;
};

/// Overheads of one message.
struct MessageCost {
  double send = 0;     ///< O->(q) = O_S(q), and O_r + r(M_q) if it is read from the disk
  double receive = 0;  ///< O<-(q)
};
MessageCost message_cost(const ProgramModel& model, const ProgramSection& section, std::size_t node,
                         const MemoryDivision& memory);

/// Nearest-neighbour communication: equations 5.3, 5.6, 5.11 and 5.12.
void exchange_with_neighbours(const ProgramModel& model, const SectionOfProgram& of, ProgramClocks& state,
                              std::vector<partition::NodeTimes>& times);
/// Reduction: equations 5.7, 5.8, 5.9 and their forms for many nodes, with the erratum that the master's sends come
/// after it has waited.
void reduce_values(const ProgramModel& model, const SectionOfProgram& of, ProgramClocks& state,
                   std::vector<partition::NodeTimes>& times);
/// Pipeline: equations 5.4, 5.5, 5.10 and the recurrence for many nodes. Includes the stages, tile by tile.
void run_pipeline(const ProgramModel& model, const SectionOfProgram& of, ProgramClocks& state,
                  std::vector<partition::NodeTimes>& times);
/// All-to-all. Includes the stages of the section that stream.
void exchange_among_all(const ProgramModel& model, const SectionOfProgram& of, ProgramClocks& state,
                        std::vector<partition::NodeTimes>& times);

/// For each node, sums over all nodes of its host.
struct HostSums {
  std::vector<NodeRows> rows;
  std::vector<double> excess;
};
HostSums sums_of_hosts(const ProgramModel& model, const ProgramClocks& state);

/// The streaming stages of a section on each node, without communication.
void stream_stages(const ProgramModel& model, const SectionOfProgram& of, ProgramClocks& state,
                   std::vector<partition::NodeTimes>& times);

}  // namespace hetsort::research
