// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
//
// Transfers made by a few threads of the queue, for kernels and containers that refuse io_uring. A thread is started
// when a transfer finds none idle, so that a queue that is rarely used costs little. The threads block all signals; the
// other threads of the process handle them.
#include <pthread.h>

#include <algorithm>
#include <condition_variable>
#include <csignal>
#include <deque>
#include <mutex>
#include <system_error>
#include <thread>
#include <vector>

#include "io/transfer/queue_backends.h"
#include "io/transfer/transfer_progress.h"

namespace hetsort::io {

namespace {

// Enough to keep one disk, or a stripe of a few, busy with blocks of a megabyte; more threads only wait in the kernel.
constexpr std::size_t kMaxThreads = 8;

/// Blocks every signal in this thread, and so in those it starts, until the end of the scope.
class SignalsBlocked {
 public:
  SignalsBlocked() {
    sigset_t all;
    ::sigfillset(&all);
    ::pthread_sigmask(SIG_SETMASK, &all, &before_);
  }
  SignalsBlocked(const SignalsBlocked&) = delete;
  SignalsBlocked& operator=(const SignalsBlocked&) = delete;
  ~SignalsBlocked() { ::pthread_sigmask(SIG_SETMASK, &before_, nullptr); }

 private:
  sigset_t before_{};
};

class ThreadsQueue final : public Queue {
 public:
  explicit ThreadsQueue(std::size_t depth) : depth_(depth) { threads_.reserve(std::min(depth, kMaxThreads)); }
  ~ThreadsQueue() override;
  ThreadsQueue(const ThreadsQueue&) = delete;
  ThreadsQueue& operator=(const ThreadsQueue&) = delete;

  void submit(const Transfer& transfer) override;
  Completion wait() override;
  std::size_t in_flight() const override { return in_flight_; }
  std::size_t depth() const override { return depth_; }

 private:
  void start_thread(const Transfer& transfer);
  void work();

  std::size_t depth_;
  std::size_t in_flight_ = 0;  // used by the owner's thread only
  std::vector<std::thread> threads_;

  std::mutex mutex_;  // guards everything below
  std::condition_variable work_came_;
  std::condition_variable work_finished_;
  std::deque<TransferProgress> waiting_;
  std::deque<TransferProgress> finished_;
  std::size_t idle_ = 0;
  bool stop_ = false;
};

ThreadsQueue::~ThreadsQueue() {
  {
    const std::lock_guard lock(mutex_);
    stop_ = true;
    waiting_.clear();
  }
  work_came_.notify_all();
  for (std::thread& thread : threads_) thread.join();
}

void ThreadsQueue::submit(const Transfer& transfer) {
  bool all_busy = false;
  {
    const std::lock_guard lock(mutex_);
    all_busy = idle_ <= waiting_.size();
  }
  if (all_busy && threads_.size() < std::min(depth_, kMaxThreads)) start_thread(transfer);
  {
    const std::lock_guard lock(mutex_);
    waiting_.emplace_back(transfer);
  }
  ++in_flight_;
  work_came_.notify_one();
}

void ThreadsQueue::start_thread(const Transfer& transfer) {
  const SignalsBlocked scope;
  try {
    threads_.emplace_back([this] { work(); });
  } catch (const std::system_error& error) {
    // The threads that already run can do the work, only slower.
    if (threads_.empty()) throw Error("start a thread for", transfer.file->name(), error.code().value());
  }
}

Completion ThreadsQueue::wait() {
  TransferProgress first;
  {
    std::unique_lock lock(mutex_);
    work_finished_.wait(lock, [this] { return !finished_.empty(); });
    first = finished_.front();
    finished_.pop_front();
  }
  --in_flight_;
  return first.outcome();
}

void ThreadsQueue::work() {
  std::unique_lock lock(mutex_);
  while (true) {
    ++idle_;
    work_came_.wait(lock, [this] { return stop_ || !waiting_.empty(); });
    --idle_;
    if (stop_) return;
    TransferProgress progress = waiting_.front();
    waiting_.pop_front();
    lock.unlock();
    progress.run();
    lock.lock();
    finished_.push_back(progress);
    work_finished_.notify_one();
  }
}

}  // namespace

std::unique_ptr<Queue> make_threads_queue(std::size_t depth) { return std::make_unique<ThreadsQueue>(depth); }

}  // namespace hetsort::io
