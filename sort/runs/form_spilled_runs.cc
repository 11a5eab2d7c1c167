// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
//
// The part of phase form_runs for files that do not fit memory.
//
// Idea: each thread has memory for two runs. While it sorts and spills one, the device reads the next. At a line that
// is longer than a run, all threads but one pause, and that one forms a run with the memory of all.
#include <algorithm>
#include <array>
#include <mutex>
#include <utility>

#include "sort/input/segment_reader.h"
#include "sort/machine/parallel.h"
#include "sort/runs/form_runs.h"
#include "sort/runs/run_cutter.h"
#include "sort/runs/run_spiller.h"

namespace hetsort::sort {

namespace {

constexpr std::uint64_t kReadPieceBytes = std::uint64_t{1} << 20;
// A run of up to a gibibyte is requested at once; the rest of a larger run as reads complete.
constexpr std::uint64_t kMaxReadsInFlight = 1024;

/// Reads one run while the run before is sorted. It requests the whole run at once, so that the device stays busy.
class RunLoader {
 public:
  RunLoader(const Input& input, std::span<std::byte> memory, std::uint64_t max_bytes)
      : input_(input),
        memory_(memory),
        queue_(io::make_queue(input.backend(), std::min(max_bytes / kReadPieceBytes * 2 + 2, kMaxReadsInFlight))),
        reader_(*queue_, memory.data(), input.terminator()) {}

  void start(const InputSegment& run) {
    std::uint64_t needed = 0;
    run_ = {memory_.data(), input_.place(run.first_byte, run.bytes, needed), run.first_record, run.first_byte};
    // Pieces end at page borders, not record borders: two concurrent direct reads must not fill the same page.
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

/// All threads form the runs that next_run() returns, until there is none. Thread safety of next_run: any thread.
template <typename NextRun>
void spill_each(const Input& input, const RankContext& context, const NextRun& next_run, FormedRuns& runs) {
  const MemoryPlan& plan = context.plan;
  std::mutex mutex;  // guards `runs`
  run_workers(plan.threads, [&](std::size_t worker, const StopFlag& stop) {
    const Monitor::Activity activity(*context.monitor, worker, "form runs");
    const ThreadMemory memory = context.memory_of(worker);
    const std::size_t half = run_room_bytes(plan.run_bytes);
    std::array<RunLoader, 2> loaders{RunLoader(input, memory.records.first(half), plan.run_bytes),
                                     RunLoader(input, memory.records.subspan(half, half), plan.run_bytes)};
    RunSpiller spiller(context, memory, *runs.space, runs.spill_backend);
    SpilledByThread spilled;
    const auto load_next = [&](RunLoader& loader) {
      const std::optional<InputSegment> run = next_run();
      if (run) loader.start(*run);
      return run.has_value();
    };
    bool loading = load_next(loaders[0]);
    for (std::size_t turn = 0; loading; turn ^= 1) {
      const LoadedRun& loaded = loaders[turn].wait();
      loading = load_next(loaders[turn ^ 1]);
      spiller.spill(loaded, memory.records.subspan(2 * half), spilled, stop);
    }
    const std::lock_guard lock(mutex);
    spilled.move_to(runs);
  });
}

}  // namespace

void form_spilled_runs(const Input& input, const RankContext& context, const SpillOptions& options,
                       InputSegments& segments, FormedRuns& runs) {
  make_spill_space(context, options, runs);
  reserve_spill_space(input, context, runs);
  RunCutter cutter(segments, context, input.terminator() ? &input : nullptr);
  const auto next_run = [&] { return cutter.next(); };
  spill_each(input, context, next_run, runs);
  const RankContext alone = context.alone();
  while (std::optional<InputSegment> run = cutter.next_with_long_line(alone.plan.run_bytes)) {
    spill_each(
        input, alone, [&] { return std::exchange(run, std::nullopt); }, runs);
    spill_each(input, context, next_run, runs);
  }
}

}  // namespace hetsort::sort
