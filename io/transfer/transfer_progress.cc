// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
#include "io/transfer/transfer_progress.h"

#include <fcntl.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <string>
#include <thread>

#include "io/calls/retry.h"

namespace hetsort::io {

namespace {

// Maximum block size of a disk. Direct I/O can continue at any multiple of the block size.
constexpr std::size_t kDirectAlignmentBytes = 4096;
// Linux moves at most 0x7ffff000 bytes a call; a round gigabyte keeps every call aligned.
constexpr std::size_t kMaxCallBytes = std::size_t{1} << 30;
// Pause after EAGAIN. With kMaxInterruptions retries, a transfer fails after ten seconds of EAGAIN.
constexpr std::chrono::microseconds kPause{100};

}  // namespace

std::size_t TransferProgress::bytes() const { return std::min(transfer_.bytes - position_, kMaxCallBytes); }

TransferProgress::Next TransferProgress::take(std::int64_t result) {
  if (result < 0) return take_error(static_cast<int>(-result));
  const std::size_t reached = position_ + static_cast<std::size_t>(result);
  if (reached >= transfer_.bytes) {
    done_ = transfer_.bytes;
    return Next::kDone;
  }
  if (result == 0 && transfer_.direction == Direction::kRead) return Next::kDone;
  return result == 0 ? take_error(ENOSPC) : take_short(reached);
}

TransferProgress::Next TransferProgress::take_error(int error_number) {
  const bool passing = error_number == EINTR || error_number == EAGAIN;
  if (passing && ++idle_calls_ < kMaxInterruptions) {
    if (error_number == EAGAIN) std::this_thread::sleep_for(kPause);
    return Next::kCall;
  }
  error_number_ = error_number;
  return Next::kFailed;
}

TransferProgress::Next TransferProgress::take_short(std::size_t reached) {
  if (reached > done_) {
    done_ = reached;
    idle_calls_ = 0;
  } else {
    // The call only repeated the partial block. Either the file ends in it, or the device returns partial blocks.
    try {
      const bool at_end = transfer_.offset_bytes + done_ >= transfer_.file->status().size_bytes;
      if (at_end && transfer_.direction == Direction::kRead) return Next::kDone;
    } catch (const Error& error) {
      return take_error(error.error_number());
    }
    if (++idle_calls_ >= kMaxInterruptions) return take_error(EIO);
  }
  position_ = is_direct() ? done_ - done_ % kDirectAlignmentBytes : done_;
  return Next::kCall;
}

bool TransferProgress::is_direct() const {
  const int flags = ::fcntl(descriptor(), F_GETFL);
  return flags >= 0 && (flags & O_DIRECT) != 0;
}

void TransferProgress::run() {
  Next next = Next::kCall;
  while (next == Next::kCall) {
    const ssize_t moved = kind() == Call::kRead ? syscalls::pread(descriptor(), data(), bytes(), offset_bytes())
                                                : syscalls::pwrite(descriptor(), data(), bytes(), offset_bytes());
    next = take(moved < 0 ? -errno : moved);
  }
}

Completion TransferProgress::outcome() const {
  if (error_number_ == 0) return {transfer_.tag, done_};
  const std::string at = "at offset " + std::to_string(transfer_.offset_bytes + done_);
  if (kind() == Call::kRead) throw Error("read", transfer_.file->name(), error_number_, at);
  throw Error("write", transfer_.file->name(), error_number_,
              at + ", " + std::to_string(done_) + " of " + std::to_string(transfer_.bytes) + " bytes written");
}

}  // namespace hetsort::io
