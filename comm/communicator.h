// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
//
// What the phases know of the other ranks: small collectives, messages between two ranks, and how a job ends.
//
// A Communicator works over a Transport (transport.h), the seam behind which Open MPI stands. Depending on the mode one
// thread of its own makes all calls of the transport from its making to its end (thread), two do (threads), or whoever
// waits does (inline). Ranks tell each other each second that they are alive; a rank that fails tells all others, whose
// waiting calls then throw PeerFailed, and conclude() lets all ranks end with one outcome.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <stdexcept>
#include <string>
#include <vector>

namespace hetsort::comm {

class Transport;

/// Who makes the transport's calls while a rank computes. Cerin, Dubacq and Roch 2006, section 4: A.2 is inline, A.3
/// has a sending and a receiving thread.
enum class ExchangeMode : std::uint8_t {
  kInline,   ///< the threads that wait, one at a time; between, a helper that says twice a second: alive
  kThread,   ///< one thread of its own
  kThreads,  ///< a sender and a receiver; needs a transport that several threads may call
};

struct CommunicatorOptions {
  ExchangeMode mode = ExchangeMode::kThread;
  /// A rank that was silent for this long ends the job: one message, exit code 2 for all. Silence counts only while
  /// the rank that judges runs itself.
  double stall_timeout_seconds = 60;
  double heartbeat_seconds = 1;
};

/// Another rank failed. Its message is what conclude() will report.
class PeerFailed : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

using Bytes = std::vector<std::byte>;

/// Thread safety: collectives and conclude() from one thread of the rank, in the same order on all ranks; all else from
/// any thread.
class Communicator {
 public:
  using Clock = std::chrono::steady_clock;
  using MakeTransport = std::function<std::unique_ptr<Transport>(ExchangeMode)>;

  /// Calls `make` on the thread that will own the transport, and measures the clocks. Collective. Throws: what `make`
  /// throws; PeerFailed if the job was aborted meanwhile.
  explicit Communicator(const MakeTransport& make, const CommunicatorOptions& options = {});
  /// Of one rank, with no transport at all.
  Communicator();
  Communicator(const Communicator&) = delete;
  Communicator& operator=(const Communicator&) = delete;
  /// Ends the transport. Without conclude() before, other ranks learn that this one failed.
  ~Communicator();

  int rank() const;
  int size() const;
  /// Whether this process is one of a job, even of a job of one: then {rank} in paths stands for its number.
  bool launched() const;
  ExchangeMode mode() const;
  /// Host name of any rank.
  const std::string& host(int rank) const;
  const std::string& host() const { return host(rank()); }
  /// Ranks on this rank's host, this one included.
  int ranks_on_host() const;
  /// When the job began, which is when rank 0 had its transport, on this rank's clock (offset measured by the shortest
  /// of several round trips).
  Clock::time_point job_start() const;

  // --- Collectives. All of them throw PeerFailed when a rank failed instead of joining. Work: ceil(log2 size) messages
  // one behind the other, twice.

  /// Element-wise sum over all ranks, on all ranks. Collective; the same number of values on all ranks.
  void all_reduce_sum(std::span<std::uint64_t> values);
  /// `mine` of all ranks combined, on all ranks. combine(low, high): `low` is of the ranks right before those of
  /// `high`; must be associative, need not be commutative. Sizes may differ. Collective.
  using Combine = std::function<Bytes(const Bytes& low, const Bytes& high)>;
  Bytes all_reduce(Bytes mine, const Combine& combine);
  /// `mine` of all ranks in rank order on rank 0; nothing elsewhere. Collective.
  std::vector<Bytes> gather(Bytes mine);
  /// Rank 0's bytes on all ranks. Collective.
  Bytes broadcast(Bytes bytes);
  /// How many of these collectives have been called.
  std::uint64_t collectives() const;

  // --- Messages. They never wait. The memory belongs to the communicator until `done` was called, which happens on
  // whatever thread makes progress: it must be short, must not wait and may call send() and receive(). When the job
  // has failed, `done` may never be called; then the memory is free once settle() has returned.

  using SendDone = std::function<void()>;
  using ReceiveDone = std::function<void(std::size_t bytes)>;
  /// Numbers for the tags of one exchange, the same on all ranks. Collective in the sense that all ranks must call it
  /// in the same order, with the same count; sends nothing. Throws: std::length_error when the transport has no more.
  int take_tags(int count);
  /// Requires, as receive() does: another rank than this one, or a transport (which a rank alone may lack).
  void send(int to, int tag, std::span<const std::byte> data, SendDone done);
  /// Messages of one (from, tag) match receives in the order of both. Requires: no message is longer than
  /// `into`. One that is fails this rank, but Open MPI 4.1 has written past the end then: check lengths before.
  void receive(int from, int tag, std::span<std::byte> into, ReceiveDone done);

  /// Inline mode: tests what is under way, once, and calls what is done; returns whether anything was. One thread at a
  /// time: others return false at once. In the other modes does nothing.
  bool progress();
  /// Called, on any thread, when a rank has failed: to wake up threads that wait for messages. At once, and on this
  /// thread, if one has failed already. One at a time; an empty function takes it away, and then no call of the old one
  /// is running any more.
  void on_failure(std::function<void()> wake);
  /// Throws: PeerFailed if any rank failed, this one included.
  void check() const;
  /// Whether any rank failed, this one included.
  bool failed() const;

  // --- Endings.

  /// What this rank tells of itself with each sign of life: its phase, for the message that names a stalled rank.
  void set_phase(const std::string& phase);
  /// Tells all ranks that this one failed. The first message counts. Does not wait.
  void fail(const std::string& message);
  /// After a failure: waits until no message can touch this rank's memory any more: its sends are received or dropped
  /// by all. Collective; part of conclude(), but needed before memory is freed that messages may still use.
  void settle();
  /// The outcome on which all ranks agree: the first failure as "rank 3 (nodeB): ...", or "" if all succeeded. With a
  /// single rank the message is as given, without rank and host. Collective, also after failures; last. A second call
  /// says the same again.
  std::string conclude();

  // --- What it cost.

  std::uint64_t bytes_sent() const;
  std::uint64_t bytes_received() const;
  /// Processor time of the communicator's own threads; 0 in inline mode.
  double cpu_seconds() const;

 private:
  class Engine;
  std::unique_ptr<Engine> engine_;
};

}  // namespace hetsort::comm
