// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <numeric>
#include <utility>

#include "sort/merge/merge_runs.h"
#include "sort/output/output_sinks.h"
#include "sort/select/sorted_runs.h"

namespace hetsort::sort {

namespace {

/// Consecutive tasks that one thread writes as one range of the output.
struct TaskRange {
  std::size_t first_task = 0;
  std::size_t last_task = 0;
  std::uint64_t first_byte = 0;
};

// Minimum range with direct I/O. Each range ends in partial pages, which are written separately; large ranges make them
// rare.
constexpr std::uint64_t kDirectRangeBytes = std::uint64_t{32} << 20;

/// The ranges of the output. A range begins in one volume; only its last task may reach into the next ones.
std::vector<TaskRange> make_ranges(std::span<const IndexTask> tasks, const Output& output) {
  const std::uint64_t min_bytes = output.is_direct() ? kDirectRangeBytes : 1;
  std::vector<TaskRange> ranges;
  std::uint64_t byte = 0;
  for (std::size_t task = 0; task < tasks.size();) {
    TaskRange range{task, task, byte};
    const std::uint64_t end = std::min(min_bytes, output.first_of(output.volume_at(byte) + 1) - byte);
    while (range.last_task < tasks.size() && byte - range.first_byte < end) byte += tasks[range.last_task++].bytes;
    task = range.last_task;
    ranges.push_back(range);
  }
  return ranges;
}

/// The order in which threads take the ranges: the ranges of a volume one after the other, all volumes in turn, so that
/// all volumes are written at the same time. A single volume is written from front to back.
std::vector<std::size_t> in_turn(std::span<const TaskRange> ranges, const Output& output) {
  std::vector<std::size_t> in_volume(std::max<std::size_t>(1, output.volumes().size()));
  std::vector<std::size_t> number_in_volume;
  number_in_volume.reserve(ranges.size());
  for (const TaskRange& range : ranges) number_in_volume.push_back(in_volume[output.volume_at(range.first_byte)]++);
  std::vector<std::size_t> order(ranges.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::stable_sort(order, {}, [&](std::size_t range) { return number_in_volume[range]; });
  return order;
}

/// Cuts volumes at the nearest begin of a record before the planned place.
void cut_at_records(const FormedRuns& runs, const RankContext& context, Output& output) {
  const std::unique_ptr<SortedRuns> view = view_of(runs.kept, context.beside_shared(0).scratch);
  std::vector<std::uint64_t> cuts(output.cuts().begin(), output.cuts().end());
  const std::size_t record_bytes = context.layout.record_bytes;
  for (std::uint64_t& cut : cuts) cut = view->line_start(0, cut / record_bytes) * record_bytes;
  output.cut_at(cuts);
}

/// Lets threads write their ranges of a stream in order. A thread that waits waits for a range that another one writes.
class Turn {
 public:
  void wait_for(std::size_t number, const StopFlag& stop) {
    std::unique_lock lock(mutex_);
    while (now_ != number) {
      if (stop) throw Stopped{};
      changed_.wait_for(lock, std::chrono::milliseconds(50));
    }
  }
  void pass() {
    {
      const std::lock_guard lock(mutex_);
      ++now_;
    }
    changed_.notify_all();
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  std::size_t now_ = 0;
};

}  // namespace

OrderVerifier write_memory_run(const FormedRuns& runs, const RankContext& context, Output& output) {
  const std::size_t record_bytes = context.layout.record_bytes;
  if (runs.kept.empty()) return OrderVerifier(context.layout, context.options->output.checksum);
  const MemoryRun& run = runs.kept.front();
  const std::span<const IndexTask> tasks = run.index->tasks();
  if (output.volumes().size() > 1) cut_at_records(runs, context, output);
  const std::vector<TaskRange> ranges = make_ranges(tasks, output);
  const std::vector<std::size_t> order = in_turn(ranges, output);
  std::vector<OrderVerifier> verifiers(ranges.size(), OrderVerifier(context.layout, context.options->output.checksum));
  std::atomic<std::size_t> next{0};
  Turn turn;
  run_workers(context.plan.threads, [&](std::size_t worker, const StopFlag& stop) {
    const Monitor::Activity activity(*context.monitor, worker, "sort buckets and write");
    const ThreadMemory memory = context.beside_shared(worker);
    OutputSinks sinks(output, memory.staging, context.plan.staging_blocks);
    for (std::size_t taken = next++; taken < order.size(); taken = next++) {
      const std::size_t at = order[taken];
      const TaskRange& range = ranges[at];
      const double begin = Monitor::begin_step();
      const auto sink = sinks.sink_at(range.first_byte, record_bytes);
      for (std::size_t task = range.first_task; task < range.last_task; ++task) {
        const std::span<const Element> elements = run.index->sorted(tasks[task], run.memory.base, memory.scratch);
        if (output.is_stream() && task == range.first_task) turn.wait_for(at, stop);
        write_permuted(elements, run.memory, {*sink, &verifiers[at], stop});
        context.monitor->advance(tasks[task].bytes);
      }
      sink->finish();
      if (output.is_stream()) turn.pass();
      Monitor::end_step("write a range", begin);
    }
  });
  // Unmapping costs as much as mapping: all threads do it, instead of one when the process ends.
  if (runs.mapped)
    run_workers(context.plan.threads,
                [&](std::size_t worker, const StopFlag&) { runs.mapped->let_go(worker, context.plan.threads); });
  OrderVerifier whole(context.layout);
  for (OrderVerifier& verifier : verifiers) whole.append(std::move(verifier));
  return whole;
}

}  // namespace hetsort::sort
