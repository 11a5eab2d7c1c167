// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
//
// The cluster file: what is known of each node, as TOML (docs/formats/cluster.md describes the format).
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "problem.h"

namespace hetsort::partition {

/// Limits of a host of the laboratory, which are below those of the machine that emulates it. No plan depends on them.
struct HostLimits {
  std::optional<double> cores;
  std::optional<double> link_bytes_per_second;  ///< rate in each direction
  std::optional<double> latency_seconds;
};

/// By how much longer than the file's costs say a node takes in real sorts. The costs and rates of a ClusterNode
/// include them already.
struct LearnedFactors {
  double form = 1;      ///< time of the processor to form runs
  double exchange = 1;  ///< time of the processor to merge, send and receive
  double link = 1;
  double disk = 1;
};

/// One [[node]] of a cluster file; `count` equal nodes become as many entries of the same name.
struct ClusterNode {
  std::string name;             ///< host name; the node's number when the file gives none
  std::optional<double> speed;  ///< relative
  CostPtr compute;              ///< seconds for n records; null = only a speed is known
  CostPtr receive;              ///< seconds to get n records from the root; null = unknown
  std::optional<std::int64_t> memory_bytes;
  std::optional<double> disk_read_bytes_per_second;
  std::optional<double> disk_write_bytes_per_second;
  CostPtr merge;  ///< seconds to merge n records, linear; null = unknown
  /// Bytes received and sent in a second of processor time.
  std::optional<double> message_in_bytes_per_second;
  std::optional<double> message_out_bytes_per_second;
  std::optional<double> link_in_bytes_per_second;
  std::optional<double> link_out_bytes_per_second;
  LearnedFactors learned{};
  HostLimits limits{};
  bool root = false;       ///< holds the data of a scatter
  std::size_t number = 0;  ///< see numbers_of_names()
  std::size_t line = 0;    ///< line in the cluster file; 0 = in no file
  std::size_t column = 0;  ///< column of the node in that line
};

struct Cluster {
  double start_seconds = 0;                            ///< time of a job before any node begins
  double select_seconds = 0;                           ///< time between forming runs and the exchange
  double publish_seconds = 0;                          ///< time after the exchange
  std::optional<double> shared_link_bytes_per_second;  ///< limit of all nodes together; likewise the next two
  std::optional<double> shared_disk_read_bytes_per_second;
  std::optional<double> shared_disk_write_bytes_per_second;
  std::vector<ClusterNode> nodes;
  LinkMatrix link_bytes_per_second{};  ///< rate from the node of the row to the node of the column; empty = not known
  std::int64_t record_bytes = 0;       ///< size of the records that the costs were measured for; 0 = not known
  std::vector<std::string> keys{};     ///< their keys, as a sort is asked for them; empty = its usual key
  std::string source_name{};           ///< name of the file, for messages

  /// The node with root = true, if any. At most one has it.
  std::optional<std::size_t> root() const;
  /// "grid.toml:12:1: " for messages about a node; empty if it is in no file.
  std::string place_of(std::size_t node) const;
};

/// Reads a cluster file's text; `source_name` stands in the messages, as in "grid.toml:12:3: unknown field 'sped'".
/// Throws: PlanError with line and column for anything that is not the format: syntax, unknown fields and kinds
/// (listing the known ones), missing fields, values out of range, nesting beyond 16 levels; without line and column for
/// more than 256 MiB of text, more than 1,000,000 nodes or none. Complexity: O(text). Thread safety: pure.
Cluster parse_cluster(std::string_view text, std::string_view source_name);

struct ClusterUse {
  CostPtr shape = nlogn_cost();     ///< cost of a node with nothing but a speed: shape / speed
  std::int64_t record_bytes = 100;  ///< turns bytes into records
  bool memory_caps = true;          ///< a node takes no more records than fit in its memory
  bool synced = true;               ///< a whole run waits until its output is on the disk
  /// The records that fit a memory of so many bytes; by default only the records themselves take memory.
  std::function<std::int64_t(std::int64_t memory_bytes)> records_in_memory{};
  /// Part of each node's input, 0 to 1, that is in the page cache when a whole run begins; empty = nothing is.
  std::vector<double> input_cached{};
  /// Nodes whose output a run waits for although it is not synced; empty = none.
  std::vector<bool> writes_directly{};

  std::int64_t records_in(std::int64_t memory_bytes) const {
    return records_in_memory ? records_in_memory(memory_bytes) : memory_bytes / record_bytes;
  }
};

/// The cluster with only the nodes at these places, in that order.
Cluster select_nodes(const Cluster& cluster, std::span<const std::size_t> places);

/// The shares problem for these nodes, in file order. Costs are the compute costs (seconds) when all nodes have one,
/// else shape / speed (work units, to which no start is added) when all have a speed. arrange_scatter makes a scatter
/// of it. Throws: PlanError naming a node that has what others have not, or whose memory is to cap its records and
/// holds none; or a record size below 1.
Problem problem_from_cluster(const Cluster& cluster, std::int64_t records, const ClusterUse& use = {});

/// Adds the resources of the nodes to a problem that problem_from_cluster made of the same file. Nodes of one name are
/// ranks of one host. A rate that no node has is unlimited. If the file does not suffice, problem.run_missing says why,
/// with the place in the file.
void add_run_model(Problem& problem, const Cluster& cluster, const ClusterUse& use);

}  // namespace hetsort::partition
