// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
//
// Phase scatter, where only rank 0 has the input.
//
// In: on rank 0 the opened inputs; on all ranks the input's shares. Out: on the other ranks an input that is a stream
// of their share; on rank 0 its own share. Idea: rank 0 reads the input once, front to back, and sends each rank its
// share, one rank after the other in the plan's order, its own last (Genaud, Giersch and Vivien 2003, section 3).
// Receivers form runs while records arrive. Cost: (size - 1) / size of the data over the network once; memory for two
// blocks a rank.
#pragma once

#include <memory>
#include <vector>

#include "sort/exchange/incoming_streams.h"
#include "sort/input/input.h"
#include "sort/model/rank_context.h"
#include "sort/model/shares.h"

namespace hetsort::sort {

/// The receiving end of a scatter: the share of a rank other than 0 while it arrives.
class ScatteredInput {
 public:
  ScatteredInput(comm::Communicator& ranks, std::uint64_t records, std::size_t record_bytes, int first_tag);
  ~ScatteredInput();

  /// Fills `into`, fewer bytes only at the end. Throws: io::Error; PeerFailed.
  std::size_t read(std::span<std::byte> into);
  /// Call it after the last read.
  void finish() { stream_->finish(); }

 private:
  comm::Communicator& ranks_;
  std::vector<std::byte> memory_;
  std::unique_ptr<IncomingStreams> stream_;
  std::span<const std::byte> left_;
};

/// Begins the phase: rank 0 sends the shares of the others; on those `input` becomes the stream of their share, which
/// the object that is returned receives. It must live until runs are formed, then finish(); null on rank 0.
/// Collective. Throws: io::Error; PeerFailed.
std::unique_ptr<ScatteredInput> scatter_input(Input& input, const Shares& shares, const RankContext& context);

/// Copies a stream of unknown length, such as standard input, to a nameless file in `directory`, which it returns.
/// Throws: io::Error, also for a last record that is cut short.
io::File spool(Input& stream, const std::string& directory);

}  // namespace hetsort::sort
