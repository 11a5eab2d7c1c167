// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
//
// What a run tells while it works: its phases and how far it is. The caller's threads may look at any time.
#pragma once

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <mutex>
#include <string>
#include <vector>

namespace hetsort::sort {

/// One phase of one rank, in seconds since the monitor was made.
struct PhaseTime {
  std::string name;
  double begin = 0;
  double end = 0;
};

/// One activity of one thread, for the trace.
struct TraceEvent {
  std::string name;
  std::size_t lane = 0;
  double begin = 0;
  double end = 0;
};

/// Thread safety: any thread.
class Monitor {
 public:
  using Clock = std::chrono::steady_clock;

  /// Times count from `start`, which for a rank of many is when rank 0 began.
  explicit Monitor(bool trace = false, Clock::time_point start = Clock::now()) : start_(start), trace_(trace) {}

  /// Not below 0: clocks of two machines differ by a little.
  double seconds() const { return std::max(0.0, std::chrono::duration<double>(Clock::now() - start_).count()); }

  /// A phase lasts until the next begins; end_phases() ends the last. `bytes` = its amount of work, 0 = unknown.
  /// Throws: what the handler of phases throws.
  void begin_phase(const std::string& name, std::uint64_t bytes);
  /// `handler` is told of each phase when it begins, on the thread that begins it.
  void on_phase(std::function<void(const std::string&)> handler) { phase_handler_ = std::move(handler); }
  void end_phases();
  void advance(std::uint64_t bytes) { done_.fetch_add(bytes, std::memory_order_relaxed); }

  struct Progress {
    std::string phase;
    std::uint64_t done_bytes = 0;
    std::uint64_t total_bytes = 0;
    double phase_seconds = 0;
  };
  Progress progress() const;

  /// Something the user may want to know although nothing is wrong. Goes to whoever asked for notes.
  void note(const std::string& text);
  void on_note(std::function<void(const std::string&)> handler) { note_handler_ = std::move(handler); }

  std::vector<PhaseTime> phases() const;

  /// Records what the thread of `lane` does while the object lives; nothing without a trace.
  class Activity {
   public:
    Activity(Monitor& monitor, std::size_t lane, const char* name);
    Activity(const Activity&) = delete;
    Activity& operator=(const Activity&) = delete;
    ~Activity();

   private:
    Monitor* monitor_;
    std::size_t lane_;
    const char* name_;
    double begin_;
  };
  std::vector<TraceEvent> events() const;

 private:
  Clock::time_point start_;
  bool trace_;
  std::function<void(const std::string&)> note_handler_;
  std::function<void(const std::string&)> phase_handler_;
  std::atomic<std::uint64_t> done_{0};
  mutable std::mutex mutex_;  // guards what follows
  std::uint64_t total_ = 0;
  std::vector<PhaseTime> phases_;
  std::vector<TraceEvent> events_;
};

}  // namespace hetsort::sort
