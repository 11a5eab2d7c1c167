// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
//
// What the user asks of one sort: one struct a phase, and what all phases need.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <vector>

#include "io/compression/compress.h"
#include "io/format/content.h"
#include "io/format/header.h"
#include "io/temp/spill_packer.h"
#include "io/transfer/access.h"
#include "sort/model/record_order.h"
#include "sort/model/shares.h"
#include "sort/model/test_hooks.h"

namespace hetsort::sort {

/// Where the records come from.
struct InputOptions {
  /// Files in input order; empty or "-" = standard input. If the paths contain {rank}, which then all must, each rank
  /// has files of its own; otherwise each of several ranks takes its share of the files. Input order is rank by rank,
  /// within a rank as listed.
  std::vector<std::string> paths{};
  /// Only rank 0 has the inputs: it sends each rank its share. Costs one pass of the input over rank 0's network link.
  bool root_only = false;
  /// Each input is sorted: they are merged in one pass, which fails if one is not. Requires: one rank.
  bool sorted = false;
  /// The input of all ranks must have so many records; finds inputs that are cut short. Required for standard input
  /// that a launcher forwards (record_count.h).
  std::optional<std::uint64_t> expected_records{};
  /// What precedes the records of each input. Every output file begins with that of the first input; where it says the
  /// number of records, with its own number. Requires: records are lines where lines precede them.
  io::HeaderRule header{};
  /// What is checked in the first bytes of each input.
  io::ContentRules content{};
  /// Minimum bytes that a rank claims at once where ranks claim a shared input (claimed_segments.h). Smaller claims let
  /// ranks end closer together; larger ones need fewer messages.
  std::uint64_t min_claim_bytes = std::uint64_t{4} << 20;
};

/// How many records each rank reads and ends with.
struct ShareOptions {
  PlanShares output{};  ///< empty = equal shares
  PlanShares input{};   ///< shares of an input that rank 0 sends; empty = as the plan of `output` says
  /// Decide the output shares once runs are formed, by the rates that the ranks showed (measured_shares.h); `output` is
  /// planned with until then. Needs no knowledge of the machines, but the plan cannot be shown beforehand.
  /// Requires: several ranks.
  bool output_by_rates = false;
};

/// Where runs spill if memory has no room for them.
struct SpillOptions {
  std::vector<std::string> directories{"/var/tmp"};  ///< runs are striped over these
  bool directories_given = false;                    ///< the user named them: they are checked even if nothing spills
  /// Maximum number of runs that a rank merges at once, at least 2. Default: as many as memory has two blocks for.
  std::uint64_t max_merged_runs = std::numeric_limits<std::uint64_t>::max();
  /// Compressed blocks take less time on a slow disk and less space, and time of processors.
  io::SpillCompression compression = io::SpillCompression::kNo;
};

/// How a sort continues after the death of its process (sort/checkpoint/checkpoint.h).
struct CheckpointOptions {
  /// Runs are kept in these folders, striped, until the output is in place; then all is removed. Empty = none are kept.
  /// {rank} is the rank's number. Costs: everything spills, and each run is synced. Requires: inputs of known size that
  /// the ranks read themselves; `sorted` is off.
  std::vector<std::string> folders{};
  bool restart = false;  ///< begin anew, whatever is there
};

/// Where the sorted records go, and how they get there.
struct OutputOptions {
  /// "-" = standard output. With {rank} in it one file a rank; otherwise one file for all. Several are files that hold
  /// equal parts of a rank's output in this order: on several disks they are written at once. Requires then: {rank} in
  /// each if there are several ranks; not `unique`.
  std::vector<std::string> paths{"-"};
  bool sync = true;     ///< the output is on disk before it gets its name; costs the time that the disk needs
  bool verify = false;  ///< read it back from the disk before it gets its name; costs one read. Requires: sync
  /// Write only the first of records with equal keys. Requires: one output file or stream, written from front to back;
  /// not `verify`.
  bool unique = false;
  /// New files are readable and writable by their owner alone (mode 0600), instead of as the umask says.
  bool owner_only = false;
  /// How the output is compressed; none = as its name says (compression_of_name()). Requires, if it is: one output file
  /// or stream, written from front to back; not `verify`.
  std::optional<io::CompressionLevel> compression{};
  /// Write the number of each record in the input instead of the record. Requires: memory of one rank.
  bool places = false;
  bool checksum = false;  ///< also compute the sum of all records' CRC-32; costs about 20 ns a record
};

struct SortOptions {
  InputOptions input;
  ShareOptions shares;
  SpillOptions spill;
  CheckpointOptions checkpoint;
  OutputOptions output;
  RecordLayout layout;
  std::uint64_t memory_bytes = std::uint64_t{1} << 30;  ///< memory of this rank for records, indexes and blocks
  std::size_t threads = 1;                              ///< threads of this rank; fewer if memory is too small for them
  io::Access access{};                                  ///< the way in which files are read and written
  TestHooks hooks;
};

}  // namespace hetsort::sort
