// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
//
// What stands behind a Communicator: a driver that moves messages, and on top of it two channels. Signals go between
// rank 0 and each other rank (signs of life, failures, clocks), mail along the binomial tree over rank 0 (collectives
// and endings): the parent of rank r is r without its lowest bit, so that the ranks below r are those right after it.
#pragma once

#include <array>
#include <atomic>
#include <deque>
#include <optional>
#include <vector>

#include "comm/channel.h"
#include "comm/driver.h"
#include "comm/failure.h"
#include "comm/heartbeat.h"

namespace hetsort::comm {

class Communicator::Engine {
 public:
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
  /// The kinds of mail; each kind's messages are numbered and met in order.
  enum class Mail : std::uint8_t {
    kCollective,
    kJob,  ///< how ranks begin and end, which failures do not interrupt
  };
  /// Combines up the tree; the whole on rank 0, nothing elsewhere.
  Bytes up(Mail kind, Bytes mine, const Combine& combine);
  /// Rank 0's bytes, down the tree.
  Bytes down(Mail kind, Bytes bytes);
  std::vector<Bytes> gather(Bytes mine);

  // engine.cc
  int take_tags(int count);
  void send(int to, int tag, std::span<const std::byte> data, SendDone done);
  void receive(int from, int tag, std::span<std::byte> into, ReceiveDone done);
  bool is_open() const { return open_; }
  bool progress() { return open_ && driver_.progress(); }
  void check();
  std::string failure_text(const FailureRecord& record) const;

  // ending.cc
  void set_phase(const std::string& phase);
  void fail(const std::string& message);
  void settle();
  std::string conclude();

  std::uint64_t collectives = 0;

 private:
  enum class Signal : std::uint8_t { kAlive, kFailed, kAskClock, kTellClock };
  struct Letter {
    std::uint64_t number = 0;
    Bytes bytes;
  };
  using Letters = std::vector<std::deque<Letter>>;

  void open();
  void measure_clock();
  void gather_hosts();
  void pulse();
  void say_alive();
  void on_signal(int from, const Bytes& bytes);
  void on_mail(int from, const Bytes& bytes);
  void signal(int to, Signal kind, const Bytes& bytes);
  void mail(int to, Mail kind, std::uint64_t number, const Bytes& bytes);
  Bytes take_mail(int from, Mail kind, std::uint64_t number);
  int parent() const { return rank() & (rank() - 1); }
  std::vector<int> children() const;

  /// Waits; throws PeerFailed if a rank has failed.
  void await(const std::function<bool()>& ready);
  /// Waits on after failures too, but then not for ever. Throws PeerFailed only if this rank outlives the job.
  void await_all(const std::function<bool()>& ready);
  [[noreturn]] void give_up();
  void learn(const FailureRecord& record);
  void report_silence(const Heartbeat::Silence& silence);
  std::int64_t job_nanoseconds() const;
  void agree_that_sends_are_done();

  const CommunicatorOptions options_;
  Failure failure_;
  std::vector<std::string> hosts_;
  Clock::time_point job_start_;
  std::array<std::uint64_t, 2> mail_numbers_{};  // of each kind
  int next_tag_ = kFirstUserTag;

  std::array<Letters, 2> letters_;  // of each kind and rank; guarded by driver_.mutex()
  std::deque<std::pair<Clock::time_point, std::int64_t>> clock_told_;  // when and what; guarded by driver_.mutex()
  std::unique_ptr<Heartbeat> heartbeat_;
  std::unique_ptr<Channel> signals_;
  std::unique_ptr<Channel> mail_;
  std::atomic<bool> open_{false};
  bool settled_ = false;
  std::optional<Clock::time_point> ending_began_;
  std::optional<std::string> outcome_;
  Driver driver_;  // ends first
};

}  // namespace hetsort::comm
