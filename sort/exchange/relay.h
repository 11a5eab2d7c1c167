// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
//
// How the records get to an output that is one stream of several ranks.
//
// In: on each rank the streams that it merges. Out: on rank 0 all shares in the output, in rank order.
// Idea: rank 0 writes its own share, then receives and writes the shares of the other ranks one after the other, while
// they merge. A rank merges only as fast as rank 0 receives.
// Cost: (size - 1) / size of the data over the network once more; memory for a few blocks a rank.
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "sort/exchange/incoming_streams.h"
#include "sort/exchange/outgoing_streams.h"
#include "sort/merge/merge_runs.h"
#include "sort/output/unique_filter.h"

namespace hetsort::sort {

struct RelayWire {
  int first_tag = 0;  ///< first of the two tags
  std::uint64_t block_records = 0;
  std::size_t record_bytes = 0;
  Progress progress;
  std::uint64_t credits = kInitialCredits;  ///< blocks for which each rank has memory at rank 0
};

/// Merges streams into blocks for rank 0. next() throws what the streams throw.
class MergedBlocks : public BlockSource {
 public:
  MergedBlocks(RecordStreams& streams, const RelayWire& wire, OrderVerifier& verifier, Monitor& monitor);

  std::size_t depth() const override { return blocks_.size(); }
  std::span<std::byte> next(std::size_t stream) override;

 private:
  std::unique_ptr<Merger> merger_;
  std::uint64_t block_records_;
  OrderVerifier& verifier_;
  Monitor& monitor_;
  std::size_t record_bytes_;
  std::vector<std::vector<std::byte>> blocks_;
  std::size_t turn_ = 0;
};

/// Rank 0's end of the relay: receives the shares of the other ranks.
class RelayedShares {
 public:
  /// Posts the receives. `records`: number of records in each rank's share.
  RelayedShares(comm::Communicator& ranks, const std::vector<std::uint64_t>& records, const RelayWire& wire);

  /// Writes the shares to `output` in rank order; of their records, those that its filter keeps. Throws: io::Error;
  /// PeerFailed.
  void write_to(Output& output);
  void wake();

 private:
  static void write_kept(const FixedRecords& records, RecordStreams& share, Output& output);
  static void write_kept(const LineKeys& keys, RecordStreams& share, Output& output);

  std::vector<std::vector<std::byte>> memory_;
  std::vector<std::unique_ptr<IncomingStreams>> shares_;
};

/// The other ranks' end of the relay: sends the `records` that `source` merges to rank 0. send() throws: what the
/// source throws; PeerFailed.
class RelayedShare {
 public:
  RelayedShare(comm::Communicator& ranks, BlockSource& source, std::uint64_t records, const RelayWire& wire);

  void send() { stream_.run(progress_); }
  void wake() { stream_.wake(); }

 private:
  OutgoingStreams stream_;
  Progress progress_;
};

}  // namespace hetsort::sort
