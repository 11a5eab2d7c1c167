// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
//
// Phase plan_shares: everything that can be known and checked before the first record is read.
//
// In: the request. Out: on each rank opened inputs and output, the shares of all ranks, and how memory and disk will
// be used. Where rates decide the output's shares later, room for it is sought as for those planned until then.
// Idea: ranks tell each other what they have; then each decides by itself what all decide alike. When one rank's input
// does not fit its memory, all spill: an exchange then finds the same kind of blocks everywhere.
// Cost: a few calls a file; three reductions of O(ranks) numbers.
#pragma once

#include "sort/input/claimed_segments.h"
#include "sort/input/input.h"
#include "sort/input/input_segments.h"
#include "sort/output/output.h"
#include "sort/plan/shares.h"
#include "sort/sort.h"

namespace hetsort::sort {

/// Where the records come from.
enum class InputKind : std::uint8_t {
  kOwn,     ///< each rank's own files
  kShared,  ///< files that all ranks see: each takes its planned share
  kRoot,    ///< what only rank 0 has: it sends the shares
};

struct PreparedSort {
  InputKind input_kind;
  bool output_is_shared;
  bool input_is_apart = false;  ///< its shares are not the output's, by another strategy
  Input input;
  Output output;
  SortPlan plan;
  Shares input_shares;  ///< what each rank has or takes
  Shares shares;        ///< of the output; where rates decide, what is planned with until settle_shares()
  std::unique_ptr<InputSegments> segments;  ///< of this rank's input
  ClaimedSegments* claims = nullptr;        ///< the same, where ranks claim them
  std::uint64_t capacity_bytes = 0;         ///< of the input that memory is planned for

  /// Opens, checks and plans. Collective.
  /// Throws: RequestError, io::Error, also when a file system lacks the space that will be needed; PeerFailed.
  PreparedSort(const SortOptions& options, comm::Communicator& ranks, Monitor& monitor);

  /// The output's shares where rates decided them. Requires: of as many records; options.output_by_rates; once.
  void settle_shares(Shares decided, const SortOptions& options, int rank);

  /// Those that the report names: the input's where they are planned apart, else the output's.
  const Shares& told_shares() const { return input_is_apart ? input_shares : shares; }

  std::uint64_t total_records() const;
  /// Of a rank's input and output: at least one, and one where the input's size is not known.
  std::uint64_t parts(int rank) const;
  /// Records of the output before this rank's share, and in it.
  std::uint64_t first_output_record(int rank) const;

 private:
  void plan_shares(const SortOptions& options, comm::Communicator& ranks);
  void start_output(const SortOptions& options, int rank);
  bool claims_input(const SortOptions& options, const comm::Communicator& ranks) const;
  /// The input is one rank's stream; several ranks know how much each of them gets.
  bool size_is_unknown() const { return input.is_stream() && input_shares.records.size() == 1; }
  void take_segments(const SortOptions& options, comm::Communicator& ranks);
  std::unique_ptr<InputSegments> list_segments(const SortOptions& options, int rank) const;
  void plan_memory_for(const SortOptions& options, comm::Communicator& ranks);
  SortPlan plan_in_memory(const SortOptions& options, comm::Communicator& ranks, std::uint64_t& exchange_bytes);
  SortPlan plan_memory_with_others(const SortOptions& options, comm::Communicator& ranks);
};

/// `mine` of all ranks, rank by rank. Collective.
std::vector<std::vector<std::uint64_t>> all_gather(const std::vector<std::uint64_t>& mine, comm::Communicator& ranks);

}  // namespace hetsort::sort
