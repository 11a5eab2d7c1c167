// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
//
// An iterative program as the model MHETA sees it (Nakazawa 2005, chapter 5): rows that are distributed over nodes, and
// an iteration that is a list of parallel sections. A section is a list of stages and ends in communication. A stage
// computes over its rows and reads and writes variables.
#pragma once

#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "partition/cost.h"

namespace hetsort::research {

/// A number that all nodes have in common, or one for each node.
struct NodeNumbers {
  std::vector<double> values{0.0};
  bool by_node = false;
  std::string_view field{};  ///< its name in the file, for messages
  std::string place{};       ///< "jacobi.toml:12:3: ", for messages; empty = in no file

  double of(std::size_t node) const { return values[by_node ? node : 0]; }
};

/// Where a variable is between its uses.
enum class Storage {
  kArray,   ///< kept in memory if it fits there, else on the disk; a stage then passes over it in blocks
  kFile,    ///< always on the disk
  kExcess,  ///< memory holds what fits and the disk holds the rest, as with the runs of a sort
};

/// Selects the rows that a node has before an all-to-all, or after it. They differ in a sort only.
enum class RowSide { kInput, kOutput };

struct ProgramVariable {
  std::string name;
  bool distributed = true;  ///< all nodes share its rows; otherwise each node has a copy of its own
  bool read_only = false;
  Storage storage = Storage::kArray;
  RowSide side = RowSide::kInput;
  double bytes = 0;                         ///< bytes of a row; of the whole variable if it is replicated
  std::optional<NodeNumbers> read_seconds;  ///< measured, for these bytes; none = by the rate of the node's disk
  std::optional<NodeNumbers> write_seconds;
};

enum class IoMode {
  kBlocking,   ///< read a block, compute, write it: equation 5.1
  kPrefetch,   ///< the next block is read while one is computed: equation 5.2 and the unrolled loop of Fig. 5.7
  kStreaming,  ///< reading, computing and writing overlap fully: the limit of kPrefetch for many small blocks
};

struct ProgramStage {
  std::string name;
  RowSide side = RowSide::kInput;         ///< rows that the stage computes over
  NodeNumbers per_row;                    ///< seconds for each row; a number for all nodes is that of a node of speed 1
  NodeNumbers fixed;                      ///< seconds whatever the rows, as for replicated variables; likewise
  std::vector<partition::CostPtr> costs;  ///< seconds for n rows: none, that of a node of speed 1, or one for each node
  bool cost_by_node = false;              ///< one for each node
  std::vector<std::size_t> reads;         ///< variables, by their places in the program
  std::vector<std::size_t> writes;
  IoMode io = IoMode::kBlocking;
};

enum class Communication { kNone, kNearestNeighbour, kReduction, kPipeline, kAllToAll };

struct ProgramSection {
  std::string name;
  std::vector<ProgramStage> stages;
  Communication communication = Communication::kNone;
  double message_bytes = 0;                     ///< bytes of each message; not used by an all-to-all
  std::optional<std::size_t> message_variable;  ///< variable that holds the message: on disk, it is read first
  std::int64_t tiles = 1;                       ///< tiles of a pipeline; each is computed and sent on by itself
  double bytes_per_row = 0;                     ///< bytes that an all-to-all moves for each row
  NodeNumbers reduce;                           ///< seconds to combine the values of a reduction on the first node
  std::string place{};                          ///< position of the communication in the file, for messages
};

struct Program {
  std::string name;
  std::int64_t rows = 0;
  std::int64_t iterations = 1;
  NodeNumbers read_overhead;      ///< seconds, O_r: for each block that is read; the next ones likewise
  NodeNumbers write_overhead;     ///< O_w
  NodeNumbers prefetch_overhead;  ///< O_A
  NodeNumbers send_overhead;      ///< O_S: for each message
  NodeNumbers receive_overhead;
  double latency = 0;  ///< seconds that a message is under way, beside the time for its bytes
  std::vector<ProgramVariable> variables;
  std::vector<ProgramSection> sections;
};

constexpr double kUnlimited = std::numeric_limits<double>::infinity();

}  // namespace hetsort::research
