// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
//
// Threads that the system may refuse: it allows a user so many (ulimit -u) and a control group so many (pids.max).
#pragma once

#include <string>
#include <system_error>
#include <thread>
#include <utility>

#include "io/error.h"

namespace hetsort::io {

/// Starts a thread. `purpose` completes "a thread that ..." in the message.
/// Throws: Error "start a thread that sends blocks: Resource temporarily unavailable (...)".
template <typename Work>
std::thread start_thread(const std::string& purpose, Work&& work) {
  try {
    return std::thread(std::forward<Work>(work));
  } catch (const std::system_error& error) {
    throw Error("start", "a thread that " + purpose, error.code().value(), "ulimit -u limits a user's threads");
  }
}

}  // namespace hetsort::io
