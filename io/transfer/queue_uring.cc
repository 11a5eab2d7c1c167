// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
//
// Transfers by io_uring: one system call starts one, and finished ones are picked up without any.
#include <liburing.h>

#include <cerrno>
#include <cstdint>
#include <mutex>
#include <string>
#include <vector>

#include "io/transfer/queue_backends.h"
#include "io/transfer/transfer_progress.h"

namespace hetsort::io {

namespace {

// The user data of a request that belongs to no transfer.
constexpr std::uint64_t kNoTransfer = UINT64_MAX;
constexpr unsigned kMaxDepth = 32768;  // the kernel's limit
// The kernel refuses submissions for a moment when it is short of memory. This many refusals in a row are an error.
constexpr unsigned kMaxRefusals = 100'000;

// Worker threads of the kernel make calls that block, such as a direct write that extends a file. Linux 6.18 sometimes
// queues the first writes of a ring for a worker but starts none, and the ring then never completes anything. After
// this time without a completion, the queue submits one more request that needs a worker. That worker also serves the
// writes.
constexpr __kernel_timespec kPatience{.tv_sec = 0, .tv_nsec = 100'000'000};

// Held while a ring is opened or closed. The kernel may give the memory of a closed ring to the next one, even in
// another thread. ThreadSanitizer cannot see that the kernel orders the two, and would report a race without this
// mutex.
std::mutex rings_mutex;

void close_ring(io_uring& ring) {
  const std::lock_guard lock(rings_mutex);
  io_uring_queue_exit(&ring);
}

/// Returns 0 or -errno. The plain set-up is for kernels before 5.19, which lack the flag that saves interrupts.
int open_ring(io_uring& ring, unsigned depth) {
  const std::lock_guard lock(rings_mutex);
  io_uring_params params{};
  params.flags = IORING_SETUP_COOP_TASKRUN;
  int result = io_uring_queue_init_params(depth, &ring, &params);
  if (result == -EINVAL) {
    params = {};
    result = io_uring_queue_init_params(depth, &ring, &params);
  }
  if (result != 0) return result;
  // Linux 5.6 added both this feature and plain reads and writes, so the feature shows that they work.
  if ((params.features & IORING_FEAT_RW_CUR_POS) != 0) return 0;
  io_uring_queue_exit(&ring);
  return -ENOSYS;
}

/// Tries one request that does nothing: a seccomp filter may allow rings to be made but not to be used. Returns 0 or an
/// errno.
int try_ring() {
  io_uring ring{};
  if (const int result = open_ring(ring, 1); result != 0) return -result;
  io_uring_prep_nop(io_uring_get_sqe(&ring));
  const int result = io_uring_submit(&ring);
  close_ring(ring);
  return result < 0 ? -result : 0;
}

/// The errno with which rings fail here; 0 if they work.
int ring_error() {
  static const int error = try_ring();
  return error;
}

class UringQueue final : public Queue {
 public:
  explicit UringQueue(std::size_t depth);
  ~UringQueue() override;
  UringQueue(const UringQueue&) = delete;
  UringQueue& operator=(const UringQueue&) = delete;

  void submit(const Transfer& transfer) override;
  Completion wait() override;
  std::size_t in_flight() const override { return transfers_.size() - free_.size(); }
  std::size_t depth() const override { return transfers_.size(); }

 private:
  int start(std::size_t number);
  io_uring_cqe* next_finished();
  void ask_for_worker();

