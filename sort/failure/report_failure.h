// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <exception>
#include <new>

#include "comm/communicator.h"

namespace hetsort::sort {

/// The kind of an error and, if a file was concerned, the operation and the path.
comm::FailurePlace failure_place(const std::exception& error);

/// Reports to all ranks that this one failed by `error`.
inline void report_failure(comm::Communicator& ranks, const std::exception& error) {
  const bool no_memory = dynamic_cast<const std::bad_alloc*>(&error) != nullptr;
  ranks.fail(no_memory ? "out of memory" : error.what(), failure_place(error));
}

/// For destructors of memory that messages may use: if the job has failed, waits until no message uses it. Collective
/// then. If the job was aborted, nothing moves messages any more.
void drain_after_failure(comm::Communicator& ranks) noexcept;

}  // namespace hetsort::sort
