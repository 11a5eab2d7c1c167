// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
//
// One direction of a rank's messages: any thread queues them, the thread that drives hands them to the transport and
// calls what is done.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <mutex>
#include <unordered_map>
#include <vector>

#include "comm/transport.h"

namespace hetsort::comm {

struct Message {
  int peer = 0;
  int tag = 0;
  std::byte* data = nullptr;  ///< only read when it is sent
  std::size_t bytes = 0;
  std::function<void(std::size_t bytes)> done;
  /// The communicator's own: goes on after a failure, to let the ranks end.
  bool own = false;
  /// Part of the counts of bytes.
  bool counted = true;
};

/// Thread safety: submit() and what is const from any thread; step() from one at a time.
class Lane {
 public:
  enum class Way : std::uint8_t { kOut, kIn };
  explicit Lane(Way way) : way_(way) {}

  /// Returns whether it was taken: users' messages are not after refuse_users() or drop_users().
  bool submit(Message message);
  /// Posts what is queued, tests all that is under way, once, and calls what is done. Returns whether anything was.
  /// Throws: what the transport throws, after all that completed was dealt with.
  bool step(Transport& transport);

  /// Users' messages queued or under way, those whose `done` is running included.
  std::size_t users() const { return users_.load(); }
  /// The same of the communicator's own.
  std::size_t own() const { return own_.load(); }
  std::uint64_t bytes() const { return bytes_.load(std::memory_order_relaxed); }

  /// From now on users' messages are refused; those taken before go their way.
  void refuse_users();
  /// And those taken before are given up: done with when users() is 0. Only for receives.
  void drop_users();

 private:
  void post(Transport& transport);
  void cancel_users(Transport& transport);
  void finish(const Completion& completion);
  void count_down(const Message& message) { --(message.own ? own_ : users_); }

  const Way way_;
  std::mutex mutex_;  // guards queue_, refusing_
  std::deque<Message> queue_;
  bool refusing_ = false;
  std::atomic<bool> dropping_{false};
  std::atomic<std::size_t> users_{0};
  std::atomic<std::size_t> own_{0};
  std::atomic<std::uint64_t> bytes_{0};

  // Of the thread that drives.
  std::deque<Message> posting_;
  std::unordered_map<Request, Message> under_way_;
  std::vector<Completion> completed_;
  bool cancelled_ = false;
};

}  // namespace hetsort::comm