  io_uring ring_{};
  std::vector<TransferProgress> transfers_;
  std::vector<std::size_t> free_;  // numbers of transfers_ that are not in flight
};

UringQueue::UringQueue(std::size_t depth) : transfers_(depth) {
  free_.reserve(depth);
  for (std::size_t number = depth; number > 0; --number) free_.push_back(number - 1);
  if (ring_error() != 0) throw Error("set up", "io_uring", ring_error());
  const int result = depth > kMaxDepth ? -EINVAL : open_ring(ring_, static_cast<unsigned>(depth));
  if (result != 0) throw Error("set up", "io_uring", -result);
}

UringQueue::~UringQueue() {
  // The kernel may still be writing into the caller's memory.
  while (in_flight() > 0) {
    io_uring_cqe* finished = next_finished();
    if (finished == nullptr) break;
    free_.push_back(finished->user_data);
    io_uring_cqe_seen(&ring_, finished);
  }
  close_ring(ring_);
}

/// Submits the next call of a transfer. Returns 0, or -errno if the kernel did not take it.
int UringQueue::start(std::size_t number) {
  const TransferProgress& transfer = transfers_[number];
  io_uring_sqe* request = io_uring_get_sqe(&ring_);
  if (request == nullptr) return -EBUSY;
  const auto bytes = static_cast<unsigned>(transfer.bytes());
  if (transfer.kind() == Call::kRead) {
    io_uring_prep_read(request, transfer.descriptor(), transfer.data(), bytes, transfer.offset_bytes());
  } else {
    io_uring_prep_write(request, transfer.descriptor(), transfer.data(), bytes, transfer.offset_bytes());
  }
  request->user_data = number;
  for (unsigned refusals = 0; io_uring_sq_ready(&ring_) > 0;) {
    const int result = io_uring_submit(&ring_);
    if (result >= 0) continue;
    if ((result == -EINTR || result == -EAGAIN || result == -EBUSY) && ++refusals < kMaxRefusals) continue;
    io_uring_prep_nop(request);
    request->user_data = kNoTransfer;
    return result;
  }
  return 0;
}

void UringQueue::submit(const Transfer& transfer) {
  const std::size_t number = free_.back();
  transfers_[number] = TransferProgress(transfer);
  if (const int result = start(number); result != 0)
    throw Error(transfer.direction == Direction::kRead ? "read" : "write", transfer.file->name(), -result,
                "starting at offset " + std::to_string(transfer.offset_bytes));
  free_.pop_back();
}

/// Waits for a completion. Returns nullptr if the ring itself fails; then nothing is in flight.
io_uring_cqe* UringQueue::next_finished() {
  while (true) {
    io_uring_cqe* finished = nullptr;
    __kernel_timespec patience = kPatience;
    const int result = io_uring_wait_cqe_timeout(&ring_, &finished, &patience);
    if (result == -ETIME) ask_for_worker();
    if (result == -ETIME || result == -EINTR || result == -EAGAIN) continue;
    if (result != 0) return nullptr;
    if (finished->user_data != kNoTransfer) return finished;
    io_uring_cqe_seen(&ring_, finished);
  }
}

/// Called repeatedly while the queue waits for a slow disk; a refusal does no harm.
void UringQueue::ask_for_worker() {
  io_uring_sqe* request = io_uring_get_sqe(&ring_);
  if (request == nullptr) return;
  io_uring_prep_nop(request);
  io_uring_sqe_set_flags(request, IOSQE_ASYNC);
  request->user_data = kNoTransfer;
  io_uring_submit(&ring_);
}

Completion UringQueue::wait() {
  while (true) {
    io_uring_cqe* finished = next_finished();
    if (finished == nullptr) throw Error("wait for", "io_uring", EIO);
    const std::size_t number = finished->user_data;
    const std::int64_t result = finished->res;
    io_uring_cqe_seen(&ring_, finished);
    TransferProgress& transfer = transfers_[number];
    if (transfer.take(syscalls::completed(transfer.kind(), result, transfer.data())) == TransferProgress::Next::kCall) {
      const int started = start(number);
      if (started == 0) continue;
      transfer.fail(-started);
    }
    free_.push_back(number);
    return transfer.outcome();
  }
}

}  // namespace

std::unique_ptr<Queue> make_uring_queue(std::size_t depth) { return std::make_unique<UringQueue>(depth); }

bool uring_available() { return ring_error() == 0; }

}  // namespace hetsort::io
