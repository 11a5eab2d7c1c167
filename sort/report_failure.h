// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <exception>

#include "comm/communicator.h"
#include "io/error.h"

namespace hetsort::sort {

/// Reports to all ranks that this one failed by `error`, with the operation and the path if a file was concerned.
inline void report_failure(comm::Communicator& ranks, const std::exception& error) {
  const auto* const of_file = dynamic_cast<const io::Error*>(&error);
  ranks.fail(error.what(),
             of_file == nullptr ? comm::FailurePlace{} : comm::FailurePlace{of_file->operation(), of_file->path()});
}

}  // namespace hetsort::sort
