// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
#include "io/transfer/queue.h"

#include "io/transfer/queue_backends.h"

namespace hetsort::io {

std::unique_ptr<Queue> make_queue(Backend backend, std::size_t depth) {
  switch (backend) {
    case Backend::kUring:
      return make_uring_queue(depth);
    case Backend::kThreads:
      return make_threads_queue(depth);
    case Backend::kBuffered:
      break;
  }
  return make_buffered_queue(depth);
}

}  // namespace hetsort::io
