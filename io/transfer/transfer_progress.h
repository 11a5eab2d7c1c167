// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
//
// The state of one transfer, which may take several calls. It is the same for every queue; a queue only makes the
// calls. Internal to io/; see queue.h.
#pragma once

#include <cstddef>
#include <cstdint>

#include "io/calls/system_calls.h"
#include "io/error.h"
#include "io/transfer/queue.h"

namespace hetsort::io {

/// A short transfer is continued where it stopped, with direct I/O at the block before (a few bytes are moved twice).
/// EINTR and EAGAIN are tried again, but not for ever: a transfer that makes no progress ends as an error.
class TransferProgress {
 public:
  enum class Next : std::uint8_t { kCall, kDone, kFailed };

  TransferProgress() = default;
  explicit TransferProgress(const Transfer& transfer) : transfer_(transfer) {}

  /// The call to make next.
  Call kind() const { return transfer_.direction == Direction::kRead ? Call::kRead : Call::kWrite; }
  int descriptor() const { return transfer_.file->descriptor(); }
  std::byte* data() const { return transfer_.data + position_; }
  std::size_t bytes() const;
  std::uint64_t offset_bytes() const { return transfer_.offset_bytes + position_; }

  /// Takes the result of that call: bytes, or -errno. Waits a moment after EAGAIN.
  Next take(std::int64_t result);
  /// Ends the transfer with this errno, if a call could not be made.
  void fail(int error_number) { error_number_ = error_number; }
  /// Makes all calls at once, in the calling thread.
  void run();

  /// The outcome, once done or failed. Throws: Error when failed.
  Completion outcome() const;

 private:
  Next take_error(int error_number);
  Next take_short(std::size_t reached);
  bool is_direct() const;

  Transfer transfer_;
  std::size_t done_ = 0;      // bytes moved without a gap
  std::size_t position_ = 0;  // where the next call starts; less than a block before done_
  unsigned idle_calls_ = 0;   // calls in a row that moved nothing new
  int error_number_ = 0;
};

}  // namespace hetsort::io
