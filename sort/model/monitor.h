// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
//
// Progress of a sort: its phases, the bytes done, notes to the user, and the activities and waits of its threads. Other
// threads may read it at any time.
#pragma once

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

#include "sort/failure/cancelled.h"
#include "sort/model/wait_profile.h"

namespace hetsort::sort {

/// One phase of one rank, in seconds since the monitor's start.
struct PhaseTime {
  std::string name;
  double begin = 0;
  double end = 0;
  double processor_seconds = 0;  ///< processor time of all threads of the process during the phase
  /// Time in which the rank worked: the phase without waits for other ranks, but at least the time that its processors
  /// needed for this processor time.
  double worked_seconds = 0;
  std::vector<WaitSpan> waits{};          ///< stretches in which it waited for other ranks
  std::vector<WaitForRank> waited_for{};  ///< ranks whose blocks it waited for the longest
};

/// One activity of one thread, for the trace.
struct TraceEvent {
  std::string name;
  std::size_t thread = 0;
  double begin = 0;
  double end = 0;
};

/// What a rank does and has done, for the user and the trace. Thread safety: any thread.
class Monitor {
 public:
  using Clock = std::chrono::steady_clock;

  /// Times count from `start`, which is the same moment on all ranks of a job.
  explicit Monitor(bool trace = false, Clock::time_point start = Clock::now()) : start_(start), trace_(trace) {}

  /// Seconds since the start; never negative, although the clocks of two machines differ a little.
  double seconds() const { return seconds_at(Clock::now()); }

  /// The number of processors that this rank has while all ranks of its host work.
  void set_processors(double processors) { processors_ = processors; }
  /// Begins a phase and ends the one before. `weight`: what a byte of advance() counts in it, see plan_work().
  /// Throws: Cancelled.
  void begin_phase(const std::string& name, double weight = 0);
  /// Ends the last phase.
  void end_phases();
  /// From now on the sort ends with Cancelled once a stop is requested, until the output is published. `too_late` is
  /// called right before publication. Call stop_on() before the sort.
  void stop_on(std::stop_token stop, std::function<void()> too_late = {}) {
    stop_ = std::move(stop);
    too_late_ = std::move(too_late);
  }
  /// Requests to stop come too late from now on. Throws: Cancelled if one came before.
  void ignore_stops();
  /// The work of the whole job, of all ranks and phases, begins now. `total_bytes`: its amount, of which ranks do parts
  /// by advance(); 0 = unknown. `data_bytes`: size of the job's data, which the user knows; 0 = as the amount. A phase
  /// that takes long for its bytes has a higher weight than another, so that the part of the work that is done is about
  /// the part of the time that has passed.
  void plan_work(std::uint64_t total_bytes, std::uint64_t data_bytes = 0);
  /// Sets the amount of work that began as unknown.
  void know_total(std::uint64_t total_bytes, std::uint64_t data_bytes);
  /// `bytes` more of a stream were read. They are what is done while the amount of work is unknown.
  void read(std::uint64_t bytes) { read_.fetch_add(bytes, std::memory_order_relaxed); }
  /// `bytes` more of the phase's work are done. Throws: Cancelled.
  void advance(std::uint64_t bytes) { advance(bytes, weight_.load(std::memory_order_relaxed)); }
  void advance(std::uint64_t bytes, double weight) {
    done_->fetch_add(static_cast<std::uint64_t>(static_cast<double>(bytes) * weight), std::memory_order_relaxed);
    if (stop_.stop_requested()) throw Cancelled();
  }
  /// The counter of this rank's work, and the function that returns the work of other ranks.
  std::shared_ptr<const std::atomic<std::uint64_t>> work() const { return done_; }
  void add_others(std::function<std::uint64_t()> others) { others_ = std::move(others); }

