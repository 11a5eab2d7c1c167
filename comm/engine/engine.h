// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
//
// The implementation of a Communicator: a driver that moves messages, and two channels on top of it. Signals (signs of
// life, failures, clocks) travel between rank 0 and each other rank. Tree messages (collectives, the steps of a job's
// end) travel along the binomial tree over rank 0: the parent of rank r is r without its lowest bit, so that the ranks
// below r are those right after it.
//
// Signs of life travel on both channels. On the tree they also say whether the sender waits for the receiver and how
// many messages it has received. Two ranks that wait for each other with nothing under way have called different
// collectives. In a tree every circle of waits contains such a pair, so that no deadlock stays unnoticed.
#pragma once

#include <array>
#include <atomic>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "comm/base/failure.h"
#include "comm/engine/channel.h"
#include "comm/engine/driver.h"
#include "comm/engine/heartbeat.h"
#include "comm/transport/hello.h"

namespace hetsort::comm {

class Engine {
 public:
  using Combine = std::function<Bytes(Bytes low, Bytes high)>;

  Engine();
  Engine(const MakeTransport& make, const CommunicatorOptions& options);
  Engine(const Engine&) = delete;
  Engine& operator=(const Engine&) = delete;
  ~Engine();

  int rank() const { return driver_.place().rank; }
  int size() const { return driver_.place().size; }
  const CommunicatorOptions& options() const { return options_; }
  const std::vector<std::string>& hosts() const { return hosts_; }
  Clock::time_point job_start() const { return job_start_; }
  const Driver& driver() const { return driver_; }
  Failure& failure() { return failure_; }

  // collectives.cc
  enum class TreeMessage : std::uint8_t {
    kCollective,
    kJob,    ///< steps of the job's start and end, which failures do not interrupt
    kAlive,  ///< signs of life on the tree
  };
  /// Combines the bytes of all ranks up the tree. Returns the result on rank 0, nothing elsewhere.
  Bytes up(TreeMessage kind, Bytes mine, const Combine& combine);
  /// Sends rank 0's bytes down the tree.
  Bytes down(TreeMessage kind, Bytes bytes);
  std::vector<Bytes> gather(const Bytes& mine);

  // engine.cc
  int take_tags(int count);
  void send(int to, int tag, std::span<const std::byte> data, std::function<void()> done);
  void receive(int from, int tag, std::span<std::byte> into, std::function<void(std::size_t bytes)> done);
  bool is_open() const { return open_; }
  bool progress() { return open_ && driver_.progress(); }
  void check();

  // ending.cc
  void set_phase(const std::string& phase);
  void count_work(std::shared_ptr<const std::atomic<std::uint64_t>> work) { heartbeat_->set_work(std::move(work)); }
  std::uint64_t work_of_others() const { return heartbeat_->work_of_peers(); }
  void fail(const std::string& message, const FailurePlace& place = {});
  void drain();
  std::string conclude();
  FailureRecord agreed_failure() const { return outcome_ ? agreed_ : failure_.first(); }

  std::uint64_t collectives = 0;
  std::function<void(Clock::time_point begin, Clock::time_point end)> on_collective{};

 private:
  enum class Signal : std::uint8_t { kAlive, kFailed, kAskClock, kAnswerClock };
  struct Arrived {
    std::uint64_t number = 0;
    Bytes bytes;
  };
  /// The tree messages between this rank and one other. Guarded by driver_.mutex().
  struct TreePeer {
    std::array<std::deque<Arrived>, 2> arrived;  // messages that have arrived, for each kind
    std::uint64_t sent = 0;
    std::uint64_t received = 0;
  };
  struct ClockAnswer {
    Clock::time_point arrived;
    std::int64_t job_nanoseconds = 0;
  };

  // joining.cc
  void greet();
  std::string compare_hellos();
  std::string exchange_hello();
  void await_first_messages(double patience_seconds, const std::function<int()>& missing_rank);
  void open();
  void measure_clock();
  void share_places();

  // signals.cc
  void pulse();
  void send_signs_of_life();
  void send_tree_signs_of_life();
  void on_signal(int from, const Bytes& message);
  void signal(int to, Signal kind, const Bytes& body);
  void learn(const FailureRecord& record);

  // collectives.cc
  void on_tree_message(int from, const Bytes& message);
  void on_tree_sign_of_life(int from, bool awaits_this_rank, std::uint64_t received);
  void send_tree(int to, TreeMessage kind, std::uint64_t number, const Bytes& body);
  Bytes take_tree(int from, TreeMessage kind, std::uint64_t number);
  /// Whether this rank waits for a message from `peer` that has not arrived. Requires: driver_.mutex() is held.
  bool awaits(int peer) const;
  int parent() const { return rank() & (rank() - 1); }
  std::vector<int> children() const;
  std::vector<int> tree_peers() const;

  // engine.cc
  /// Waits until ready() is true. Throws: PeerFailed if a rank has failed.
  void await(const std::function<bool()>& ready);
  std::string name_of(int rank) const;
  std::string failure_text(const FailureRecord& record) const;
  std::int64_t job_nanoseconds() const;
  TreePeer& tree_peer(int rank) { return tree_.at(rank); }

  // ending.cc
  /// Notes a failure of this rank. Thread safety: any thread, also the one that drives.
  void note_failure(const std::string& message, const FailurePlace& place = {});
  /// Waits until ready() is true, also after failures, but then only some seconds. Throws PeerFailed only if this rank
  /// outlives the job.
  void await_all(const std::function<bool()>& ready);
  [[noreturn]] void give_up();
  [[noreturn]] void abort_with(const std::string& message);
  void report_silence(const Heartbeat::Silence& silence);
  std::string untouched_text() const;
  void agree_that_sends_are_done();

  const CommunicatorOptions options_;
  Failure failure_;
  std::vector<std::string> hosts_;
  std::vector<BellAddress> bells_;  // of all ranks, until all know them
  Clock::time_point job_start_;
  std::array<std::uint64_t, 2> tree_numbers_{};  // number of the next message, for each kind
  int next_tag_ = kFirstUserTag;
  std::vector<HelloBytes> hellos_;  // the buffers of the first messages

  std::map<int, TreePeer> tree_;  // keyed by rank; the keys are constant once the channels are open
  // Guarded by driver_.mutex(): the rank whose tree message this one waits for, or -1, and its kind.
  int awaited_rank_ = -1;
  TreeMessage awaited_kind_ = TreeMessage::kCollective;
  std::deque<ClockAnswer> clock_answers_;  // guarded by driver_.mutex()
  std::unique_ptr<Heartbeat> heartbeat_;
  std::unique_ptr<Heartbeat> tree_heartbeat_;
  std::unique_ptr<Channel> signals_;
  std::unique_ptr<Channel> tree_channel_;
  std::atomic<bool> open_{false};
  std::atomic<bool> joined_{false};
  /// Whether a message was damaged without which the ranks cannot begin or end.
  std::atomic<bool> is_cut_off_{false};
  bool drained_ = false;
  std::optional<Clock::time_point> ending_began_;
  std::optional<std::string> outcome_;
  FailureRecord agreed_;  // the failure on which all ranks agreed, once outcome_ is known
  Driver driver_;         // declared last, so that it ends first
};

}  // namespace hetsort::comm
