// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
//
// Two queues for outputs: one for buffered writes of several threads to one file, one for streams.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <deque>
#include <exception>
#include <mutex>
#include <thread>
#include <vector>

#include "io/transfer/queue.h"

namespace hetsort::sort {

/// Buffered writes of several threads to one file. The kernel admits one writer to a file at a time and lets the others
/// spin. Here a thread that finds the file in use keeps its block and continues, until it has no free block left.
class TurnsQueue : public io::Queue {
 public:
  /// `turn`: the mutex that all queues of one file share.
  TurnsQueue(std::mutex& turn, std::size_t depth) : turn_(&turn), depth_(depth) {}

  void submit(const io::Transfer& transfer) override;
  io::Completion wait() override;
  std::size_t in_flight() const override { return waiting_.size() + done_.size(); }
  std::size_t depth() const override { return depth_; }

 private:
  void write_waiting();

  std::mutex* turn_;
  std::size_t depth_;
  std::deque<io::Transfer> waiting_;
  std::deque<io::Completion> done_;
};

/// Appends to a stream in the order of submission, with a thread of its own. Offsets are ignored.
class StreamQueue : public io::Queue {
 public:
  explicit StreamQueue(std::size_t depth);
  ~StreamQueue() override;

  void submit(const io::Transfer& transfer) override;
  io::Completion wait() override;
  std::size_t in_flight() const override { return in_flight_; }
  std::size_t depth() const override { return depth_; }

 private:
  void write_all();

  std::size_t depth_;
  std::size_t in_flight_ = 0;
  std::mutex mutex_;  // guards all below
  std::condition_variable changed_;
  std::deque<io::Transfer> waiting_;
  std::deque<io::Completion> done_;
  std::exception_ptr failure_;
  bool closing_ = false;
  std::thread writer_;  // declared last, because it uses the other members
};

}  // namespace hetsort::sort
