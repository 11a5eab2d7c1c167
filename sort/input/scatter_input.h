// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
//
// Inputs that only rank 0 has: it reads them once, front to back, and sends each rank its planned share, one rank after
// the other in the plan's order, its own last (Genaud, Giersch and Vivien 2003, section 3).
//
// In: on rank 0 the opened inputs. Out: on the other ranks an input that is a stream of their share.
// Cost: (size - 1) / size of the data over the network once; memory for two blocks a rank.
#pragma once

#include <memory>
#include <vector>

#include "sort/exchange/incoming_streams.h"
#include "sort/input/input.h"
#include "sort/monitor.h"
#include "sort/plan/shares.h"

namespace hetsort::sort {

/// On rank 0: sends the shares of the others. `input` is read buffered, at any place. Throws: io::Error; PeerFailed.
class InputScatter {
 public:
  InputScatter(const Input& input, const Shares& shares, comm::Communicator& ranks, int first_tag);

  /// Collective with the receivers' reading. `advance` is told the bytes sent.
  void send(Monitor& monitor);

 private:
  const Input& input_;
  const Shares& shares_;
  comm::Communicator& ranks_;
  int first_tag_;
};

/// On the other ranks: the share as it comes.
class ScatteredInput {
 public:
  ScatteredInput(comm::Communicator& ranks, std::uint64_t records, std::size_t record_bytes, int first_tag);
  ~ScatteredInput();

  /// Fills `into`, fewer bytes only at the end. Throws: io::Error; PeerFailed.
  std::size_t read(std::span<std::byte> into);
  /// After the last read.
  void finish() { stream_->finish(); }

 private:
  comm::Communicator& ranks_;
  std::vector<std::byte> memory_;
  std::unique_ptr<IncomingStreams> stream_;
  std::span<const std::byte> left_;
};

/// A stream of unknown length, such as standard input, as a file: copied to a nameless file in `directory`.
/// Throws: io::Error, also for a last record that is cut short.
io::File spool(Input& stream, const std::string& directory);

/// Tags that a scatter takes.
inline constexpr int kScatterTags = 2;

}  // namespace hetsort::sort
