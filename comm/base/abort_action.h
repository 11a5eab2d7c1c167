// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
//
// What this process does right before the communicator ends it, for example to remove unfinished files.
#pragma once

namespace hetsort::comm {

/// Replaces the action, which may run on any thread. Thread safety: any thread.
void set_abort_action(void (*action)() noexcept);
void run_abort_action() noexcept;

}  // namespace hetsort::comm
