// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
#include "comm/base/abort_action.h"

#include <atomic>

namespace hetsort::comm {

namespace {

std::atomic<void (*)() noexcept> abort_action{nullptr};

}  // namespace

void set_abort_action(void (*action)() noexcept) { abort_action = action; }

void run_abort_action() noexcept {
  if (const auto action = abort_action.load(); action != nullptr) action();
}

}  // namespace hetsort::comm
