// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
#include "gen/ordered_pipeline.h"

#include <algorithm>
#include <condition_variable>
#include <memory>
#include <mutex>
#include <utility>
#include <vector>

#include "gen/thread_team.h"

namespace hetsort::gen {

namespace {

// Threads that find no free buffer sleep until half of the buffers are free. Waking a thread costs the consumer about
// 10 us on a virtual machine, so that it is done only once in several chunks.
constexpr std::size_t kBuffersPerThread = 4;

struct Buffer {
  std::unique_ptr<std::byte[]> data;
  std::size_t used_bytes = 0;
};

class Pipeline {
 public:
  Pipeline(const PipelineOptions& options, const MakeChunk& make, const ConsumeChunk& consume)
      : options_(options), make_(make), consume_(consume), buffers_(kBuffersPerThread * options.threads) {
    for (Buffer& buffer : buffers_) {
      // The buffers are not zeroed, so that memory that is never used is never touched.
      buffer.data = std::make_unique_for_overwrite<std::byte[]>(options.buffer_bytes);
      free_.push_back(&buffer);
    }
    ready_.resize(buffers_.size());
  }

  void run() {
    run_on_threads(options_.threads, [this] { work(); });
  }

 private:
  void work() {
    std::unique_lock lock(mutex_);
    try {
      while (!failed_ && next_to_consume_ < options_.chunks) {
        if (!consuming_ && ready_at(next_to_consume_) != nullptr) {
          consume_ready(lock);
        } else if (next_to_make_ < options_.chunks && !free_.empty()) {
          make_one(lock);
        } else {
          changed_.wait(lock);
        }
      }
    } catch (...) {
      if (!lock.owns_lock()) lock.lock();
      failed_ = true;
      changed_.notify_all();
      throw;
    }
    changed_.notify_all();
  }

  void consume_ready(std::unique_lock<std::mutex>& lock) {
    consuming_ = true;
    while (Buffer* buffer = std::exchange(ready_at(next_to_consume_), nullptr)) {
      lock.unlock();
      consume_(std::span<const std::byte>(buffer->data.get(), buffer->used_bytes));
      lock.lock();
      ++next_to_consume_;
      // The buffer used last is filled next: it is still in the cache.
      free_.push_back(buffer);
      if (free_.size() >= buffers_.size() / 2) changed_.notify_one();
      if (failed_) break;
    }
    consuming_ = false;
  }

  void make_one(std::unique_lock<std::mutex>& lock) {
    Buffer* buffer = free_.back();
    free_.pop_back();
    const std::uint64_t index = next_to_make_++;
    lock.unlock();
    buffer->used_bytes = make_(index, std::span(buffer->data.get(), options_.buffer_bytes));
    lock.lock();
    // No thread needs to be woken: the thread that consumes chunks continues with this one, or the thread that makes
    // the chunk before it does.
    ready_at(index) = buffer;
  }

  /// Every chunk that is not consumed yet holds a buffer, so that there are never more of them than places in ready_.
  Buffer*& ready_at(std::uint64_t index) { return ready_[index % ready_.size()]; }

  const PipelineOptions options_;
  const MakeChunk& make_;
  const ConsumeChunk& consume_;
  std::vector<Buffer> buffers_;

  std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<Buffer*> free_;
  std::vector<Buffer*> ready_;
  std::uint64_t next_to_make_ = 0;
  std::uint64_t next_to_consume_ = 0;
  bool consuming_ = false;
  bool failed_ = false;
};

}  // namespace

void run_ordered(const PipelineOptions& options, const MakeChunk& make, const ConsumeChunk& consume) {
  PipelineOptions used = options;
  used.threads = static_cast<unsigned>(std::clamp<std::uint64_t>(options.chunks, 1, std::max(1U, options.threads)));
  Pipeline(used, make, consume).run();
}

}  // namespace hetsort::gen
