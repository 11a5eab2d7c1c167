// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
//
// Opens the checkpoint that the options of a sort name.
#pragma once

#include <memory>

#include "comm/communicator.h"
#include "sort/checkpoint/checkpoint.h"
#include "sort/input/input.h"
#include "sort/model/sort_options.h"

namespace hetsort::sort {

/// Opens this rank's part, and those of other ranks that it can read if their number has changed; null if no checkpoint
/// is asked. Collective. Throws: RequestError, also for inputs that cannot be read again; io::Error; PeerFailed.
std::unique_ptr<Checkpoint> open_checkpoint(const SortOptions& options, const Input& input, comm::Communicator& ranks);

}  // namespace hetsort::sort
