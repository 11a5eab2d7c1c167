// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
//
// Reads and writes in flight while the caller computes. One queue belongs to one thread; any number of queues may work
// on the same File.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>

#include "io/file.h"

namespace hetsort::io {

enum class Direction : std::uint8_t { kRead, kWrite };

/// One transfer at an explicit offset. File and memory stay untouched by the caller until its completion came back.
struct Transfer {
  const File* file = nullptr;
  Direction direction = Direction::kRead;
  std::byte* data = nullptr;
  std::size_t bytes = 0;
  std::uint64_t offset_bytes = 0;
  std::uint64_t tag = 0;  ///< the caller's name for it
};

struct Completion {
  std::uint64_t tag = 0;
  std::size_t bytes = 0;  ///< bytes moved: all that were asked for, except in a read that met the end of the file
};

/// How transfers are made.
enum class Backend : std::uint8_t {
  kUring,     ///< io_uring
  kThreads,   ///< preads and pwrites by a few threads of the queue's own
  kBuffered,  ///< plain calls inside submit(), on the caller's thread: for tmpfs, page-cached files and tests
};

/// Transfers in flight. Thread safety: one thread at a time.
class Queue {
 public:
  Queue() = default;
  Queue(const Queue&) = delete;
  Queue& operator=(const Queue&) = delete;
  /// Waits for the transfers in flight and drops their results, so that their memory may be freed afterwards.
  virtual ~Queue() = default;

  /// Starts one transfer. Requires: in_flight() < depth(). Throws: Error (also of an earlier transfer).
  virtual void submit(const Transfer& transfer) = 0;
  /// Waits for any one transfer; short transfers were continued, EINTR and EAGAIN tried again. Requires:
  /// in_flight() > 0. Throws: Error naming operation, path, offset and reason; that transfer is then done.
  virtual Completion wait() = 0;
  virtual std::size_t in_flight() const = 0;
  virtual std::size_t depth() const = 0;
};

/// Makes a queue. Throws: Error where the kernel refuses io_uring and kUring was asked for.
std::unique_ptr<Queue> make_queue(Backend backend, std::size_t depth);

/// Whether this kernel lets this process use io_uring (containers often do not). Asked once, then remembered.
bool uring_available();

}  // namespace hetsort::io
