// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
//
// Messages that every rank sends every other rank, in one or several rounds. Unlike in a collective, no rank handles
// what others send each other.
#pragma once

#include <cstddef>
#include <map>
#include <utility>
#include <vector>

#include "comm/communicator.h"
#include "sort/model/wait_point.h"

namespace hetsort::sort {

/// Thread safety: one thread. Requires: an error between begin() and the end is reported to all ranks before this
/// object ends, which then waits until no message uses its memory.
class DirectSwap {
 public:
  /// `rounds`: what the messages of each round are, for errors.
  DirectSwap(comm::Communicator& ranks, const std::vector<const char*>& rounds);
  DirectSwap(const DirectSwap&) = delete;
  DirectSwap& operator=(const DirectSwap&) = delete;
  ~DirectSwap();

  /// A message of at most `most_bytes` will come from another rank; nothing comes from this rank itself.
  void expect(std::size_t round, std::size_t from, std::size_t most_bytes);
  /// Posts all receives, on all ranks. Collective. Throws: PeerFailed.
  void begin();
  /// Requires: the other rank expects the message.
  void send(std::size_t round, std::size_t to, const comm::Bytes& message);
  /// Waits for the expected messages of a round, and returns them by rank; those of other ranks are empty. Throws:
  /// PeerFailed; io::Error for a corrupt message.
  std::vector<comm::Bytes> take(std::size_t round);
  /// Waits until all messages have left. Throws: PeerFailed.
  void finish();
  void wake() { waiting_.wake(); }

 private:
  struct Round {
    const char* what = nullptr;
    std::map<std::size_t, comm::Bytes> received{};  // keyed by rank
    std::size_t open = 0;                           // messages that have not come
  };

  comm::Communicator& ranks_;
  int first_tag_;
  std::vector<Round> rounds_;
  std::map<std::pair<std::size_t, std::size_t>, comm::Bytes> sent_;  // keyed by round and rank
  std::size_t leaving_ = 0;
  WaitPoint waiting_;  // its mutex guards `open`, `leaving_` and the sizes of messages that arrive
  WakeOnFailure waking_;
};

}  // namespace hetsort::sort
