// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
//
// Calls that a signal may interrupt. Internal to io/.
#pragma once

#include <cerrno>

namespace hetsort::io {

/// Interruptions in a row, without a byte moved between them, after which a call is given up. Far more than signals can
/// cause; only a call that would never end gets there, and then ends as an error.
inline constexpr unsigned kMaxInterruptions = 100'000;

/// Makes a system call again while it fails with EINTR. Returns its last result, with errno.
template <typename SystemCall>
auto retry_interrupted(const SystemCall& call) {
  auto result = call();
  for (unsigned i = 1; i < kMaxInterruptions && result < 0 && errno == EINTR; ++i) result = call();
  return result;
}

}  // namespace hetsort::io
