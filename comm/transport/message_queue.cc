// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
#include "comm/transport/message_queue.h"

#include <fmt/format.h>

#include <exception>
#include <iterator>
#include <utility>

namespace hetsort::comm {

namespace {

/// A send of up to so many bytes does not wait for its receive. MPI copies short messages: Open MPI's limit in shared
/// memory is 4 KiB.
constexpr std::size_t kCopiedBytes = 2048;

}  // namespace

bool MessageQueue::submit(Message message) {
  const std::lock_guard lock(mutex_);
  if (refusing_ && !message.own) return false;
  ++(message.own ? own_ : users_);
  queue_.push_back(std::move(message));
  return true;
}

void MessageQueue::refuse_users() {
  const std::lock_guard lock(mutex_);
  refusing_ = true;
}

void MessageQueue::drop_users() {
  refuse_users();
  dropping_ = true;
}

bool MessageQueue::step(Transport& transport) {
  {
    const std::lock_guard lock(mutex_);
    std::move(queue_.begin(), queue_.end(), std::back_inserter(posting_));
    queue_.clear();
  }
  const bool posted = !posting_.empty();
  concerned_.clear();
  post(transport);
  if (dropping_ && !cancelled_) cancel_users(transport);

  completed_.clear();
  direction_ == Direction::kOut ? transport.test_sends(completed_) : transport.test_receives(completed_);
  std::exception_ptr error;
  for (const Completion& completion : completed_) {
    try {
      finish(completion);
    } catch (...) {
      if (!error) error = std::current_exception();
    }
  }
  if (error) std::rethrow_exception(error);
  return posted || !completed_.empty();
}

void MessageQueue::post(Transport& transport) {
  while (!posting_.empty()) {
    Message message = std::move(posting_.front());
    posting_.pop_front();
    if (dropping_ && !message.own) {
      count_down(message);
      continue;
    }
    try {
      const Request request = direction_ == Direction::kOut
                                  ? transport.send(message.peer, message.tag, {message.data, message.bytes})
                                  : transport.receive(message.peer, message.tag, {message.data, message.bytes});
      if (direction_ == Direction::kOut) concerned_.push_back(message.peer);
      under_way_.emplace(request, std::move(message));
    } catch (...) {
      count_down(message);
      throw;
    }
  }
}

void MessageQueue::cancel_users(Transport& transport) {
  cancelled_ = true;
  for (const auto& [request, message] : under_way_)
    if (!message.own) transport.cancel(request);
}

void MessageQueue::finish(const Completion& completion) {
  auto node = under_way_.extract(completion.request);
  const Message& message = node.mapped();
  struct Count {
    MessageQueue& queue;
    const Message& message;
    ~Count() { queue.count_down(message); }
  } const count{*this, message};
  if (completion.end == Completion::End::kCancelled) return;
  if (completion.end == Completion::End::kTooLong)
    throw std::runtime_error(
        fmt::format("receive from rank {}: a message of tag {} is longer than the {} bytes it was expected to have",
                    message.peer, message.tag, message.bytes));
  const std::size_t bytes = direction_ == Direction::kOut ? message.bytes : completion.bytes;
  if (direction_ == Direction::kIn && bytes > kCopiedBytes) concerned_.push_back(message.peer);
  if (message.counted) bytes_.fetch_add(bytes, std::memory_order_relaxed);
  message.done(bytes);
}

}  // namespace hetsort::comm
