// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
//
// Which threads make the transport's calls, and how a thread waits for messages.
//
// kThread: one thread makes the transport, drives both directions and ends the transport. kThreads: that thread drives
// what goes out, another what comes in. kInline: threads that wait or call progress() drive, one at a time. A helper
// thread calls progress() twice a heartbeat, so that a rank that computes for long does not look dead.
//
// A thread that drives polls. While nothing completes it sleeps between polls, at first 20 us, finally 2 ms; a new
// message ends the sleep. This costs 2 % of a core, where steps of 50 us cost 25 %. If no thread waits for the messages
// under way, it sleeps at least 500 us: they arrive all the same, and a slow host needs its cores for other work. With
// no messages under way it polls 20 times a second.
//
// If all ranks can ring each other (event.h), each rings the receiver of a message. A thread that drives then sleeps
// until it is rung, and polls seldom besides, so that any number of ranks can wait on one host.
#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <functional>
#include <future>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "comm/base/event.h"
#include "comm/base/types.h"
#include "comm/transport/message_queue.h"

namespace hetsort::comm {

/// Thread safety: any thread, except that start() and stop() are called by the thread that made the object.
class Driver {
 public:
  struct Hooks {
    std::function<void()> pulse;                           ///< called in each round of the thread that sends
    std::function<void(const std::string& error)> broken;  ///< a call of the transport failed
    std::function<void()> died;                            ///< the job was aborted, and this process outlived it
  };
  /// This rank's place in the job, as the transport reports it.
  struct Place {
    int rank = 0;
    int size = 1;
    int max_tag = 0;
    std::string host;
    Clock::time_point began;
  };

  /// `host_thread`: see CommunicatorOptions.
  Driver(ExchangeMode mode, double heartbeat_seconds, Hooks hooks, HostThread host_thread = {});
  Driver(const Driver&) = delete;
  Driver& operator=(const Driver&) = delete;
  ~Driver() { stop(); }

  /// Makes the transport and starts to drive it. Throws: what `make` throws.
  void start(const MakeTransport& make);
  void stop();
  /// Before stop(): the transport's end is that of a job that succeeded.
  void job_succeeded() { succeeded_ = true; }
  const Place& place() const { return place_; }
  const MessageQueue& out() const { return out_; }
  const MessageQueue& in() const { return in_; }

  /// Where this rank can be rung.
  const BellAddress& bell() const { return bell_; }
  /// From now on rings the bells of other ranks, indexed by rank. Call it once, after start().
  void know_bells(std::vector<BellAddress> bells);

  /// Queues a message. Returns whether it was accepted.
  bool submit(Direction direction, Message message);
  void refuse_sends() {
    ending_ = true;
    out_.refuse_users();
  }
  void drop_receives();
  /// Drives the transport for one round, in inline mode.
  bool progress();
  /// Waits until ready(), called under mutex(), is true, at most until `until`. Returns whether it became true.
  bool wait(const std::function<bool()>& ready, Clock::time_point until);
  std::mutex& mutex() { return wait_mutex_; }
  /// Makes threads in wait() check again.
  void notify();

  /// Ends the job, from the thread that drives.
  void abort(int exit_code);
  bool dead() const { return dead_; }
  double cpu_seconds() const;

 private:
  void own_transport(const MakeTransport& make, std::promise<void>& made);
  void start_owner(std::function<void()> loop);
  void join_owner();
  void make_transport(const MakeTransport& make);
  void end_transport();
  void run(bool outward, bool inward);
  void run_pulse();
  bool round(bool outward, bool inward);
  void failed_round(const std::string& error);
  void die();
  Backoff::Limits rung_pauses(bool announced) const;
  Backoff::Limits starting_pauses() const;
  Clock::duration pause(Backoff& backoff, bool inward, bool announced) const;
  bool can_ring(const BellAddress& bell) const { return bell.place != 0 && bell.place == bell_.place; }
  void ring(const MessageQueue& queue);
  Event& event(Direction direction) {
    return mode_ == ExchangeMode::kThreads && direction == Direction::kIn ? receiver_event_ : driver_event_;
  }

  const ExchangeMode mode_;
  const Clock::duration heartbeat_;
  const Hooks hooks_;
  const HostThread host_thread_;
  MessageQueue out_{Direction::kOut};
  MessageQueue in_{Direction::kIn};
  std::unique_ptr<Transport> transport_;  // declared after the queues, so that it ends before their messages do
  Place place_;

  Event driver_event_;
  Event receiver_event_;
  Event pulse_event_;
  BellAddress bell_;
  std::vector<BellAddress> bells_;  // indexed by rank; constant once knows_bells_ is true
  std::atomic<bool> knows_bells_{false};
  int ranks_a_processor_ = 0;          // ranks that can ring, for each processor; constant once all_ring_ is true
  std::atomic<bool> all_ring_{false};  // whether every message to this rank is announced by a ring
  std::mutex drive_mutex_;             // inline mode: held by the thread that drives
  std::mutex wait_mutex_;
  std::condition_variable changed_;
  std::atomic<int> waiting_{0};
  std::atomic<int> abort_code_{-1};
  std::atomic<int> errors_{0};
  std::atomic<bool> dead_{false};
  std::atomic<bool> stopping_{false};
  std::atomic<bool> succeeded_{false};
  std::atomic<bool> ending_{false};
  std::thread owner_;
  std::future<void> hosted_;  // ready when the driving loop has ended, if it runs on the caller's thread
  std::thread receiver_;
};

}  // namespace hetsort::comm
