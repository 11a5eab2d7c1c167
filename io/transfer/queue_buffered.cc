// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
//
// Transfers made at once, in the calling thread. wait() returns the outcomes, and throws the errors, in the order of
// submit().
#include <deque>

#include "io/transfer/queue_backends.h"
#include "io/transfer/transfer_progress.h"

namespace hetsort::io {

namespace {

class BufferedQueue final : public Queue {
 public:
  explicit BufferedQueue(std::size_t depth) : depth_(depth) {}

  void submit(const Transfer& transfer) override { finished_.emplace_back(transfer).run(); }

  Completion wait() override {
    const TransferProgress first = finished_.front();
    finished_.pop_front();
    return first.outcome();
  }

  std::size_t in_flight() const override { return finished_.size(); }
  std::size_t depth() const override { return depth_; }

 private:
  std::size_t depth_;
  std::deque<TransferProgress> finished_;
};

}  // namespace

std::unique_ptr<Queue> make_buffered_queue(std::size_t depth) { return std::make_unique<BufferedQueue>(depth); }

}  // namespace hetsort::io
