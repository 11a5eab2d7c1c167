// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
//
// Control messages between this rank and some peers. A receive from each peer is always posted, so that every message
// arrives whether or not this rank waits for it. This lets a rank end at any moment.
//
// Checksums and sequence numbers (frame.h) detect damaged and lost messages.
#pragma once

#include <atomic>
#include <functional>
#include <map>
#include <mutex>
#include <vector>

#include "comm/transport/frame.h"
#include "comm/transport/message_queue.h"

namespace hetsort::comm {

/// One kind of control messages between this rank and its peers. Thread safety: any thread.
class Channel {
 public:
  /// Called on the thread that drives the receives.
  struct Handlers {
    std::function<void(int from, const Bytes& message)> message;  ///< an empty message is the goodbye
    /// Called when a message was damaged or lost, as `what` says. `is_last`: no further message of this peer can be
    /// read.
    std::function<void(int from, const std::string& what, bool is_last)> fault;
  };
  using Submit = std::function<void(Direction, Message)>;

  /// Uses `tag` and the one after it. `counted`: see Message.
  Channel(int tag, bool counted, Submit submit, Handlers handlers)
      : tag_(tag), counted_(counted), submit_(std::move(submit)), handlers_(std::move(handlers)) {}

  /// Posts a receive from each peer.
  void open(const std::vector<int>& peers);
  /// Sends a message, but nothing after close(). Requires: `to` is a peer; the message is not empty.
  void post(int to, const Bytes& message);
  /// Says goodbye to all peers.
  void close();
  /// Whether all peers have said goodbye: then no more messages will arrive.
  bool all_closed() const { return peers_left_ == 0; }

 private:
  struct Peer {
    int rank = 0;
    std::uint32_t next_sent = 0;      // sequence number of the next message to send; guarded by mutex_
    std::uint32_t next_received = 0;  // sequence number of the next message to receive
    std::uint32_t rest_checksum = 0;
    std::size_t first_bytes = 0;
    Bytes first_part = Bytes(kFirstPartBytes);
    Bytes message;
  };

  void send(int to, int tag, Bytes bytes);
  void expect(Peer& peer);
  void arrived(Peer& peer, std::size_t bytes);
  void expect_rest(Peer& peer);
  void rest_arrived(Peer& peer, std::size_t bytes);
  void deliver(Peer& peer);

  const int tag_;
  const bool counted_;
  const Submit submit_;
  const Handlers handlers_;
  std::map<int, Peer> peers_;  // keyed by rank
  std::atomic<std::size_t> peers_left_{0};
  std::mutex mutex_;  // keeps the two parts of a message together, and the goodbye last; guards closed_
  bool closed_ = false;
};

}  // namespace hetsort::comm