  struct Progress {
    std::string phase;
    std::uint64_t done_bytes = 0;   ///< bytes done by all ranks
    std::uint64_t total_bytes = 0;  ///< 0 = unknown
    double seconds = 0;             ///< time since the work began
    std::uint64_t data_bytes = 0;   ///< size of the job's data; 0 = as total_bytes
  };
  Progress progress() const;

  /// Passes information that is no error to the handler set by on_note(), if there is one.
  void note(const std::string& text);
  void on_note(std::function<void(const std::string&)> handler) { note_handler_ = std::move(handler); }

  std::vector<PhaseTime> phases() const;

  /// What a thread does: work of the phase, or something beside it. While a worker works, only workers' waits count.
  enum class Role : std::uint8_t { kWorker, kBeside };

  /// Records what `thread` does while the object lives, for the trace, and lets its waits count.
  class Activity {
   public:
    Activity(Monitor& monitor, std::size_t thread, const char* name, Role role = Role::kWorker);
    Activity(const Activity&) = delete;
    Activity& operator=(const Activity&) = delete;
    ~Activity();

   private:
    friend class Monitor;
    Monitor* monitor_;
    std::size_t thread_;
    const char* name_;
    Role role_;
    double begin_;
    Activity* outer_;  ///< this thread's activity before this one
  };

  /// The time at which a step of this thread's activity begins, for end_step(); negative without an activity or a
  /// trace.
  static double begin_step();
  /// Records a step of this thread's activity. `begin`: from begin_step() on the same thread.
  static void end_step(const char* name, double begin);

  /// Records a wait of this thread inside its activity, unless it was too short to matter.
  class Wait {
   public:
    /// Stands for some other rank.
    static constexpr int kSomeRank = -1;

    /// Waits for something of this rank, such as its disk: it works.
    explicit Wait(const char* name) : Wait(name, std::nullopt) {}
    /// `for_rank`: the rank that it waits for, or kSomeRank.
    Wait(const char* name, std::optional<int> for_rank);
    Wait(const Wait&) = delete;
    Wait& operator=(const Wait&) = delete;
    ~Wait();

   private:
    const char* name_;
    std::optional<int> for_rank_;
    double begin_;
  };
  /// Records that the whole rank waited for other ranks, which all have to reach the same point.
  void wait_for_all(Clock::time_point begin, Clock::time_point end);
  std::vector<TraceEvent> events() const;

 private:
  static constexpr double kMinWaitSeconds = 5e-5;

  double seconds_at(Clock::time_point moment) const {
    return std::max(0.0, std::chrono::duration<double>(moment - start_).count());
  }
  void record(const TraceEvent& event);
  void begin_work();
  void end_work();
  /// Adds a wait of a thread for another rank to the phase.
  void add_wait(double begin, double end, Role role, int rank);
  /// Ends the phase that is open. Requires: the lock.
  void end_phase(double now);
  /// This thread's activity; null without one.
  static Activity*& current();

  Clock::time_point start_;
  bool trace_;
  std::stop_token stop_;
  std::function<void()> too_late_;
  std::function<void(const std::string&)> note_handler_;
  std::function<std::uint64_t()> others_;
  std::shared_ptr<std::atomic<std::uint64_t>> done_ = std::make_shared<std::atomic<std::uint64_t>>(0);
  std::atomic<double> weight_{1};
  std::atomic<std::uint64_t> read_{0};
  mutable std::mutex mutex_;  // guards the members below
  std::uint64_t total_ = 0;
  std::uint64_t data_ = 0;
  double work_began_ = 0;
  std::vector<PhaseTime> phases_;
  double processor_before_ = 0;  // processor time of the process when the last phase began
  std::vector<TraceEvent> events_;
  double processors_ = 0;             // 0 = not known
  std::optional<WaitProfile> waits_;  // waits of the last phase
  std::size_t workers_ = 0;           // workers that have an activity
  double idle_since_ = 0;             // when the last of them ended it
};

}  // namespace hetsort::sort
