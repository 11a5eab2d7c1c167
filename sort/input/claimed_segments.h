// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
//
// A rank's segments of an input that all ranks see, claimed from rank 0 while runs are formed (claim_table.h).
//
// Rank 0 answers on its communicating thread, independently of its other threads. A claim is one request and one
// answer. A rank asks for the next claim when it begins the newest one, so that it does not wait for messages. Both
// messages carry a checksum, because a wrong one would lose records or read them twice. A request also says how long
// the rank waited for the last answer.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>

#include "comm/communicator.h"
#include "sort/input/claim_table.h"
#include "sort/model/input_segments.h"
#include "sort/model/measured_shares.h"
#include "sort/model/wait_point.h"

namespace hetsort::sort {

class ClaimedSegments : public InputSegments {
 public:
  struct Input {
    std::uint64_t records = 0;  ///< records of all ranks together
    std::uint64_t record_bytes = 0;
    std::uint64_t smallest_bytes = 0;              ///< size of a claim at least
    std::function<void(const Claim&)> on_claim{};  ///< hook for tests: called with each claim, also the last, empty one
  };

  /// Maximum slices of a rank. More slices are more streams for every range of every rank, and more indexes in memory;
  /// stealing halves what is left each time.
  static constexpr std::uint64_t kMaxSlices = 8;

  /// Makes the object without sending anything. Requires: not inline mode, in which rank 0 would not answer while it
  /// works.
  ClaimedSegments(const Input& input, comm::Communicator& ranks);
  /// Requires: a collective operation after the last segment of every rank. If the job has failed, waits until no
  /// message touches this rank's memory.
  ~ClaimedSegments() override;

  /// The first slices of the ranks, and how many records each may have in the end, from their capacities.
  using Plan = std::function<ClaimPlan(std::span<const std::uint64_t> capacities)>;

  /// Before the first claim: limits the slices of this rank to `capacity_records` together. Rank 0 plans the first
  /// slices of all ranks. Collective. Throws: PeerFailed; on rank 0 what `plan` throws.
  void start(std::uint64_t capacity_records, const Plan& plan);

  std::uint64_t most() const override { return most_slices_; }
  /// Before start(): limits the number of segments of each rank; 1 = only its own slice. The same on all ranks.
  void allow_slices(std::uint64_t most) { most_slices_ = most; }
  /// The next segment, with its first byte and record counted from the front of the whole input. Throws: PeerFailed;
  /// io::Error for a corrupt message.
  std::optional<InputSegment> next() override;
  std::uint64_t claim(std::uint64_t wanted_bytes) override;
  /// After the last segment: checks that all ranks together have read the whole input, by the records of each rank.
  /// Order and fingerprints cannot detect records that were read twice or not at all; counts can. Throws: ProofError.
  void check_complete(std::span<const std::uint64_t> read_records) const;

 private:
  class Server;

  using Request = std::array<std::uint64_t, 4>;
  using Answer = std::array<std::uint64_t, 5>;

  void ask(const ClaimRequest& request);
  Claim answer(const ClaimRequest& request);

  Input input_;
  std::uint64_t most_slices_ = kMaxSlices;
  comm::Communicator& ranks_;
  int tag_ = 0;
  WaitPoint waiting_;
  std::unique_ptr<Server> server_;  // the table; set on rank 0 only
  Answer answer_{};
  bool asked_ = false;     // an answer is on its way
  bool answered_ = false;  // guarded by waiting_
  bool started_ = false;
  double late_seconds_ = 0;       // how long this rank waited for the last answer
  std::uint64_t done_ = 0;        // records of earlier segments
  std::uint64_t dealt_ = 0;       // records of this segment handed out; a thread that asks for more has done these
  Claim last_;                    // the part of this segment that is claimed so far
  std::uint64_t newest_ = 0;      // where the newest claim of this segment begins; there the next one is requested
  std::optional<Claim> pending_;  // first claim of the next segment
  bool ended_ = false;
};

}  // namespace hetsort::sort
