// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
//
// Progress of a sort: its phases, the bytes done, notes to the user, and the activities of its threads. Other threads
// may read it at any time.
#pragma once

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <mutex>
#include <stdexcept>
#include <stop_token>
#include <string>
#include <vector>

namespace hetsort::sort {

/// One phase of one rank, in seconds since the monitor's start.
struct PhaseTime {
  std::string name;
  double begin = 0;
  double end = 0;
};

/// One activity of one thread, for the trace.
struct TraceEvent {
  std::string name;
  std::size_t thread = 0;
  double begin = 0;
  double end = 0;
};

/// The caller wants the sort to end.
class Cancelled : public std::runtime_error {
 public:
  Cancelled() : std::runtime_error("the sort was cancelled") {}
};

/// Thread safety: any thread.
class Monitor {
 public:
  using Clock = std::chrono::steady_clock;

  /// Times count from `start`, which is the same moment on all ranks of a job.
  explicit Monitor(bool trace = false, Clock::time_point start = Clock::now()) : start_(start), trace_(trace) {}

  /// Seconds since the start; never negative, although the clocks of two machines differ a little.
  double seconds() const { return std::max(0.0, std::chrono::duration<double>(Clock::now() - start_).count()); }

  /// Begins a phase and ends the one before. `bytes`: its amount of work; 0 = unknown.
  /// Throws: what the handler of phases throws; Cancelled.
  void begin_phase(const std::string& name, std::uint64_t bytes);
  /// `handler` is called with the name of each phase that begins, on the thread that begins it.
  void on_phase(std::function<void(const std::string&)> handler) { phase_handler_ = std::move(handler); }
  /// Ends the last phase.
  void end_phases();
  /// `bytes` more of the phase's work are done. Throws: Cancelled.
  void advance(std::uint64_t bytes) {
    done_.fetch_add(bytes, std::memory_order_relaxed);
    if (stop_.stop_requested()) throw Cancelled();
  }
  /// From now on the sort ends with Cancelled once a stop is requested. Call it before the sort.
  void stop_on(std::stop_token stop) { stop_ = std::move(stop); }

  struct Progress {
    std::string phase;
    std::uint64_t done_bytes = 0;
    std::uint64_t total_bytes = 0;
    double phase_seconds = 0;
  };
  Progress progress() const;

  /// Passes information that is no error to the handler set by on_note(), if there is one.
  void note(const std::string& text);
  void on_note(std::function<void(const std::string&)> handler) { note_handler_ = std::move(handler); }

  std::vector<PhaseTime> phases() const;

  /// Records what `thread` does while the object lives. Does nothing without a trace.
  class Activity {
   public:
    Activity(Monitor& monitor, std::size_t thread, const char* name);
    Activity(const Activity&) = delete;
    Activity& operator=(const Activity&) = delete;
    ~Activity();

   private:
    Monitor* monitor_;
    std::size_t thread_;
    const char* name_;
    double begin_;
  };
  std::vector<TraceEvent> events() const;

 private:
  Clock::time_point start_;
  bool trace_;
  std::stop_token stop_;
  std::function<void(const std::string&)> note_handler_;
  std::function<void(const std::string&)> phase_handler_;
  std::atomic<std::uint64_t> done_{0};
  mutable std::mutex mutex_;  // guards the members below
  std::uint64_t total_ = 0;
  std::vector<PhaseTime> phases_;
  std::vector<TraceEvent> events_;
};

}  // namespace hetsort::sort
