// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
//
// Repeats calls that a signal has interrupted. On a file system that is mounted with `intr`, or that a program serves
// (FUSE), these may be any calls on files.
#pragma once

#include <cerrno>

namespace hetsort::io {

/// Interruptions in a row, without a byte moved between them, after which a call fails. Signals cannot cause so many;
/// the limit ends a call that would otherwise be repeated for ever.
inline constexpr unsigned kMaxInterruptions = 100'000;

/// Repeats a system call while it fails with EINTR. Returns its last result, with errno.
template <typename SystemCall>
auto retry_interrupted(const SystemCall& call) {
  auto result = call();
  for (unsigned i = 1; i < kMaxInterruptions && result < 0 && errno == EINTR; ++i) result = call();
  return result;
}

}  // namespace hetsort::io
