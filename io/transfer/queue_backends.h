// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
//
// The implementations of Queue, one a backend. In: a depth. Out: a queue. Internal to io/.
#pragma once

#include <cstddef>
#include <memory>

namespace hetsort::io {

class Queue;

std::unique_ptr<Queue> make_uring_queue(std::size_t depth);  ///< Throws: Error where there is no io_uring
std::unique_ptr<Queue> make_threads_queue(std::size_t depth);
std::unique_ptr<Queue> make_buffered_queue(std::size_t depth);

}  // namespace hetsort::io
