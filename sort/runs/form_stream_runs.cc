// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
//
// The part of phase form_runs for a stream, whose size may not be known before it ends.
//
// Idea: the stream fills the memory that all threads share. If it ends there, its records stay. Otherwise all threads
// sort and spill what was read; then they take turns to read a run, and sort it while another thread reads. Of a stream
// of known size the front stays in memory, and all threads together form one run after the other of the rest.
#include <algorithm>
#include <atomic>
#include <mutex>
#include <utility>

#include "io/stopwatch.h"
#include "sort/parallel.h"
#include "sort/runs/form_runs.h"
#include "sort/runs/run_cutter.h"
#include "sort/runs/run_spiller.h"

namespace hetsort::sort {

namespace {

/// A run of the stream's records at `offset` in memory.
LoadedRun in_one_segment(std::byte* base, std::uint64_t offset, std::uint64_t bytes, std::uint64_t first_record) {
  return {base, {Segment{nullptr, 0, bytes, offset}}, first_record};
}

/// Sorts the first `filled_bytes` of the shared memory in place, one equal part a thread, and spills the parts as runs.
void spill_first_fill(const RankContext& context, std::uint64_t filled_bytes, std::uint64_t first_record,
                      FormedRuns& runs) {
  const std::size_t threads = context.plan.threads;
  const std::uint64_t record_bytes = context.layout.record_bytes;
  const std::uint64_t records = filled_bytes / record_bytes;
  const std::span<std::byte> memory = context.shared_records();
  const std::span<std::byte> pools = memory.subspan(round_up(filled_bytes, kPageBytes) + kPageBytes);
  const std::size_t pool_bytes = pools.size() / threads / kPageBytes * kPageBytes;
  std::mutex mutex;
  run_workers(threads, [&](std::size_t worker, const StopFlag& stop) {
    RunSpiller spiller(context, context.beside_shared(worker), *runs.space, runs.spill_backend);
    MultisetDigest digest;
    const std::uint64_t first = records * worker / threads;
    const std::uint64_t last = records * (worker + 1) / threads;
    if (first == last) return;
    const LoadedRun run =
        in_one_segment(memory.data(), first * record_bytes, (last - first) * record_bytes, first_record + first);
    SpilledRun spilled = spiller.spill(run, pools.subspan(worker * pool_bytes, pool_bytes), digest, stop);
    const std::lock_guard lock(mutex);
    runs.spilled.push_back(std::move(spilled));
    runs.input += digest;
  });
}

/// Spills the rest of the stream: threads take turns to read a run, and sort it while another thread reads.
void spill_rest(Input& input, const RankContext& context, RunCutter& cutter, FormedRuns& runs) {
  bool ended = false;
  std::mutex mutex;  // guards the stream, `ended` and `runs`
  run_workers(context.plan.threads, [&](std::size_t worker, const StopFlag& stop) {
    const ThreadMemory memory = context.part(worker);
    const std::size_t room = run_room_bytes(context.plan.run_bytes);
    RunSpiller spiller(context, memory, *runs.space, runs.spill_backend);
    MultisetDigest digest;
    double waited_seconds = 0;
    while (true) {
      std::size_t filled = 0;
      std::optional<InputSegment> run;
      const io::Stopwatch asked;
      {
        const std::lock_guard lock(mutex);
        if (stop || ended) break;
        run = cutter.next();
        if (!run) break;
        filled = input.read_stream(memory.records.first(run->bytes));
        ended = filled < run->bytes;
        if (filled == 0) break;
      }
      waited_seconds += asked.seconds();
      SpilledRun spilled = spiller.spill(in_one_segment(memory.records.data(), 0, filled, run->first_record),
                                         memory.records.subspan(room), digest, stop);
      const std::lock_guard lock(mutex);
      runs.spilled.push_back(std::move(spilled));
    }
    const std::lock_guard lock(mutex);
    runs.input += digest;
    runs.waited_seconds += waited_seconds / static_cast<double>(context.plan.threads);
  });
}

/// Makes a run in memory of loaded records, with an index in `pool`. Adds the records to the digest of `runs`.
MemoryRun index_loaded(const RankContext& context, const LoadedRun& loaded, std::span<std::byte> pool,
                       FormedRuns& runs) {
  const RecordLayout& layout = context.layout;
  const std::size_t threads = context.plan.threads;
  const std::size_t buckets = BucketIndex::bucket_count(loaded.bytes() / layout.record_bytes);
  MemoryRun run{loaded.first_record, {loaded.base, layout}, nullptr};
  run.index = std::make_unique<BucketIndex>(layout, pool, threads, sample_records(run.memory, loaded.segments, buckets),
                                            buckets);
  const std::vector<Segment> pieces = cut(loaded.segments, kIndexPieceBytes, layout.record_bytes);
  std::atomic<std::size_t> next{0};
  std::mutex mutex;
  run_workers(threads, [&](std::size_t worker, const StopFlag& stop) {
    MultisetDigest digest;
    for (std::size_t piece = next++; piece < pieces.size() && !stop; piece = next++) {
      const std::size_t count = pieces[piece].bytes / layout.record_bytes;
      digest.add(loaded.base + pieces[piece].memory_offset, count, layout.record_bytes);
      run.index->add(worker, loaded.base, pieces[piece].memory_offset, count);
    }
    const std::lock_guard lock(mutex);
    runs.input += digest;
  });
  run.index->finalize(loaded.base, threads);
  return run;
}

/// Reads segments of the stream into one room, whose front holds the records and whose back holds the indexes.
class StreamRoom {
 public:
  StreamRoom(Input& input, const RankContext& context, std::span<std::byte> memory, FormedRuns& runs)
      : input_(input), context_(context), memory_(memory), free_end_(memory.size()), runs_(runs) {}

