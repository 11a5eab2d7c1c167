// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
//
// Takes the place of queue_uring.cc in a build without liburing.
#include "io/error.h"
#include "io/transfer/queue.h"
#include "io/transfer/queue_backends.h"

namespace hetsort::io {

std::unique_ptr<Queue> make_uring_queue(std::size_t) {
  throw Error("set up", "io_uring", "this program was built without liburing");
}

bool uring_available() { return false; }

}  // namespace hetsort::io
