// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
//
// A rank's segments of an input that all ranks see, claimed from rank 0 while runs are formed (claim_table.h).
//
// Rank 0 answers on the thread that communicates, whatever its other threads do. A claim is one message there and one
// back, and the next is asked for when the newest begins, so that nobody waits for a message; both carry a checksum, as
// a wrong one would lose records or take them twice. A request also tells how long the last answer was waited for.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>

#include "comm/communicator.h"
#include "sort/exchange/wait_point.h"
#include "sort/input/claim_table.h"
#include "sort/input/input_segments.h"

namespace hetsort::sort {

class ClaimedSegments : public InputSegments {
 public:
  struct Input {
    std::uint64_t records = 0;  ///< of all ranks
    std::uint64_t record_bytes = 0;
    std::uint64_t smallest_bytes = 0;              ///< of a claim
    std::function<void(const Claim&)> on_claim{};  ///< for tests: called with each, the last one empty
  };

  /// More slices are more streams for every range of every rank, and more indexes in memory; stealing halves what is
  /// left each time.
  static constexpr std::uint64_t kMaxSlices = 8;

  /// Sends nothing. Requires: not inline mode, in which nobody would answer while rank 0 works.
  ClaimedSegments(const Input& input, comm::Communicator& ranks);
  /// Requires: all ranks have had their last segment, as a collective operation after it tells. When the job has
  /// failed, waits until no message touches this rank's memory.
  ~ClaimedSegments() override;

  /// Before the first claim: this rank's slices may have `capacity_records` together. Collective. Throws: PeerFailed.
  void start(std::uint64_t capacity_records);

  std::uint64_t most() const override { return most_slices_; }
  /// Before start(): this rank's segments are no more than that; 1 = it takes its own slice only. The same on all
  /// ranks.
  void allow_slices(std::uint64_t most) { most_slices_ = most; }
  /// Bytes and records are counted from the front of the whole input. Throws: PeerFailed; io::Error for a corrupt
  /// message.
  std::optional<InputSegment> next() override;
  std::uint64_t claim(std::uint64_t wanted_bytes) override;
  /// After the last segment: checks that all ranks together have read the whole input; `read_records` are this rank's.
  /// Order and fingerprints cannot detect records that were read twice or not at all; counts can.
  /// Collective. Throws: ProofError; PeerFailed.
  void check_complete(std::uint64_t read_records) const;

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
  std::unique_ptr<Server> server_;  // on rank 0
  Answer answer_{};
  bool asked_ = false;     // an answer is on its way
  bool answered_ = false;  // guarded by waiting_
  bool started_ = false;
  double late_seconds_ = 0;       // how long the last answer was waited for
  std::uint64_t done_ = 0;        // of segments before
  std::uint64_t dealt_ = 0;       // of the segment: who comes for more has done that
  Claim last_;                    // its records are all that was claimed of the segment
  std::uint64_t newest_ = 0;      // where in it the newest claim begins: with that the next one is asked for
  std::optional<Claim> pending_;  // the front of the next segment
  bool ended_ = false;
};

}  // namespace hetsort::sort
