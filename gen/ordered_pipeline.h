// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
//
// Chunks that several threads make and that are consumed one at a time in order. A thread that has made a chunk then
// consumes all chunks that are ready in order, unless another thread is consuming. Meanwhile the others make the next
// chunks in the free buffers. So a slow consumer (a file, a pipe) does not wait for chunks, and memory stays bounded by
// the buffers.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>

namespace hetsort::gen {

struct PipelineOptions {
  std::uint64_t chunks = 0;
  std::size_t buffer_bytes = 0;
  unsigned threads = 1;  ///< number of threads, at least 1, the caller's included
};

/// Makes chunk `index` in the buffer and returns its bytes. Called from any thread, several at once.
using MakeChunk = std::function<std::size_t(std::uint64_t index, std::span<std::byte> buffer)>;
/// Called with the chunks 0, 1, 2 ..., from any thread, one at a time.
using ConsumeChunk = std::function<void(std::span<const std::byte> chunk)>;

/// Returns when all chunks are consumed. Allocates: four buffers a thread.
/// Throws: the first exception of `make` or `consume`, after every thread has stopped; nothing is consumed after it.
void run_ordered(const PipelineOptions& options, const MakeChunk& make, const ConsumeChunk& consume);

}  // namespace hetsort::gen
