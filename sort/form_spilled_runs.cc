// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <atomic>
#include <mutex>

#include "sort/form_runs.h"
#include "sort/parallel.h"
#include "sort/spill_writer.h"

namespace hetsort::sort {

namespace {

constexpr std::uint64_t kReadPieceBytes = std::uint64_t{1} << 20;
// A run of a gibibyte is asked for at once; of a larger one the rest when the first has come.
constexpr std::uint64_t kMostReadsInFlight = 1024;

void make_space(const Workshop& workshop, const SpillOptions& options, FormedRuns& runs) {
  const io::Backend backend = io::direct_backend(options.access);
  runs.space = std::make_unique<io::SpillSpace>(options.directories, workshop.plan.spill_block_bytes,
                                                backend != io::Backend::kBuffered);
  runs.spill_backend = runs.space->direct() ? backend : io::Backend::kBuffered;
}

/// Records of one run in a thread's memory and where they lie.
struct LoadedRun {
  std::byte* base = nullptr;
  std::vector<Segment> segments;

  std::uint64_t bytes() const {
    std::uint64_t sum = 0;
    for (const Segment& segment : segments) sum += segment.bytes;
    return sum;
  }
};

/// One thread's means to sort loaded runs and spill them.
class RunSpiller {
 public:
  RunSpiller(const Workshop& workshop, const ThreadMemory& memory, io::SpillSpace& space, io::Backend backend)
      : workshop_(workshop),
        memory_(memory),
        space_(space),
        queue_(io::make_queue(backend, workshop.plan.staging_blocks)),
        ring_(memory.staging, workshop.plan.staging_blocks, *queue_) {}

  /// Sorts `run` with an index in `pool` and writes it. Adds its records to `tally`.
  SpilledRun spill(const LoadedRun& run, std::span<std::byte> pool, Tally& tally, const StopFlag& stop) {
    const RecordLayout& layout = workshop_.layout;
    const RecordMemory memory{run.base, layout};
    const std::size_t buckets = BucketIndex::bucket_count(run.bytes() / layout.record_bytes);
    BucketIndex index(layout, pool, 1, sample_records(memory, run.segments, buckets), buckets);
    // In pieces, so that fingerprint and keys are taken from the cache.
    for (const Segment& piece : cut(run.segments, kReadPieceBytes / 4, layout.record_bytes)) {
      if (stop) throw Stopped{};
      const std::size_t count = piece.bytes / layout.record_bytes;
      tally.add(run.base + piece.memory_offset, count, layout.record_bytes);
      index.add(0, run.base, piece.memory_offset, count);
    }
    index.settle(run.base, 1);
    SpillWriter writer(space_, ring_, layout);
    OrderAudit audit(layout);
    for (const IndexTask& task : index.tasks()) {
      gather(index.sorted(task, run.base, memory_.scratch), memory, writer, audit, stop);
      workshop_.monitor->advance(task.records * layout.record_bytes);
    }
    writer.finish();
    return writer.take_run();
  }

 private:
  const Workshop& workshop_;
  ThreadMemory memory_;
  io::SpillSpace& space_;
  std::unique_ptr<io::Queue> queue_;
  StagingRing ring_;
};

/// Reads one run while the one before is sorted: everything is asked for at once, and the device's queue works on it.
class RunLoader {
 public:
  RunLoader(const Input& input, std::span<std::byte> memory, std::uint64_t most_bytes)
      : input_(input),
        memory_(memory),
        queue_(io::make_queue(input.backend(), std::min(most_bytes / kReadPieceBytes * 2 + 2, kMostReadsInFlight))),
        reader_(*queue_, memory.data()) {}

  void start(std::uint64_t first_byte, std::uint64_t bytes) {
    std::uint64_t needed = 0;
    run_ = {memory_.data(), input_.place(first_byte, bytes, needed)};
    // At pages, not records: two direct reads at once must not fill the same page.
    pieces_ = cut(run_.segments, kReadPieceBytes, 1);
    started_ = 0;
    ask();
  }
  const LoadedRun& wait() {
    for (ask(); !reader_.idle(); ask()) reader_.wait();
    return run_;
  }

