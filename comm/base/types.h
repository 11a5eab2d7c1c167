// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
//
// What all parts of the communicator and its users share.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <future>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

namespace hetsort::comm {

class Transport;

using Bytes = std::vector<std::byte>;
using Clock = std::chrono::steady_clock;

/// Which threads make the transport's calls while a rank computes. Cerin, Dubacq and Roch 2006, section 5: A.2 is
/// inline, A.3 has a sending and a receiving thread.
enum class ExchangeMode : std::uint8_t {
  kInline,   ///< the threads that wait, one at a time; a helper thread sends a sign of life twice a second
  kThread,   ///< one thread of its own
  kThreads,  ///< a sender and a receiver; needs a transport that several threads may call
};

/// Identifies the program that a rank runs. Ranks with different programs refuse to work together.
struct ProgramIdentity {
  std::string version;
  std::string build;    ///< changes with the code
  std::string machine;  ///< architecture and byte order
};

enum class FailureKind : std::uint8_t {
  kOther,
  kRequest,    ///< the request is impossible
  kFile,       ///< an operation on a file failed
  kMemory,     ///< memory does not suffice
  kProof,      ///< the result is not the sorted input
  kCancelled,  ///< the caller ended it
};

/// The operation that failed and the file, as far as they are known: "write", "/scratch/out".
struct FailurePlace {
  FailureKind kind = FailureKind::kOther;
  std::string operation{};
  std::string path{};
};

/// Runs `loop` on a thread of the caller's choice. The future is ready once `loop` has returned.
using HostThread = std::function<std::future<void>(std::function<void()> loop)>;

struct CommunicatorOptions {
  ExchangeMode mode = ExchangeMode::kThread;
  /// A rank that was silent for this long ends the job: one message, exit code 2 for all. Silence counts only while
  /// the rank that judges runs itself.
  double stall_timeout_seconds = 60;
  double heartbeat_seconds = 1;
  /// Seconds beyond the stall timeout that MPI may take to start all ranks, and to end them.
  double start_allowance_seconds = 0;
  /// What a user can do after ranks have died or hang. Messages about that end with it, unless the output may be in
  /// place.
  std::string advice = {};
  /// Runs the loop that makes all calls of the transport, in mode kThread; empty = a thread of the communicator's own
  /// runs it. A program that has started MPI itself may allow only one of its threads to use it.
  HostThread host_thread = {};
  /// Replaces the identity of this program, for tests.
  std::optional<ProgramIdentity> identity = std::nullopt;
};

using MakeTransport = std::function<std::unique_ptr<Transport>(ExchangeMode)>;

/// Another rank failed. Its message is what conclude() will report.
class PeerFailed : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// The ranks of a job do not fit together: other options, or another program. All ranks throw it with the same message,
/// so that no rank needs to call Communicator::fail().
class JobMismatch : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

}  // namespace hetsort::comm
