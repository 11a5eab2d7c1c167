// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
//
// The part of phase form_runs for a stream, whose size may not be known before it ends.
//
// Idea: the stream fills the memory that all threads share. If it ends there, its records stay. Otherwise all threads
// sort and spill what was read; then they take turns to read a run, and sort it while another thread reads. If there
// are so many threads that their runs would be too small, all threads together form one run after the other. They do so
// too with a stream of known size, whose front stays in memory.
#include <algorithm>
#include <atomic>
#include <cassert>
#include <mutex>
#include <utility>

#include "io/stopwatch.h"
#include "sort/machine/parallel.h"
#include "sort/runs/form_runs.h"
#include "sort/runs/run_cutter.h"
#include "sort/runs/run_spiller.h"

namespace hetsort::sort {

namespace {

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
    SpilledByThread spilled;
    const std::uint64_t first = records * worker / threads;
    const std::uint64_t last = records * (worker + 1) / threads;
    if (first == last) return;
    const LoadedRun run = LoadedRun::in_one_segment(memory.data(), first * record_bytes, (last - first) * record_bytes,
                                                    first_record + first);
    spiller.spill(run, pools.subspan(worker * pool_bytes, pool_bytes), spilled, stop);
    const std::lock_guard lock(mutex);
    spilled.move_to(runs);
  });
}

/// Spills the rest of the stream.
void spill_rest(Input& input, const RankContext& context, RunCutter& cutter, FormedRuns& runs) {
  bool ended = false;
  spill_in_turns(context, runs, [&](std::span<std::byte> memory) {
    const std::optional<InputSegment> run = ended ? std::nullopt : cutter.next();
    if (!run) return LoadedRun{};
    const std::size_t filled = input.read_stream(memory.first(run->bytes));
    ended = filled < run->bytes;
    return LoadedRun::in_one_segment(memory.data(), 0, filled, run->first_record);
  });
}

/// Reads segments of the stream into one room, whose front holds the records and whose back holds the indexes.
class StreamRoom {
 public:
  StreamRoom(Input& input, const RankContext& context, std::span<std::byte> memory, FormedRuns& runs)
      : input_(input), context_(context), memory_(memory), free_end_(memory.size()), runs_(runs) {}

  /// Reads up to `bytes` bytes behind those that were read before. Returns how many there were.
  std::uint64_t read(std::uint64_t bytes) {
    const Monitor::Activity activity(*context_.monitor, 0, "read the stream");
    const io::Stopwatch asked;
    got_ = input_.read_stream(memory_.subspan(filled_, bytes));
    runs_.waited_seconds += asked.seconds();
    return got_;
  }
  /// Makes a run of the last read() of a segment. Requires: it returned some records.
  MemoryRun make_run(const InputSegment& segment) {
    assert(got_ > 0);
    const std::uint64_t records = got_ / context_.layout.record_bytes;
    const std::size_t pool = BucketIndex::pool_bytes(records, context_.plan.threads);
    free_end_ -= pool;
    MemoryRun run =
        index_loaded(context_, LoadedRun::in_one_segment(memory_.data(), filled_, got_, segment.first_record), records,
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

/// Spills the rest of the stream with all threads, one run after the other in the slot.
void spill_rest_together(Input& input, const RankContext& context, RunCutter& cutter, FormedRuns& runs) {
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
  spill_rest_together(input, context, cutter, runs);
}

}  // namespace

void form_stream_runs(Input& input, const RankContext& context, const SpillOptions& options, InputSegments& segments,
                      FormedRuns& runs) {
  if (context.plan.kept_bytes > 0) {
    form_partly_spilled_stream_runs(input, context, options, segments, runs);
    return;
  }
  RunCutter cutter(segments, context);
  const auto spill_all_that_is_left = context.plan.forms_together ? spill_rest_together : spill_rest;
  if (context.plan.stream_bytes == 0) {
    make_spill_space(context, options, runs);
    spill_all_that_is_left(input, context, cutter, runs);
    return;
  }
  StreamRoom room(input, context, context.shared_records(), runs);
  while (const std::optional<InputSegment> segment = segments.next()) {
    const std::uint64_t wanted = std::min(segment->bytes, context.plan.stream_bytes - room.filled());
    const std::uint64_t got = room.read(wanted);
    if (room.filled() + got == context.plan.stream_bytes) {
      // Memory is full before the stream has ended.
      make_spill_space(context, options, runs);
      if (context.plan.forms_together)
        runs.spilled.push_back(spill_memory_run(room.make_run(*segment), context, runs));
      else
        spill_first_fill(context, got, segment->first_record, runs);
      cutter.start_with(*segment, got);
      spill_all_that_is_left(input, context, cutter, runs);
      return;
    }
    if (got > 0) runs.kept.push_back(room.make_run(*segment));
  }
}

}  // namespace hetsort::sort
