// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
//
// Phase plan_shares: everything that can be known and checked before the first record is read.
//
// In: the request. Out: on each rank opened inputs and output, the shares of all ranks, and how memory and disk will
// be used. Where measured rates decide the output's shares later, space is planned for the shares known by now.
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
#include "sort/plan/link_probe.h"
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
  Shares shares{};                    ///< shares of the output
  std::optional<Shares> scattered{};  ///< see PreparedSort::scattered
};

/// Checks the request as sort_records() does and plans it. Reads no record, except of a stream that rank 0 has to share
/// out. Collective. Throws: RequestError, io::Error, comm::PeerFailed.
SortPlan plan_sort(const SortOptions& options, comm::Communicator& ranks);

/// An opened sort with its plan.
class PreparedSort : public OpenedSort {
 public:
  SortPlan plan;
  std::optional<Shares> scattered;  ///< the plan by which rank 0 sends the input, if it is another than the output's
  Shares input_shares;              ///< shares of the input: what each rank has or takes
  Shares shares;  ///< shares of the output; the plan's, until decide_output_shares() measures better ones
  std::unique_ptr<InputSegments> segments;  ///< segments of this rank's input
  ClaimedSegments* claims = nullptr;        ///< `segments` themselves, where ranks claim their segments
  std::uint64_t capacity_bytes = 0;         ///< bytes of the input that memory is planned for
  MeasuredJob measured{};                   ///< what is known of all ranks once measure() has measured

  /// Opens, checks and plans. Collective. Keeps a reference to `options`.
  /// Throws: RequestError, io::Error, also when a file system lacks the space that will be needed; PeerFailed.
  PreparedSort(const SortOptions& options, comm::Communicator& ranks, Monitor& monitor);

  /// Writes the plan of this rank into `result`.
  void describe(RankResult& result) const;
  /// Measures processors and links for a moment. Collective. Requires: is_worth_measuring().
  /// Throws: what measure_rates() throws.
  void measure();
  /// Whether measured rates decide and the input is large enough. False if rank 0 sends it, or the mode is inline.
  bool is_worth_measuring() const;
  /// Starts what runs beside the forming of runs, before the first segment is taken: claims of the input, and the
  /// measurement of the output's disk if measure() has measured, each where the plan has it. Collective.
  /// Throws: PeerFailed.
  void begin_to_form();
  /// Call it right before the first record is written, once the header and, where possible, the size of a stream are
  /// known: takes the output's place in standard output, and begins each output file with rank 0's header. Collective
  /// if there is one. Throws: io::Error, PeerFailed.
  void begin_output();
  /// Call after this rank has read `records` records or lines, of `bytes`: the size of a stream is known now.
  /// Collective.
  /// Throws: what reserve_output() throws.
  void input_was_read(std::uint64_t records, std::uint64_t bytes);
  /// Call once all ranks have formed their runs. If measured rates decide, replaces the output's shares by those that
  /// follow from the work of all ranks and the other rates, and adds them to `result`. Collective then; otherwise does
  /// nothing. Throws: ProofError when the ranks do not have the whole input; PeerFailed; what reserve_output() throws.
  void decide_output_shares(const Work& work, RankResult& result);
  /// Call once it is known where the shares of the output end, if these are lines and there are several ranks;
  /// otherwise does nothing. Throws: what reserve_output() throws.
  void lines_were_cut(const std::vector<std::uint64_t>& share_bytes);
  /// Reserves space for the output once its size is known; before that does nothing. Throws: io::Error.
  void reserve_output();
  /// Whether a record begins at each multiple of its size, so that segments may begin anywhere.
  bool cuts_anywhere() const { return !options_.layout.is_lines(); }

 private:
  void start_claims();
  void start_disk_probe();
  std::size_t rank() const { return static_cast<std::size_t>(ranks_.rank()); }
  void plan_shares();
  RecordsToShare find_records();
  void end_input_shares_at_lines();
  void check_parts() const;
  void start_output();
  bool claims_input() const;
  /// Whether the shares of the output are planned in bytes, and end where the nearest line does.
  bool ends_at_lines() const { return !cuts_anywhere() && ranks_.size() > 1; }
  /// Whether the size of the input shows the number of its records.
  bool records_are_known() const { return !size_is_unknown() && cuts_anywhere(); }
  /// Whether the input is the stream of a single rank. Several ranks know how much of a stream each of them gets.
  bool size_is_unknown() const { return input.is_stream() && ranks_.size() == 1; }
  void take_segments();
  std::unique_ptr<InputSegments> list_segments() const;
  void plan_memory_for_all();
  SortPlan plan_memory_with_others();
  SortPlan agree_on_memory();
  std::uint64_t largest_range_bytes();
  ExchangeShape exchange_shape(const SortPlan& own) const;
  std::vector<ExchangingRank> gather_exchanging(const SortPlan& own);
  void check_exchange_memory();
  MeasuredShares shares_by_measurement(std::span<const Work> work);
  ProbeSize size_of_probe() const;
  void gather_disk_rates();

  const SortOptions& options_;
  comm::Communicator& ranks_;
  std::unique_ptr<WritingProbe> disk_probe_;
  std::uint64_t read_records_ = 0;
  bool output_size_is_known_ = false;
  bool output_is_reserved_ = false;
  bool output_has_begun_ = false;
};

}  // namespace hetsort::sort
