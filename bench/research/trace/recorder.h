// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
//
// Records what this process does from the start of MPI to its end.
//
// Computing is processor time of the thread that calls MPI, so that waiting and other processes do not count. A program
// whose threads compute together is measured by that thread. A thread that asks again and again whether a message has
// arrived computes nothing: what it does for less than kPollSeconds after a test that found nothing does not count.
#pragma once

#include <atomic>
#include <cstdint>
#include <map>
#include <mutex>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "bench/research/trace/call.h"

namespace hetsort::research::trace {

/// What the user asks for, from the environment.
struct TraceRequest {
  std::string prefix;       ///< HETSORT_TRACE: where the two files go; empty = nothing is recorded
  std::string ending_call;  ///< HETSORT_TRACE_ITERATION=CALL[:N]: each N-th CALL ends an iteration; empty = none
  std::int64_t ending_each = 1;
  std::int64_t rows = 0;        ///< HETSORT_TRACE_ROWS: rows of all ranks
  std::string shares;           ///< HETSORT_TRACE_SHARES=N,N,...: rows of each rank; empty = equal blocks
  std::int64_t iterations = 0;  ///< HETSORT_TRACE_ITERATIONS: iterations of a whole run; 0 = those of the traced one
  int min_tag = 0;              ///< HETSORT_TRACE_MIN_TAG: messages with a lower tag are not recorded
};
/// Throws: std::runtime_error for a number that is none.
TraceRequest request_from_environment();

class Recorder {
 public:
  /// That of the process.
  static Recorder& instance();

  const TraceRequest& request() const { return request_; }
  bool is_on() const { return on_.load(std::memory_order_relaxed); }
  /// Throws: std::runtime_error as request_from_environment().
  void begin();
  /// Returns all calls, with kEnd as the last. Nothing is recorded any more.
  std::vector<Call> end();
  /// Whether calls were left out at the end because there were too many.
  bool is_full() const { return full_; }

  // By the thread that calls MPI. Other threads may read and write files meanwhile.

  /// Before and after each outermost call of MPI.
  void enter();
  void leave(const char* name);
  void message(CallKind kind, int partner, std::int64_t bytes, int tag);
  void collective(CallKind kind, int ranks, std::int64_t bytes);
  /// The call that ends now was a test that found nothing.
  void found_nothing();

  // By any thread.

  /// Before a file is read or written, and afterwards. `file`: its device and number there.
  void enter_file();
  void leave_file(CallKind kind, std::pair<std::uint64_t, std::uint64_t> file, std::int64_t bytes, double seconds);

 private:
  bool is_caller() const { return caller_.load(std::memory_order_relaxed) == std::this_thread::get_id(); }
  void count_computing();
  void add(Call call);

  TraceRequest request_;
  std::atomic<bool> on_{false};
  std::atomic<std::thread::id> caller_{};  // the thread that calls MPI
  std::int64_t endings_ = 0;               // calls so far that may end an iteration
  std::mutex mutex_;                       // of all below
  double left_ = 0;                        // processor seconds of caller_ at the end of its last call
  double computing_ = 0;                   // since the last call that was recorded
  bool polling_ = false;
  std::vector<Call> calls_;
  bool full_ = false;
  std::map<std::pair<std::uint64_t, std::uint64_t>, std::int32_t> files_;
};

/// Lives during a call of MPI. Calls that MPI makes itself are not recorded.
class InsideCall {
 public:
  explicit InsideCall(const char* name);
  InsideCall(const InsideCall&) = delete;
  InsideCall& operator=(const InsideCall&) = delete;
  ~InsideCall();
  /// Whether the program made the call and it is to be recorded.
  bool is_recorded() const { return recorded_; }
  /// Whether this thread is in a call of MPI.
  static bool any();

 private:
  const char* name_;
  bool recorded_;
};

}  // namespace hetsort::research::trace
