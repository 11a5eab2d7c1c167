// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
//
// What a phase uses to work with other ranks: small collectives, messages between two ranks, and the end of the job.
//
// A Communicator works over a Transport (transport.h), behind which MPI is hidden. Depending on the mode, one thread of
// its own makes all calls of the transport (thread), two threads do (threads), or the threads that wait do (inline).
// Ranks send each other signs of life every second. A rank that fails reports it to all others; their waiting calls
// then throw PeerFailed. conclude() lets all ranks end with one outcome.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <type_traits>
#include <vector>

#include "comm/base/failure.h"
#include "comm/base/packing.h"
#include "comm/base/types.h"

namespace hetsort::comm {

class Engine;

/// A type whose values travel as their bytes: all ranks run the same build on the same architecture.
template <class T>
concept Plain = std::is_trivially_copyable_v<T>;

/// A rank's end of a job. Thread safety: collectives and conclude() from one thread of the rank, in the same order on
/// all ranks; all else from any thread.
class Communicator {
 public:
  using Clock = comm::Clock;
  using MakeTransport = comm::MakeTransport;

  /// Calls `make` on the thread that will own the transport, checks that all ranks run the same program, and measures
  /// the clocks. Collective. Throws: what `make` throws; JobMismatch; PeerFailed if the job was aborted meanwhile.
  explicit Communicator(const MakeTransport& make, const CommunicatorOptions& options = {});
  /// A job of one rank, without a transport.
  Communicator();
  Communicator(const Communicator&) = delete;
  Communicator& operator=(const Communicator&) = delete;
  /// Ends the transport. If conclude() was not called, this rank fails.
  ~Communicator();

  int rank() const;
  int size() const;
  /// Whether a launcher started this process, even as the only rank: then {rank} in paths stands for its number.
  bool launched() const;
  ExchangeMode mode() const;
  /// Host name of any rank.
  const std::string& host(int rank) const;
  const std::string& host() const { return host(rank()); }
  /// Ranks on this rank's host, this one included.
  int ranks_on_host() const;
  /// The moment at which rank 0 had its transport, on this rank's clock. The clocks' offset is measured by the shortest
  /// of several round trips.
  Clock::time_point job_start() const;

  // --- Collectives. All of them throw PeerFailed if a rank fails instead of joining. Work: 2 ceil(log2 size) messages,
  // one after the other.

  /// Returns once all ranks have called it. Collective.
  void barrier();
  /// The values `mine` of all ranks, indexed by rank, on all ranks. Collective.
  template <Plain T>
  std::vector<T> all_gather(const T& mine);
  /// The lists `mine` of all ranks, indexed by rank, on all ranks. Their lengths may differ. Collective.
  template <Plain T>
  std::vector<std::vector<T>> all_gather_lists(const std::vector<T>& mine);
  /// The maximum over all ranks, on all ranks. Collective.
  std::uint64_t all_reduce_max(std::uint64_t value);

  /// The sum over all ranks, on all ranks. Collective.
  std::uint64_t all_reduce_sum(std::uint64_t value);
  /// Element-wise sums over all ranks, on all ranks. Collective; the same number of values on all ranks.
  void all_reduce_sum(std::span<std::uint64_t> values);
  /// Combines `mine` of all ranks; the result is on all ranks. combine(low, high): `low` is the result of consecutive
  /// ranks, `high` that of the ranks right behind them; must be associative, need not be commutative. Sizes may differ.
  /// Collective.
  using Combine = std::function<Bytes(Bytes low, Bytes high)>;
  Bytes all_reduce(Bytes mine, const Combine& combine);
  /// Combines `mine` of all ranks as all_reduce() does; the result is on rank 0, nothing elsewhere. Collective.
  Bytes reduce(Bytes mine, const Combine& combine);
  /// The bytes `mine` of all ranks, in rank order, on rank 0; nothing elsewhere. Collective.
  std::vector<Bytes> gather(const Bytes& mine);
  /// Rank 0's bytes on all ranks. Collective.
  Bytes broadcast(Bytes bytes);
  /// The texts `mine` of all ranks, in rank order, on rank 0; nothing elsewhere. Collective.
  std::vector<std::string> gather_text(const std::string& mine);
  /// Rank 0's text on all ranks. Collective.
  std::string broadcast_text(const std::string& text);
  /// From now on `took` is called at the end of each collective of this rank, on its thread, with its begin and its
  /// end. An empty function removes it.
  void on_collective(std::function<void(Clock::time_point begin, Clock::time_point end)> took);
  /// Number of collectives that this rank has called.
  std::uint64_t collectives() const;

