// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
//
// Stands in for queue_uring.cc where liburing was not there at build time.
#include "io/backends/queue_backends.h"

namespace hetsort::io {

std::unique_ptr<Queue> make_uring_queue(std::size_t) {
  throw Error("set up", "io_uring", "this program was built without liburing");
}

bool uring_available() { return false; }

}  // namespace hetsort::io
