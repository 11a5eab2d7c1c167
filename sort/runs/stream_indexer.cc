// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
#include "sort/runs/stream_indexer.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "io/stopwatch.h"
#include "sort/input/segment_reader.h"
#include "sort/runs/form_runs.h"
#include "sort/runs/run_spiller.h"

namespace hetsort::sort {

namespace {

// Bytes that arrive before the index is made of a sample of them. The lines of a shorter stream are indexed quickly.
constexpr std::uint64_t kSampleBytes = std::uint64_t{8} << 20;
// The index has room for so many times the expected lines. With more, buckets would be too large.
constexpr std::uint64_t kMostOfExpected = 3;

std::span<std::byte> behind(std::span<std::byte> memory, std::uint64_t bytes) {
  return memory.subspan(std::min<std::uint64_t>(memory.size(), round_up(bytes, kPageBytes) + kPageBytes));
}

}  // namespace

StreamIndexer::StreamIndexer(const RankContext& context, std::span<std::byte> memory, std::uint64_t line_bytes,
                             std::uint64_t expected_bytes)
    : context_(context),
      memory_{memory.data(), context.layout},
      pool_(behind(memory, line_bytes)),
      expected_bytes_(std::min(line_bytes, expected_bytes)),
      keys_(*context.layout.lines),
      digests_(context.plan.threads),
      seconds_(context.plan.threads) {}

void StreamIndexer::index_while(const std::function<void()>& read) {
  run_workers(context_.plan.threads, [&](std::size_t worker, const StopFlag& stop) {
    if (worker == 0) {
      stop_ = &stop;
      try {
        read();
      } catch (...) {
        end();
        throw;
      }
      end();
    }
    work(worker, stop);
  });
}

void StreamIndexer::arrived(std::uint64_t bytes) {
  if (*stop_) throw Stopped{};
  const std::span<const std::byte> fresh(memory_.base + seen_bytes_, bytes - seen_bytes_);
  if (const std::size_t whole = keys_.whole_lines(fresh); whole > 0) whole_bytes_ = seen_bytes_ + whole;
  seen_bytes_ = bytes;
  if (whole_bytes_ < kSampleBytes) return;
  if (made_ == nullptr) make_index();
  const std::lock_guard lock(mutex_);
  const Segment fresh_lines{nullptr, 0, whole_bytes_ - handed_out_bytes_, handed_out_bytes_};
  std::ranges::copy(cut_records(context_.layout, memory_.base, std::span(&fresh_lines, 1), kIndexPieceBytes),
                    std::back_inserter(pieces_));
  handed_out_bytes_ = whole_bytes_;
  changed_.notify_all();
}

/// No more will arrive.
void StreamIndexer::end() {
  const std::lock_guard lock(mutex_);
  ended_ = true;
  changed_.notify_all();
}

void StreamIndexer::make_index() {
  const Segment sampled{nullptr, 0, whole_bytes_, 0};
  const std::uint64_t lines = order::count_lines({memory_.base, whole_bytes_}, keys_.terminator());
  const std::uint64_t expected = std::max(expected_bytes_, whole_bytes_) / (whole_bytes_ / lines);
  const std::size_t buckets = BucketIndex::bucket_count(expected);
  const std::size_t pool_bytes = BucketIndex::pool_bytes(kMostOfExpected * expected, context_.plan.threads);
  const std::span<std::byte> pool = pool_.first(std::min(pool_.size(), pool_bytes));
  made_ = std::make_unique<BucketIndex>(context_.layout, pool, context_.plan.threads,
                                        sample_records(memory_, std::span(&sampled, 1), buckets), buckets);
}

/// Indexes lines until all that have arrived and will arrive are indexed, or the index is given up.
void StreamIndexer::work(std::size_t worker, const StopFlag& stop) {
  while (!stop) {
    Segment piece;
    {
      std::unique_lock lock(mutex_);
      changed_.wait(lock, [&] { return ended_ || full_ || !pieces_.empty(); });
      if (full_ || pieces_.empty()) return;
      piece = pieces_.front();
      pieces_.pop_front();
    }
    if (!index(worker, piece)) {
      const std::lock_guard lock(mutex_);
      full_ = true;
      changed_.notify_all();
    }
  }
}

/// Returns false if the index has no room for the lines.
bool StreamIndexer::index(std::size_t worker, const Segment& piece) {
  const io::Stopwatch watch;
  digests_[worker].add(context_.layout, memory_.base + piece.memory_offset, piece.bytes);
  try {
    made_->add(worker, memory_.base, piece.memory_offset, piece.bytes);
  } catch (const BucketIndex::Full&) {
    return false;
  }
  seconds_[worker] += watch.seconds();
  return true;
}

std::optional<MemoryRun> StreamIndexer::take_run(std::uint64_t first_record, MultisetDigest& digest) {
  if (made_ == nullptr || full_) return std::nullopt;
  for (const MultisetDigest& each : digests_) digest += each;
  made_->finalize(memory_.base, context_.plan.threads);
  return MemoryRun{first_record, memory_, std::move(made_)};
}

}  // namespace hetsort::sort