  /// Reads up to `bytes` behind what was read before. Returns how many there were.
  std::uint64_t read(std::uint64_t bytes) {
    const io::Stopwatch asked;
    got_ = input_.read_stream(memory_.subspan(filled_, bytes));
    runs_.waited_seconds += asked.seconds();
    return got_;
  }
  /// Makes a run of the last read() of a segment. Requires: it returned some records.
  MemoryRun make_run(const InputSegment& segment) {
    const std::size_t pool = BucketIndex::pool_bytes(got_ / context_.layout.record_bytes, context_.plan.threads);
    free_end_ -= pool;
    MemoryRun run = index_loaded(context_, in_one_segment(memory_.data(), filled_, got_, segment.first_record),
                                 memory_.subspan(free_end_, pool), runs_);
    filled_ += std::exchange(got_, 0);
    return run;
  }
  std::uint64_t filled() const { return filled_; }

 private:
  Input& input_;
  const RankContext& context_;
  std::span<std::byte> memory_;
  std::uint64_t filled_ = 0;
  std::uint64_t got_ = 0;
  std::size_t free_end_;
  FormedRuns& runs_;
};

/// Forms runs of a stream of known size: of its front in memory, of the rest on disk, one after the other.
void form_partly_spilled_stream_runs(Input& input, const RankContext& context, const SpillOptions& options,
                                     InputSegments& segments, FormedRuns& runs) {
  make_spill_space(context, options, runs);
  RunCutter cutter(segments, context);
  StreamRoom kept(input, context, context.kept_room(), runs);
  while (kept.filled() < context.plan.kept_bytes) {
    const std::optional<InputSegment> segment = segments.next();
    if (!segment) return;
    const std::uint64_t bytes = std::min(segment->bytes, context.plan.kept_bytes - kept.filled());
    const std::uint64_t got = kept.read(bytes);
    if (got > 0) runs.kept.push_back(kept.make_run(*segment));
    if (got < bytes) return;  // the stream has ended
    if (kept.filled() == context.plan.kept_bytes) cutter.start_with(*segment, bytes);
  }
  bool ended = false;
  while (!ended) {
    const std::optional<InputSegment> run = cutter.next();
    if (!run) return;
    StreamRoom slot(input, context, context.slot(), runs);
    const std::uint64_t got = slot.read(run->bytes);
    if (got > 0) runs.spilled.push_back(spill_memory_run(slot.make_run(*run), context, runs));
    ended = got < run->bytes;
  }
}

}  // namespace

void form_stream_runs(Input& input, const RankContext& context, const SpillOptions& options, InputSegments& segments,
                      FormedRuns& runs) {
  if (context.plan.kept_bytes > 0) {
    form_partly_spilled_stream_runs(input, context, options, segments, runs);
    return;
  }
  RunCutter cutter(segments, context);
  if (context.plan.stream_bytes == 0) {
    make_spill_space(context, options, runs);
    spill_rest(input, context, cutter, runs);
    return;
  }
  StreamRoom room(input, context, context.shared_records(), runs);
  while (const std::optional<InputSegment> segment = segments.next()) {
    const std::uint64_t wanted = std::min(segment->bytes, context.plan.stream_bytes - room.filled());
    const std::uint64_t got = room.read(wanted);
    if (room.filled() + got == context.plan.stream_bytes) {
      // Memory is full before the stream has ended.
      make_spill_space(context, options, runs);
      spill_first_fill(context, got, segment->first_record, runs);
      cutter.start_with(*segment, got);
      spill_rest(input, context, cutter, runs);
      return;
    }
    if (got > 0) runs.kept.push_back(room.make_run(*segment));
  }
}

}  // namespace hetsort::sort
