// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
//
// The messages of a rank in one direction. Any thread queues them; the thread that drives the transport posts them and
// calls the callbacks of those that are done.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <mutex>
#include <unordered_map>
#include <vector>

#include "comm/transport/transport.h"

namespace hetsort::comm {

enum class Direction : std::uint8_t { kOut, kIn };

struct Message {
  int peer = 0;
  int tag = 0;
  std::byte* data = nullptr;  ///< only read when it is sent
  std::size_t bytes = 0;
  std::function<void(std::size_t bytes)> done;
  /// Whether it is one of the communicator's own messages, which continue after a failure, so that the ranks can end.
  bool own = false;
  /// Whether bytes() includes it.
  bool counted = true;
};

/// The queued and posted messages. Thread safety: submit() and const functions from any thread; step() from one at a
/// time.
class MessageQueue {
 public:
  explicit MessageQueue(Direction direction) : direction_(direction) {}

  /// Queues a message. Returns whether it was accepted: after refuse_users() or drop_users() users' messages are
  /// refused.
  bool submit(Message message);
  /// Posts the queued messages, tests all posted ones once, and calls `done` of those that have completed. Returns
  /// whether a message was posted or completed. Throws: what the transport throws, after every completion was handled.
  bool step(Transport& transport);

  /// The number of users' messages that are queued or posted, or whose callback is running.
  std::size_t users() const { return users_.load(); }
  /// The number of the communicator's own messages that are queued or posted, or whose callback is running.
  std::size_t own() const { return own_.load(); }
  std::uint64_t bytes() const { return bytes_.load(std::memory_order_relaxed); }
  /// The ranks that the last step() may have given something to do: those that it sent messages, and those whose sends
  /// ended because long messages were received.
  const std::vector<int>& concerned() const { return concerned_; }

  /// From now on users' messages are refused; those accepted before continue.
  void refuse_users();
  /// Refuses users' receives and cancels those accepted before, so that users() becomes 0. For receives only.
  void drop_users();

 private:
  void post(Transport& transport);
  void cancel_users(Transport& transport);
  void finish(const Completion& completion);
  void count_down(const Message& message) { --(message.own ? own_ : users_); }

  const Direction direction_;
  std::mutex mutex_;  // guards queue_, refusing_
  std::deque<Message> queue_;
  bool refusing_ = false;
  std::atomic<bool> dropping_{false};
  std::atomic<std::size_t> users_{0};
  std::atomic<std::size_t> own_{0};
  std::atomic<std::uint64_t> bytes_{0};

  // Used only by the thread that drives.
  std::deque<Message> posting_;
  std::unordered_map<Request, Message> under_way_;
  std::vector<Completion> completed_;
  std::vector<int> concerned_;
  bool cancelled_ = false;
};

}  // namespace hetsort::comm
