// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
#include "sort/output/output_queues.h"

#include <span>

#include "io/thread.h"

namespace hetsort::sort {

void TurnsQueue::write_waiting() {
  while (!waiting_.empty()) {
    const io::Transfer transfer = waiting_.front();
    waiting_.pop_front();
    transfer.file->write_at(std::span(transfer.data, transfer.bytes), transfer.offset_bytes);
    done_.push_back({transfer.tag, transfer.bytes});
  }
}

void TurnsQueue::submit(const io::Transfer& transfer) {
  waiting_.push_back(transfer);
  const std::unique_lock lock(*turn_, std::try_to_lock);
  if (lock.owns_lock()) write_waiting();
}

io::Completion TurnsQueue::wait() {
  if (done_.empty()) {
    const std::lock_guard lock(*turn_);
    write_waiting();
  }
  const io::Completion completion = done_.front();
  done_.pop_front();
  return completion;
}

StreamQueue::StreamQueue(std::size_t depth)
    : depth_(depth), writer_(io::start_thread("writes the output", [this] { write_all(); })) {}

StreamQueue::~StreamQueue() {
  {
    const std::lock_guard lock(mutex_);
    waiting_.clear();
    closing_ = true;
  }
  changed_.notify_all();
  writer_.join();
}

void StreamQueue::submit(const io::Transfer& transfer) {
  {
    const std::lock_guard lock(mutex_);
    waiting_.push_back(transfer);
  }
  ++in_flight_;
  changed_.notify_all();
}

io::Completion StreamQueue::wait() {
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [&] { return failure_ || !done_.empty(); });
  if (failure_) std::rethrow_exception(failure_);
  const io::Completion completion = done_.front();
  done_.pop_front();
  --in_flight_;
  return completion;
}

void StreamQueue::write_all() {
  std::unique_lock lock(mutex_);
  while (true) {
    changed_.wait(lock, [&] { return closing_ || !waiting_.empty(); });
    if (waiting_.empty()) return;
    const io::Transfer transfer = waiting_.front();
    waiting_.pop_front();
    lock.unlock();
    std::exception_ptr failure;
    try {
      transfer.file->write(std::span(transfer.data, transfer.bytes));
    } catch (...) {
      failure = std::current_exception();
    }
    lock.lock();
    if (failure) failure_ = failure;
    if (!failure) done_.push_back({transfer.tag, transfer.bytes});
    changed_.notify_all();
    if (failure) return;
  }
}

}  // namespace hetsort::sort
