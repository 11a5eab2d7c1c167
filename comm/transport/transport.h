// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
//
// The interface below the communicator: calls that start messages between ranks and never wait. There is one over MPI
// (mpi.h) and one for ranks that are threads of one process (tests/machinery/in_process.h). A communicator of one rank
// needs none.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <stdexcept>
#include <string>
#include <vector>

namespace hetsort::comm {

/// A message under way, numbered by its transport; a number is never used twice.
using Request = std::uint64_t;

struct Completion {
  enum class End : std::uint8_t {
    kDone,
    kCancelled,  ///< no message came, and none will touch the buffer
    kTooLong,    ///< the message did not fit the buffer
  };
  Request request = 0;
  std::size_t bytes = 0;  ///< size of the received message; 0 for a send
  End end = End::kDone;
};

/// A rank ended the job by abort(). Only transports whose ranks outlive that throw it.
class TransportAborted : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// Where the transport lets us choose, messages up to this size leave without asking the receiver first: on a slow link
/// the receiver's answer may queue behind its own data. A block of the exchange is shorter; its receive is always
/// posted.
inline constexpr std::size_t kEagerBytes = (std::size_t{1} << 20) + (std::size_t{32} << 10);

/// Bytes that a socket holds until they are sent, where the transport lets us choose: what is sent next waits behind
/// them.
inline constexpr std::size_t kSocketBytes = std::size_t{128} << 10;

/// The first tag of users; tags below are the communicator's own.
inline constexpr int kFirstUserTag = 16;

/// Moves messages. Requires: buffers outlive their requests. A sent message may need its receive before it completes.
/// Throws: std::runtime_error that names the call.
/// Thread safety: one thread at a time; if made for several threads (ExchangeMode::kThreads), one thread may use send()
/// and test_sends() while another uses receive(), test_receives() and cancel(). Destroyed by the thread that made it.
class Transport {
 public:
  Transport() = default;
  Transport(const Transport&) = delete;
  Transport& operator=(const Transport&) = delete;
  virtual ~Transport() = default;

  virtual int rank() const = 0;
  virtual int size() const = 0;
  /// Name of this rank's host.
  virtual std::string host() const = 0;
  virtual int largest_tag() const = 0;

  virtual Request send(int to, int tag, std::span<const std::byte> data) = 0;
  /// Posts a receive. The n-th message with a given sender and tag arrives in the n-th receive for them.
  virtual Request receive(int from, int tag, std::span<std::byte> into) = 0;
  /// Appends the completions since the last call.
  virtual void test_sends(std::vector<Completion>& completed) = 0;
  virtual void test_receives(std::vector<Completion>& completed) = 0;
  /// Cancels a receive, unless its message is already arriving. It completes in either case.
  virtual void cancel(Request receive) = 0;
  /// All ranks have agreed that the job succeeded: from now on the end of the transport waits for any rank, however
  /// long that is stopped.
  virtual void job_succeeded() {}
  /// Ends all ranks of the job.
  [[noreturn]] virtual void abort(int exit_code) = 0;
};

}  // namespace hetsort::comm
