// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
//
// The sort: one driver, one call a phase.
#pragma once

#include <cstdint>
#include <functional>
#include <stdexcept>
#include <string>
#include <vector>

#include "comm/communicator.h"
#include "io/access.h"
#include "sort/input/input_segments.h"
#include "sort/monitor.h"
#include "sort/output/order_verifier.h"
#include "sort/plan/memory_plan.h"
#include "sort/plan/shares.h"
#include "sort/record_layout.h"

namespace hetsort::sort {

struct Claim;  // claim_table.h

struct SortOptions {
  /// Empty or "-" = standard input. With {rank} in them, which then all have, each rank's own files; without, of
  /// several ranks each takes its share of them. Input order is rank by rank, within a rank as listed.
  std::vector<std::string> inputs;
  /// "-" = standard output. With {rank} in it one file a rank; without, one file for all.
  std::string output = "-";
  bool root_input = false;    ///< only rank 0 has the inputs: it sends each rank its share
  PlanShares shares{};        ///< empty = equal
  PlanShares input_shares{};  ///< of an input that the ranks divide; empty = the same as `shares`
  /// Output shares are decided once runs are formed, by the rates that the ranks showed (measured_shares.h); `shares`
  /// is what is planned with until then. Requires: several ranks.
  bool output_by_rates = false;
  std::function<Work(const Work& measured)> judge_work{};  ///< for tests: takes the place of what was measured
  /// With output_by_rates the ranks claim an input that all see piece by piece (claimed_segments.h), at least so many
  /// bytes at once: small ones let ranks end together, large ones are few messages. For tests: any size works.
  std::uint64_t claim_bytes = std::uint64_t{4} << 20;
  std::function<void(const Claim&)> on_claim{};  ///< for tests: called with each claim, the last one empty
  TakeSegments segments{};  ///< empty = by parts of the shares; unused where a stream's size is not known
  RecordLayout layout;
  std::uint64_t memory_bytes = std::uint64_t{1} << 30;
  std::size_t threads = 1;
  std::vector<std::string> temp_directories{"/var/tmp"};  ///< runs that spill are striped over these
  bool temp_given = false;  ///< the user named them: they are checked even if nothing spills
  io::Access access{};      ///< how files are read and written
  bool sync = true;         ///< the output is on disk before it gets its name
  bool checksum = false;    ///< also sum the CRC-32 of all records
  /// Bytes of a spilled or exchanged block at most; 0 = what memory and devices ask for. For tests: any size works.
  std::uint64_t block_bytes = 0;
};

/// The request cannot be carried out as it stands. Exit code 2.
class RequestError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// Throws: RequestError when record or key are outside their limits or the key reaches beyond the record.
void check_layout(const RecordLayout& layout);

/// What one rank did; what is known of it when a run fails.
struct RankResult {
  MultisetDigest input;
  MultisetDigest output;
  MultisetDigest all;  ///< of all ranks, once proven
  std::uint64_t planned_input_records = 0;
  std::uint64_t planned_output_records = 0;
  Work work;  ///< in phase form_runs
  std::string strategy = "equal";
  double predicted_seconds = 0;  ///< 0 = nothing was predicted in seconds
  std::string checksum;          ///< empty unless asked for
  std::uint64_t runs = 0;
  std::uint64_t bytes_spilled = 0;
  std::size_t threads = 1;
  bool in_memory = false;
  bool output_untouched = true;  ///< what stood at the output's path still does
};

/// What will be done, after all checks that need no record to be read.
struct SortPlan {
  MemoryPlan memory;
  std::uint64_t records = 0;      ///< of all ranks; 0 for a stream
  std::uint64_t input_bytes = 0;  ///< 0 for a stream
  bool stream = false;
  bool spills = false;             ///< on some rank, and therefore on all
  std::uint64_t temp_bytes = 0;    ///< needed in the temp directories together
  std::uint64_t output_bytes = 0;  ///< needed where the output goes
  bool one_merge_pass = true;
  bool claims = false;  ///< the ranks claim the input piece by piece
};

/// Checks the request as sort_records() does and plans it. Reads no record, but for a stream that rank 0 has to share
/// out. Collective. Throws: RequestError, io::Error, PeerFailed.
SortPlan plan_sort(const SortOptions& options, comm::Communicator& ranks);

/// Sorts. On return the output is complete, proven and in place; on a throw what stood there is untouched, and `result`
/// holds what was known by then.
/// Collective: all ranks of `ranks`. Stable: ties stay in input order. Allocates: options.memory_bytes and a few MiB a
/// thread. Throws: RequestError, ProofError, io::Error, std::bad_alloc.
void sort_records(const SortOptions& options, comm::Communicator& ranks, Monitor& monitor, RankResult& result);

}  // namespace hetsort::sort
