// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
//
// Who makes the transport's calls, and how one waits for what they bring.
//
// kThread: one thread makes the transport, drives both lanes and ends the transport. kThreads: that thread drives what
// goes out, another what comes in. kInline: whoever waits or calls progress(), one at a time; a thread that sleeps
// nearly always does so twice a heartbeat, or a rank that computes for long would pass for dead.
//
// A thread that drives tests, and while nothing completes sleeps, first 20 us, in the end 2 ms, which a new message
// ends at once: 2 % of a core, where 50 us steps take 25 %. While messages are under way that nobody waits for yet it
// sleeps 500 us at least: data come in all the same, and on a slow host each look is missing elsewhere. While there are
// no messages it looks 20 times a second.
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

#include "comm/bell.h"
#include "comm/communicator.h"
#include "comm/lane.h"

namespace hetsort::comm {

/// Thread safety: any thread, but start() and stop() are for the thread that made it.
class Driver {
 public:
  struct Hooks {
    std::function<void()> pulse;                           ///< on each round of the thread that sends
    std::function<void(const std::string& error)> broken;  ///< a call of the transport failed
    std::function<void()> died;                            ///< the job was aborted, and this process outlived it
  };
  /// What a transport says of itself.
  struct Place {
    int rank = 0;
    int size = 1;
    int largest_tag = 0;
    std::string host;
    Clock::time_point began;
  };

  Driver(ExchangeMode mode, double heartbeat_seconds, Hooks hooks);
  Driver(const Driver&) = delete;
  Driver& operator=(const Driver&) = delete;
  ~Driver() { stop(); }

  /// Throws: what `make` throws.
  void start(const Communicator::MakeTransport& make);
  void stop();
  const Place& place() const { return place_; }
  const Lane& out() const { return out_; }
  const Lane& in() const { return in_; }

  /// Returns whether the message was taken.
  bool submit(Lane::Way way, Message message);
  void refuse_sends() { out_.refuse_users(); }
  void drop_receives();
  /// One round, for inline mode.
  bool progress();
  /// Waits until ready(), called under mutex(), says so; returns whether it did before `until`.
  bool wait(const std::function<bool()>& ready, Clock::time_point until);
  std::mutex& mutex() { return wait_mutex_; }
  /// Whoever waits looks again.
  void notify();

  /// Ends the job, from the thread that may.
  void abort(int exit_code);
  bool dead() const { return dead_; }
  double cpu_seconds() const;

 private:
  void own_transport(const Communicator::MakeTransport& make, std::promise<void> made);
  void make_transport(const Communicator::MakeTransport& make);
  void run(bool outward, bool inward);
  void run_pulse();
  bool round(bool outward, bool inward);
  void failed_round(const std::string& error);
  void die();
  Clock::duration pause(Backoff& backoff, bool inward) const;
  Bell& bell(Lane::Way way) { return mode_ == ExchangeMode::kThreads && way == Lane::Way::kIn ? in_bell_ : bell_; }

  const ExchangeMode mode_;
  const Clock::duration heartbeat_;
  const Hooks hooks_;
  Lane out_{Lane::Way::kOut};
  Lane in_{Lane::Way::kIn};
  std::unique_ptr<Transport> transport_;  // after the lanes: ends before what is under way
  Place place_;

  Bell bell_;
  Bell in_bell_;
  Bell pulse_bell_;
  std::mutex drive_mutex_;  // inline mode: who drives
  std::mutex wait_mutex_;
  std::condition_variable something_new_;
  std::atomic<int> waiting_{0};
  std::atomic<int> abort_code_{-1};
  std::atomic<int> errors_{0};
  std::atomic<bool> dead_{false};
  std::atomic<bool> stopping_{false};
  std::thread owner_;
  std::thread receiver_;
};

}  // namespace hetsort::comm
