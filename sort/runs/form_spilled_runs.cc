// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <atomic>
#include <mutex>
#include <utility>

#include "io/stopwatch.h"
#include "sort/parallel.h"
#include "sort/runs/form_runs.h"
#include "sort/runs/spill_writer.h"

namespace hetsort::sort {

namespace {

constexpr std::uint64_t kReadPieceBytes = std::uint64_t{1} << 20;
// A run of up to a gibibyte is requested at once; the rest of a larger run as reads complete.
constexpr std::uint64_t kMaxReadsInFlight = 1024;

void make_space(const RankContext& context, const SpillOptions& options, FormedRuns& runs) {
  const io::Backend backend = io::direct_backend(context.access);
  runs.space = std::make_unique<io::SpillSpace>(options.directories, context.plan.spill_block_bytes,
                                                backend != io::Backend::kBuffered);
  runs.spill_backend = runs.space->direct() ? backend : io::Backend::kBuffered;
}

/// The records of one run in a thread's memory.
struct LoadedRun {
  std::byte* base = nullptr;
  std::vector<Segment> segments;
  std::uint64_t first_record = 0;  // in the whole input

  std::uint64_t bytes() const {
    std::uint64_t sum = 0;
    for (const Segment& segment : segments) sum += segment.bytes;
    return sum;
  }
};

/// Sorts loaded runs and spills them. Each thread has one.
class RunSpiller {
 public:
  RunSpiller(const RankContext& context, const ThreadMemory& memory, io::SpillSpace& space, io::Backend backend)
      : context_(context),
        memory_(memory),
        space_(space),
        queue_(io::make_queue(backend, context.plan.staging_blocks)),
        ring_(memory.staging, context.plan.staging_blocks, *queue_) {}

  /// Sorts `run` with an index in `pool` and writes it. Adds its records to `digest`.
  SpilledRun spill(const LoadedRun& run, std::span<std::byte> pool, MultisetDigest& digest, const StopFlag& stop) {
    const RecordLayout& layout = context_.layout;
    const RecordMemory memory{run.base, layout};
    const std::size_t buckets = BucketIndex::bucket_count(run.bytes() / layout.record_bytes);
    BucketIndex index(layout, pool, 1, sample_records(memory, run.segments, buckets), buckets);
    // In pieces, so that fingerprint and keys are computed from the cache.
    for (const Segment& piece : cut(run.segments, kReadPieceBytes / 4, layout.record_bytes)) {
      if (stop) throw Stopped{};
      const std::size_t count = piece.bytes / layout.record_bytes;
      digest.add(run.base + piece.memory_offset, count, layout.record_bytes);
      index.add(0, run.base, piece.memory_offset, count);
    }
    index.finalize(run.base, 1);
    SpillWriter writer(space_, ring_, layout);
    OrderVerifier verifier(layout);
    for (const IndexTask& task : index.tasks()) {
      write_permuted(index.sorted(task, run.base, memory_.scratch), memory, writer, verifier, stop);
      context_.monitor->advance(task.records * layout.record_bytes);
    }
    writer.finish();
    SpilledRun spilled = writer.take_run();
    spilled.first_record = run.first_record;
    return spilled;
  }

 private:
  const RankContext& context_;
  ThreadMemory memory_;
  io::SpillSpace& space_;
  std::unique_ptr<io::Queue> queue_;
  StagingRing ring_;
};

/// Reads one run while the run before is sorted: requests everything at once, and the device works on its queue.
class RunLoader {
 public:
  RunLoader(const Input& input, std::span<std::byte> memory, std::uint64_t max_bytes)
      : input_(input),
        memory_(memory),
        queue_(io::make_queue(input.backend(), std::min(max_bytes / kReadPieceBytes * 2 + 2, kMaxReadsInFlight))),
        reader_(*queue_, memory.data()) {}

  void start(const InputSegment& run) {
    std::uint64_t needed = 0;
    run_ = {memory_.data(), input_.place(run.first_byte, run.bytes, needed), run.first_record};
    // Cut at pages, not records: two concurrent direct reads must not fill the same page.
    pieces_ = cut(run_.segments, kReadPieceBytes, 1);
    started_ = 0;
    request_more();
  }
  const LoadedRun& wait() {
    for (request_more(); !reader_.idle(); request_more()) reader_.wait();
    return run_;
  }

 private:
  void request_more() {
    while (started_ < pieces_.size() && !reader_.full()) reader_.start(pieces_[started_++]);
  }

  const Input& input_;
  std::span<std::byte> memory_;
  LoadedRun run_;
  std::vector<Segment> pieces_;
  std::size_t started_ = 0;
  std::unique_ptr<io::Queue> queue_;
  SegmentReader reader_;
};

/// Cuts segments into equal runs of at most plan.run_bytes. Thread safety: any thread.
class RunCutter {
 public:
  RunCutter(InputSegments& segments, const RankContext& context)
      : segments_(segments),
        record_bytes_(context.layout.record_bytes),
        max_records_(std::max<std::uint64_t>(1, context.plan.run_bytes / record_bytes_)) {}

