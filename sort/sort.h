// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
//
// The sort: one driver, one call a phase.
#pragma once

#include <cstdint>
#include <stdexcept>
#include <string>
#include <vector>

#include "io/access.h"
#include "sort/audit.h"
#include "sort/comm/communicator.h"
#include "sort/memory_plan.h"
#include "sort/monitor.h"
#include "sort/record_layout.h"

namespace hetsort::sort {

struct SortOptions {
  std::vector<std::string> inputs;  ///< empty or "-" = standard input
  std::string output = "-";         ///< "-" = standard output
  RecordLayout layout;
  std::uint64_t memory_bytes = std::uint64_t{1} << 30;
  std::size_t threads = 1;
  std::vector<std::string> temp_directories{"/var/tmp"};  ///< runs that spill are striped over these
  bool temp_given = false;  ///< the user named them: they are checked even if nothing spills
  io::Access access{};      ///< how files are read and written
  bool sync = true;         ///< the output is on disk before it gets its name
  bool checksum = false;    ///< also sum the CRC-32 of all records
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
  Tally input;
  Tally output;
  std::string checksum;  ///< empty unless asked for
  std::uint64_t runs = 0;
  std::uint64_t bytes_spilled = 0;
  std::size_t threads = 1;
  bool in_memory = false;
  bool output_untouched = true;  ///< what stood at the output's path still does
};

/// What will be done, after all checks that need no record to be read.
struct SortPlan {
  MemoryPlan memory;
  std::uint64_t input_bytes = 0;  ///< 0 for a stream
  bool stream = false;
  std::uint64_t temp_bytes = 0;    ///< needed in the temp directories together
  std::uint64_t output_bytes = 0;  ///< needed where the output goes
  bool one_merge_pass = true;
};

/// Checks the request as sort_records() does and plans it. Reads no record. Throws: RequestError, io::Error.
SortPlan plan_sort(const SortOptions& options);

/// Sorts. On return the output is complete, proven and in place; on a throw what stood there is untouched, and `result`
/// holds what was known by then.
/// Collective: all ranks of `ranks`. Stable: ties stay in input order. Allocates: options.memory_bytes and a few MiB a
/// thread. Throws: RequestError, ProofError, io::Error, std::bad_alloc.
void sort_records(const SortOptions& options, Communicator& ranks, Monitor& monitor, RankResult& result);

}  // namespace hetsort::sort