 private:
  void ask() {
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

}  // namespace

void form_spilled_runs(const Input& input, const Workshop& workshop, const SpillOptions& options, FormedRuns& runs) {
  const MemoryPlan& plan = workshop.plan;
  const std::uint64_t record_bytes = workshop.layout.record_bytes;
  const std::uint64_t records = input.total_bytes() / record_bytes;
  make_space(workshop, options, runs);
  const std::uint64_t per_block = records_per_block(*runs.space, workshop.layout);
  runs.space->reserve(plan.run_count * ((plan.run_bytes / record_bytes + per_block - 1) / per_block));
  runs.spilled.resize(plan.run_count);
  const auto first_of = [&](std::uint64_t run) {
    return records / plan.run_count * run + std::min(run, records % plan.run_count);
  };
  std::atomic<std::uint64_t> next{0};
  std::mutex mutex;
  run_workers(plan.threads, [&](std::size_t worker, const StopFlag& stop) {
    const Monitor::Activity activity(*workshop.monitor, worker, "form runs");
    const ThreadMemory memory = workshop.part(worker);
    const std::size_t half = run_room_bytes(plan.run_bytes);
    std::array<RunLoader, 2> loaders{RunLoader(input, memory.records.first(half), plan.run_bytes),
                                     RunLoader(input, memory.records.subspan(half, half), plan.run_bytes)};
    RunSpiller spiller(workshop, memory, *runs.space, runs.spill_backend);
    Tally tally;
    const auto load_next = [&](RunLoader& loader) {
      const std::uint64_t run = next++;
      if (run < plan.run_count)
        loader.start(first_of(run) * record_bytes, (first_of(run + 1) - first_of(run)) * record_bytes);
      return run;
    };
    std::uint64_t run = load_next(loaders[0]);
    for (std::size_t turn = 0; run < plan.run_count; turn ^= 1) {
      const LoadedRun& loaded = loaders[turn].wait();
      const std::uint64_t following = load_next(loaders[turn ^ 1]);
      runs.spilled[run] = spiller.spill(loaded, memory.records.subspan(2 * half), tally, stop);
      run = following;
    }
    const std::lock_guard lock(mutex);
    runs.input += tally;
  });
}

namespace {

/// The stream's records in memory at `offset` and on.
LoadedRun in_one_segment(std::byte* base, std::uint64_t offset, std::uint64_t bytes) {
  return {base, {Segment{nullptr, 0, bytes, offset}}};
}

double seconds_since(Monitor::Clock::time_point begin) {
  return std::chrono::duration<double>(Monitor::Clock::now() - begin).count();
}

/// Sorts what the shared memory holds of the stream, in place, one equal part a thread, and spills it as runs.
void spill_first_fill(const Workshop& workshop, std::uint64_t filled_bytes, FormedRuns& runs) {
  const std::size_t threads = workshop.plan.threads;
  const std::uint64_t record_bytes = workshop.layout.record_bytes;
  const std::uint64_t records = filled_bytes / record_bytes;
  const std::span<std::byte> memory = workshop.shared_records();
  const std::span<std::byte> pools = memory.subspan(round_up(filled_bytes, kPageBytes) + kPageBytes);
  const std::size_t pool_bytes = pools.size() / threads / kPageBytes * kPageBytes;
  runs.spilled.resize(threads);
  std::mutex mutex;
  run_workers(threads, [&](std::size_t worker, const StopFlag& stop) {
    RunSpiller spiller(workshop, workshop.beside_shared(worker), *runs.space, runs.spill_backend);
    Tally tally;
    const std::uint64_t first = records * worker / threads;
    const std::uint64_t last = records * (worker + 1) / threads;
    const LoadedRun run = in_one_segment(memory.data(), first * record_bytes, (last - first) * record_bytes);
    runs.spilled[worker] = spiller.spill(run, pools.subspan(worker * pool_bytes, pool_bytes), tally, stop);
    const std::lock_guard lock(mutex);
    runs.input += tally;
  });
}

/// The rest of the stream: threads take turns at reading a run, and sort while another reads.
void spill_rest(Input& input, const Workshop& workshop, FormedRuns& runs) {
  const std::uint64_t run_bytes = workshop.plan.run_bytes;
  bool ended = false;
  std::mutex mutex;  // guards the stream, `ended` and `runs`
  run_workers(workshop.plan.threads, [&](std::size_t worker, const StopFlag& stop) {
    const ThreadMemory memory = workshop.part(worker);
    const std::size_t room = run_room_bytes(run_bytes);
    RunSpiller spiller(workshop, memory, *runs.space, runs.spill_backend);
    Tally tally;
    double waited_seconds = 0;
    while (true) {
      std::size_t filled = 0;
      std::size_t run = 0;
      const Monitor::Clock::time_point asked = Monitor::Clock::now();
      {
        const std::lock_guard lock(mutex);
        if (stop || ended) break;
        filled = input.read_stream(memory.records.first(run_bytes));
        ended = filled < run_bytes;
        if (filled == 0) break;
        run = runs.spilled.size();
        runs.spilled.emplace_back();
      }
      waited_seconds += seconds_since(asked);
      SpilledRun spilled =
          spiller.spill(in_one_segment(memory.records.data(), 0, filled), memory.records.subspan(room), tally, stop);
      const std::lock_guard lock(mutex);
      runs.spilled[run] = std::move(spilled);
    }
    const std::lock_guard lock(mutex);
    runs.input += tally;
    runs.waited_seconds += waited_seconds / static_cast<double>(workshop.plan.threads);
  });
}

}  // namespace

void form_stream_runs(Input& input, const Workshop& workshop, const SpillOptions& options, FormedRuns& runs) {
  const RecordLayout& layout = workshop.layout;
  const std::size_t threads = workshop.plan.threads;
  const std::span<std::byte> memory = workshop.shared_records();
  const Monitor::Clock::time_point asked = Monitor::Clock::now();
  const std::uint64_t filled = input.read_stream(memory.first(workshop.plan.stream_bytes));
  runs.waited_seconds = seconds_since(asked);
  if (filled == workshop.plan.stream_bytes) {
    make_space(workshop, options, runs);
    spill_first_fill(workshop, filled, runs);
    spill_rest(input, workshop, runs);
    return;
  }
  const std::uint64_t records = filled / layout.record_bytes;
  const LoadedRun whole = in_one_segment(memory.data(), 0, filled);
  const std::size_t buckets = BucketIndex::bucket_count(records);
  runs.memory = {memory.data(), layout};
  runs.index = std::make_unique<BucketIndex>(layout, memory.subspan(round_up(filled, kPageBytes) + kPageBytes), threads,
                                             sample_records(runs.memory, whole.segments, buckets), buckets);
  const std::vector<Segment> pieces = cut(whole.segments, kReadPieceBytes / 4, layout.record_bytes);
  std::atomic<std::size_t> next{0};
  std::mutex mutex;
  run_workers(threads, [&](std::size_t worker, const StopFlag& stop) {
    Tally tally;
    for (std::size_t piece = next++; piece < pieces.size() && !stop; piece = next++) {
      const std::size_t count = pieces[piece].bytes / layout.record_bytes;
      tally.add(memory.data() + pieces[piece].memory_offset, count, layout.record_bytes);
      runs.index->add(worker, memory.data(), pieces[piece].memory_offset, count);
    }
    const std::lock_guard lock(mutex);
    runs.input += tally;
  });
  runs.index->settle(memory.data(), threads);
}

}  // namespace hetsort::sort
