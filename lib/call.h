// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
//
// One call of the library: it runs on the caller's ranks, and ends for all of them in the same way.
#pragma once

#include <functional>
#include <optional>
#include <span>
#include <stop_token>
#include <string>
#include <thread>

#include "cli/shared/job.h"
#include "hetsort/sort.h"
#include "sort/model/monitor.h"

namespace hetsort::lib {

/// Checks the version of the caller's headers. Throws: Error if the library is older.
void check_header_version(int header_version);

/// Throws the Error of a call that no rank has begun.
[[noreturn]] void throw_request_error(const std::string& message);

/// The part of a message behind "OPERATION PATH: ", if it begins so.
std::string reason_in(const std::string& message, const std::string& operation, const std::string& path);

struct Call {
  const Ranks& ranks;
  const Control& control;
  comm::CommunicatorOptions communication{};
  cli::SharedSettings shared{};  ///< settings that all ranks must have in common
  std::string mistake{};         ///< why this rank cannot take part; or empty
  /// Reports a request to stop to ranks that wait. Once it is reset, requests come too late.
  std::optional<std::stop_callback<std::function<void()>>> on_stop{};
};

/// Runs body(ranks) and agrees on the outcome. With ranks of MPI the calling thread makes all calls of MPI, so that any
/// level of thread support suffices, and another thread runs the body. Collective. Throws: Error, the same on all
/// ranks.
void run_call(Call& call, const std::function<void(comm::Communicator&)>& body);

/// Reports the progress of a monitor while it lives, and makes it stop when the caller of a call wants that.
class Watching {
 public:
  Watching(sort::Monitor& monitor, Call& call);
  Watching(const Watching&) = delete;
  Watching& operator=(const Watching&) = delete;
  ~Watching();

 private:
  void report();

  sort::Monitor& monitor_;
  const Control& control_;
  std::jthread thread_;
};

}  // namespace hetsort::lib
