// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
//
// The communicator's own messages: a receive of each peer is always posted, so that whatever is sent arrives, whether
// the peer is waiting for it or not. That is what lets ranks end at any moment.
//
// On the wire: a slot of at most kSlotBytes with the length of the whole message (8 bytes, little endian) and its first
// bytes; if it is longer, a second message has the rest. Length ~0 is the goodbye, a peer's last message.
#pragma once

#include <atomic>
#include <functional>
#include <mutex>
#include <vector>

#include "comm/communicator.h"
#include "comm/lane.h"

namespace hetsort::comm {

/// Thread safety: any thread.
class Channel {
 public:
  static constexpr std::size_t kSlotBytes = 2048;
  /// The longest message that needs no second one.
  static constexpr std::size_t kInlineBytes = kSlotBytes - sizeof(std::uint64_t);

  /// Called on the thread that drives the receives; an empty message is the goodbye.
  using Handler = std::function<void(int from, Bytes message)>;
  using Submit = std::function<void(Lane::Way, Message)>;

  /// Uses `tag` and the one after it.
  Channel(int tag, bool counted, Submit submit, Handler handler)
      : tag_(tag), counted_(counted), submit_(std::move(submit)), handler_(std::move(handler)) {}

  /// Posts a receive of each peer.
  void open(const std::vector<int>& peers);
  /// Requires: `to` is a peer. After close() nothing is sent any more.
  void post(int to, const Bytes& message);
  /// Says goodbye to all peers.
  void close();
  /// Whether all peers have said goodbye: then nothing more will come.
  bool all_closed() const { return peers_left_ == 0; }

 private:
  struct Peer {
    int rank = 0;
    Bytes slot = Bytes(kSlotBytes);
    Bytes message;
  };

  void send(int to, int tag, Bytes bytes);
  void expect(Peer& peer);
  void arrived(Peer& peer, std::size_t bytes);
  void deliver(Peer& peer);

  const int tag_;
  const bool counted_;
  const Submit submit_;
  const Handler handler_;
  std::vector<std::unique_ptr<Peer>> peers_;
  std::atomic<std::size_t> peers_left_{0};
  std::mutex mutex_;  // keeps the two parts of a message together, and the goodbye last; guards closed_
  bool closed_ = false;
};

}  // namespace hetsort::comm