  /// Starts with the rest of `segment`, which was handed out before, behind its first `taken_bytes`.
  void start_with(const InputSegment& segment, std::uint64_t taken_bytes) { open(segment, taken_bytes); }
  /// The next run; nothing at the end. Throws: what the segments throw.
  std::optional<InputSegment> next() {
    const std::lock_guard lock(mutex_);
    while (true) {
      while (runs_left_ == 0) {
        const std::optional<InputSegment> segment = segments_.next();
        if (!segment) return std::nullopt;
        open(*segment, 0);
      }
      const std::uint64_t records = left_.bytes / record_bytes_;
      const std::uint64_t wanted = cut_bytes_ + (records + runs_left_ - 1) / runs_left_ * record_bytes_;
      const std::uint64_t claimed = std::min(wanted, segments_.claim(wanted));
      runs_left_ = claimed < wanted ? 0 : runs_left_ - 1;
      if (claimed > cut_bytes_) return cut_off(claimed - cut_bytes_);
    }
  }

 private:
  void open(const InputSegment& segment, std::uint64_t taken_bytes) {
    left_ = segment;
    cut_bytes_ = 0;
    cut_off(taken_bytes);
    runs_left_ = (left_.bytes / record_bytes_ + max_records_ - 1) / max_records_;
  }

  InputSegment cut_off(std::uint64_t bytes) {
    const InputSegment run{left_.first_byte, bytes, left_.first_record};
    left_ = {run.first_byte + bytes, left_.bytes - bytes, run.first_record + bytes / record_bytes_};
    cut_bytes_ += bytes;
    return run;
  }

  InputSegments& segments_;
  std::uint64_t record_bytes_;
  std::uint64_t max_records_;
  std::mutex mutex_;
  InputSegment left_;
  std::uint64_t cut_bytes_ = 0;  // of the segment, so far
  std::uint64_t runs_left_ = 0;
};

}  // namespace

void form_spilled_runs(const Input& input, const RankContext& context, const SpillOptions& options,
                       InputSegments& segments, FormedRuns& runs) {
  const MemoryPlan& plan = context.plan;
  make_space(context, options, runs);
  runs.space->reserve(plan.spilled_blocks(input.total_bytes(), context.layout.record_bytes));
  RunCutter cutter(segments, context);
  std::mutex mutex;  // guards `runs`
  run_workers(plan.threads, [&](std::size_t worker, const StopFlag& stop) {
    const Monitor::Activity activity(*context.monitor, worker, "form runs");
    const ThreadMemory memory = context.part(worker);
    const std::size_t half = run_room_bytes(plan.run_bytes);
    std::array<RunLoader, 2> loaders{RunLoader(input, memory.records.first(half), plan.run_bytes),
                                     RunLoader(input, memory.records.subspan(half, half), plan.run_bytes)};
    RunSpiller spiller(context, memory, *runs.space, runs.spill_backend);
    MultisetDigest digest;
    const auto load_next = [&](RunLoader& loader) {
      const std::optional<InputSegment> run = cutter.next();
      if (run) loader.start(*run);
      return run.has_value();
    };
    bool loading = load_next(loaders[0]);
    for (std::size_t turn = 0; loading; turn ^= 1) {
      const LoadedRun& loaded = loaders[turn].wait();
      loading = load_next(loaders[turn ^ 1]);
      SpilledRun spilled = spiller.spill(loaded, memory.records.subspan(2 * half), digest, stop);
      const std::lock_guard lock(mutex);
      runs.spilled.push_back(std::move(spilled));
    }
    const std::lock_guard lock(mutex);
    runs.input += digest;
  });
}

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

/// Makes a run in memory of loaded records, with an index in `pool`.
void keep_loaded(const RankContext& context, const LoadedRun& loaded, std::span<std::byte> pool, FormedRuns& runs) {
  const RecordLayout& layout = context.layout;
  const std::size_t threads = context.plan.threads;
  const std::size_t buckets = BucketIndex::bucket_count(loaded.bytes() / layout.record_bytes);
  MemoryRun run{loaded.first_record, {loaded.base, layout}, nullptr};
  run.index = std::make_unique<BucketIndex>(layout, pool, threads, sample_records(run.memory, loaded.segments, buckets),
                                            buckets);
  const std::vector<Segment> pieces = cut(loaded.segments, kReadPieceBytes / 4, layout.record_bytes);
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
  runs.kept.push_back(std::move(run));
}

}  // namespace

void form_stream_runs(Input& input, const RankContext& context, const SpillOptions& options, InputSegments& segments,
                      FormedRuns& runs) {
  const std::uint64_t record_bytes = context.layout.record_bytes;
  const std::span<std::byte> memory = context.shared_records();
  RunCutter cutter(segments, context);
  if (context.plan.stream_bytes == 0) {
    make_space(context, options, runs);
    spill_rest(input, context, cutter, runs);
    return;
  }
  std::uint64_t filled = 0;  // records from the front, indexes from the back
  std::size_t free_end = memory.size();
  while (true) {
    const std::optional<InputSegment> segment = segments.next();
    if (!segment) return;
    const std::uint64_t wanted = std::min(segment->bytes, context.plan.stream_bytes - filled);
    const io::Stopwatch asked;
    const std::uint64_t got = input.read_stream(memory.subspan(filled, wanted));
    runs.waited_seconds += asked.seconds();
    if (filled + got == context.plan.stream_bytes) {
      // Memory is full before the stream has ended.
      make_space(context, options, runs);
      spill_first_fill(context, got, segment->first_record, runs);
      cutter.start_with(*segment, got);
      spill_rest(input, context, cutter, runs);
      return;
    }
    if (got == 0) continue;
    const std::size_t pool = BucketIndex::pool_bytes(got / record_bytes, context.plan.threads);
    free_end -= pool;
    keep_loaded(context, in_one_segment(memory.data(), filled, got, segment->first_record),
                memory.subspan(free_end, pool), runs);
    filled += got;
  }
}

}  // namespace hetsort::sort