  // --- Messages. These calls never wait. The memory belongs to the communicator until it has called `done`, on any
  // thread that makes progress. `done` must be short, must not wait and may call send() and receive(). After a failure
  // `done` may never be called; then the memory is free once drain() has returned.

  using SendDone = std::function<void()>;
  using ReceiveDone = std::function<void(std::size_t bytes)>;
  /// Returns the first of `count` tags for one exchange, the same on all ranks. All ranks must make these calls in the
  /// same order with the same counts. Sends nothing. Throws: std::length_error if the transport has no more tags.
  int take_tags(int count);
  /// Sends `data`. Requires, also for receive(): `to` is another rank, or there is a transport (a single rank may have
  /// none).
  void send(int to, int tag, std::span<const std::byte> data, SendDone done);
  /// The n-th message with a given sender and tag arrives in the n-th receive with that sender and tag. Requires: no
  /// message is longer than `into`. A longer one fails this rank, but Open MPI 4.1 may already have written past the
  /// end.
  void receive(int from, int tag, std::span<std::byte> into, ReceiveDone done);

  /// In inline mode, tests the messages under way once and calls `done` of those that have completed. Returns whether
  /// there was one. If another thread is doing this, returns false at once. In the other modes it does nothing.
  bool progress();
  /// Sets the function that is called when a rank fails, on any thread, to wake up threads that wait for messages. If a
  /// rank has failed already, it is called at once on this thread. It replaces the previous function; an empty function
  /// removes it. When this returns, the previous function is not running.
  void on_failure(std::function<void()> wake);
  /// Checks for failures. Throws: PeerFailed if any rank failed, this one included.
  void check() const;
  /// Whether any rank failed, this one included.
  bool failed() const;

  // --- The end of the job.

  /// Sets the name of this rank's phase, for the message that reports a stalled rank.
  void set_phase(const std::string& phase);
  /// Sets the counter of this rank's work, in any unit, from which the progress of the job is computed.
  void count_work(std::shared_ptr<const std::atomic<std::uint64_t>> work);
  /// The work that all other ranks had done about a second ago. Requires: rank 0.
  std::uint64_t work_of_others() const;
  /// Reports to all ranks that this one failed. The first message counts. Does not wait.
  void fail(const std::string& message, const FailurePlace& place = {});
  /// After a failure: waits until no message can touch this rank's memory any more. Collective; part of conclude(), but
  /// needed before memory is freed that messages may still use.
  void drain();
  /// The outcome on which all ranks agree: the first failure as "rank 3 (nodeB): ...", or "" if all succeeded. With a
  /// single rank the message is as given, without rank and host. Collective, also after failures; the last call. A
  /// second call returns the same again.
  std::string conclude();
  /// The failure that conclude() has returned, as a record; before that the first failure known here.
  FailureRecord failure() const;

  // --- What it cost.

  std::uint64_t bytes_sent() const;
  std::uint64_t bytes_received() const;
  /// The part of bytes_sent() that count_shared() has counted.
  std::uint64_t bytes_shared() const { return shared_sent_; }
  /// Counts bytes that went between this rank and another one in memory that both share, without a message.
  void count_shared(std::uint64_t sent, std::uint64_t received) {
    shared_sent_ += sent;
    shared_received_ += received;
  }
  /// Processor time of the communicator's own threads; 0 in inline mode.
  double cpu_seconds() const;

 private:
  /// The bytes `mine` of all ranks, one after the other, on all ranks. Collective.
  Bytes all_gather_bytes(Bytes mine);

  std::unique_ptr<Engine> engine_;
  std::atomic<std::uint64_t> shared_sent_{0};
  std::atomic<std::uint64_t> shared_received_{0};
};

template <Plain T>
std::vector<std::vector<T>> Communicator::all_gather_lists(const std::vector<T>& mine) {
  Packer packer;
  packer.values(mine);
  const Bytes all = all_gather_bytes(packer.take());
  Unpacker unpacker(all);
  std::vector<std::vector<T>> found;
  found.reserve(static_cast<std::size_t>(size()));
  for (int rank = 0; rank < size(); ++rank) found.push_back(unpacker.values<T>());
  unpacker.end();
  return found;
}

template <Plain T>
std::vector<T> Communicator::all_gather(const T& mine) {
  Packer packer;
  packer.value(mine);
  const Bytes all = all_gather_bytes(packer.take());
  Unpacker unpacker(all);
  std::vector<T> found;
  found.reserve(static_cast<std::size_t>(size()));
  for (int rank = 0; rank < size(); ++rank) found.push_back(unpacker.value<T>());
  unpacker.end();
  return found;
}

/// Whether this process has printed that ranks are dead or hang. Async-signal-safe.
bool has_printed_failure() noexcept;

}  // namespace hetsort::comm
