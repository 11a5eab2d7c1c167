// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
//
// Phase plan_shares: everything that can be known and checked before records are read, except for the first bytes of
// each input, which show its format.
//
// In: what was opened. Out: on each rank the shares of all ranks, and how memory and disk will be used. Where measured
// rates decide the output's shares later (share_output.h), space is planned for the shares known by now.
// Idea: the ranks exchange what they have; then every rank computes the same decision independently. A rank spills what
// does not fit of its own records in its own memory. The blocks of the exchange have the same size on all ranks. Cost:
// a few system calls a file; a few reductions of O(ranks) numbers, and some more for each rank that spills.
#pragma once

#include <memory>
#include <optional>
#include <span>

#include "sort/input/claimed_segments.h"
#include "sort/input/input.h"
#include "sort/machine/disk_rates.h"
#include "sort/model/input_segments.h"
#include "sort/model/measured_shares.h"
#include "sort/model/memory_plan.h"
#include "sort/model/monitor.h"
#include "sort/model/rank_result.h"
#include "sort/model/shares.h"
#include "sort/model/sort_options.h"
#include "sort/output/output.h"
#include "sort/plan/exchange_limit.h"
#include "sort/plan/open_sort.h"

namespace hetsort::sort {

/// The plan of a sort, after all checks that need no record to be read.
struct SortPlan {
  MemoryPlan memory;
  std::uint64_t records = 0;      ///< records of all ranks; 0 for a stream
  std::uint64_t input_bytes = 0;  ///< 0 for a stream of unknown size
  bool stream = false;
  bool spills = false;             ///< this rank spills, as far as its input's size is known
  bool any_rank_spills = false;    ///< some rank spills, so that blocks of the exchange are blocks of a disk there
  std::uint64_t temp_bytes = 0;    ///< needed in the temp directories together
  std::uint64_t output_bytes = 0;  ///< needed on the file system of the output's folder
  bool one_merge_pass = true;
  bool claims = false;                ///< the ranks claim records of the input
  double input_cached = 0;            ///< part of this rank's input in the page cache, if the run could be predicted
  Shares shares{};                    ///< shares of the output
  std::optional<Shares> scattered{};  ///< see PlannedSort::scattered
};

/// Checks the request as sort_records() does and plans it. Reads no record, except of a stream that rank 0 has to share
/// out. Collective. Throws: RequestError, io::Error, comm::PeerFailed.
SortPlan plan_sort(const SortOptions& options, comm::Communicator& ranks);

/// An opened sort with its plan.
class PlannedSort : public OpenedSort {
 public:
  const SortOptions& options;
  comm::Communicator& ranks;
  SortPlan plan;
  std::optional<Shares> scattered;  ///< the plan by which rank 0 sends the input, if it is another than `shares`
  Shares input_shares;              ///< shares of the input: what each rank has or takes
  double input_cached = 0;          ///< part of this rank's input, 0 to 1, in the page cache; 0 if rank 0 sends it
  Shares shares;                    ///< shares of the output, as planned; share_output() decides
  std::unique_ptr<InputSegments> segments;   ///< segments of this rank's input
  ClaimedSegments* claims = nullptr;         ///< `segments` themselves, where ranks claim their segments
  std::uint64_t capacity_bytes = 0;          ///< bytes of the input that memory is planned for
  bool keeps_blocks = false;                 ///< runs of earlier processes decide the size of blocks
  MeasuredJob measured{};                    ///< what is known of all ranks once measure() has measured
  std::unique_ptr<WritingProbe> disk_probe;  ///< measures the disk of the output while runs are formed

  /// Checks and plans what was opened. Collective: all ranks. Keeps references to the options that the user asked for
  /// and to the ranks. Throws: RequestError, io::Error, also when a file system lacks the space that will be needed;
  /// PeerFailed.
  PlannedSort(OpenedSort opened, const SortOptions& asked, comm::Communicator& all, Monitor& monitor);

  /// Writes the plan of this rank into `result`.
  void describe(RankResult& result) const;
  std::size_t rank() const { return static_cast<std::size_t>(ranks.rank()); }
  /// Whether a record begins at each multiple of its size, so that segments may begin anywhere.
  bool cuts_anywhere() const { return !options.layout.is_lines(); }
  /// Whether the shares of the output are planned in bytes, and end where a line begins.
  bool ends_at_lines() const { return !cuts_anywhere() && ranks.size() > 1; }
  /// Whether the input is the stream of a single rank. Several ranks know how much of a stream each of them gets.
  bool size_is_unknown() const { return input.is_stream() && ranks.size() == 1; }
  /// Whether the size of this rank's output is known. Measured rates decide the size of its own file later, and the
  /// size of a stream is known at its end.
  bool output_size_is_known() const {
    return !ends_at_lines() && !size_is_unknown() && (!options.shares.output_by_rates || output_is_shared);
  }
  /// Whether the size of the input shows the number of its records.
  bool records_are_known() const { return !size_is_unknown() && cuts_anywhere(); }

 private:
  void plan_shares();
  RecordsToShare find_records();
  Shares shares_in_memory(std::uint64_t records) const;
  void end_input_shares_at_lines();
  void check_parts() const;
  bool claims_input() const;
  void take_segments();
  std::unique_ptr<InputSegments> list_segments() const;
  void plan_memory_for_all();
  SortPlan plan_memory_with_others();
  SortPlan agree_on_memory();
  std::uint64_t largest_range_bytes();
  ExchangeShape exchange_shape(const SortPlan& own) const;
  std::vector<ExchangingRank> gather_exchanging(const SortPlan& own);
  void take_blocks_of_checkpoint();
  void fit_exchange_memory();
  MemoryPlan plan_index();
};

}  // namespace hetsort::sort
