// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
#include "sort/runs/form_runs.h"

#include <algorithm>
#include <utility>

#include "io/stopwatch.h"
#include "sort/model/measured_shares.h"
#include "sort/model/record_order.h"

namespace hetsort::sort {

namespace {

// Number of sampled elements for each bucket: bucket sizes then stay within about 20 % of their mean.
constexpr std::size_t kSamplesABucket = 32;

/// The splitter selection sorts each bucket that it accesses, with one thread. If the ranges of all ranks have as many
/// borders as there are buckets, it accesses nearly all of them: then all threads sort them before. Otherwise buckets
/// are sorted when blocks are sent.
void sort_buckets_before_selection(std::span<const MemoryRun> runs, const RankContext& context) {
  std::size_t buckets = 0;
  for (const MemoryRun& run : runs) buckets += run.index->buckets();
  const std::size_t borders = static_cast<std::size_t>(context.ranks->size()) * context.plan.threads;
  if (buckets > 0 && borders * runs.size() >= buckets) sort_buckets(runs, context);
}

/// Forms the runs of the phase, in any order.
void form_parts(Input& input, const RankContext& context, const SpillOptions& options, InputSegments& segments,
                FormedRuns& runs) {
  const bool lines = context.layout.is_lines();
  if (input.is_memory())
    form_run_over(input.memory(), context, segments, runs);
  else if (input.is_stream())
    (lines ? form_line_stream_runs : form_stream_runs)(input, context, options, segments, runs);
  else if (context.plan.in_memory)
    (lines ? form_memory_run_of_lines : form_memory_runs)(input, context, options, segments, runs);
  else
    (context.plan.forms_together ? form_partly_spilled_runs : form_spilled_runs)(input, context, options, segments,
                                                                                 runs);
}

}  // namespace

FormedRuns form_runs(Input& input, const RankContext& context, const SpillOptions& options, InputSegments& segments,
                     FormedRuns restored) {
  FormedRuns runs = std::move(restored);
  std::uint64_t restored_bytes = 0;
  for (const SpilledRun& run : runs.spilled) restored_bytes += run.records * context.layout.record_bytes;
  const io::Stopwatch watch;
  const double used_before = processor_seconds();
  try {
    form_parts(input, context, options, segments, runs);
  } catch (const LongLine& line) {
    input.refuse_long_line(line.first_byte, line.most_bytes - 1);
  }
  input.check_unchanged();
  std::ranges::sort(runs.kept, {}, &MemoryRun::first_record);
  std::ranges::sort(runs.spilled, {}, &SpilledRun::first_record);
  for (const MemoryRun& run : runs.kept) runs.input_bytes += run.records() * context.layout.record_bytes;
  for (const SpilledRun& run : runs.spilled) runs.input_bytes += run.records * context.layout.record_bytes;
  for (const MemoryRun& run : runs.kept) runs.longest_line = std::max(runs.longest_line, run.index->longest_line());
  // Waits for answers to claims count: all ranks stop claiming together, so that what each has claimed is its rate.
  const Spent spent{std::max(0.0, watch.seconds() - runs.waited_seconds), processor_seconds() - used_before};
  runs.work = {(runs.input_bytes - restored_bytes) / context.layout.planned_bytes(),
               seconds_of_work(spent, read_processor_quota(), context.plan.threads)};
  if (context.ranks->size() > 1) sort_buckets_before_selection(runs.kept, context);
  return runs;
}

std::vector<Element> sample_records(const RecordMemory& memory, std::span<const Segment> segments, std::size_t buckets,
                                    std::span<const Segment> places) {
  std::vector<Element> sample;
  if (buckets < 2) return sample;
  const Order order(memory.layout);
  const std::size_t record_bytes = memory.layout.record_bytes;
  std::uint64_t records = 0;
  for (const Segment& segment : segments) records += segment.bytes / record_bytes;
  const std::uint64_t step = std::max<std::uint64_t>(1, records / (buckets * kSamplesABucket));
  // Takes every step-th record, or the line behind every step-th byte; the rest of a step at a segment's end is carried
  // into the next segment.
  std::uint64_t next = step / 2;
  for (std::size_t i = 0; i < segments.size(); ++i) {
    const std::byte* const first = memory.base + segments[i].memory_offset;
    const std::byte* const end = first + segments[i].bytes;
    const std::uint64_t count = segments[i].bytes / record_bytes;
    for (; next < count; next += step) {
      const std::byte* const record = order.border_behind(first, first + next * record_bytes, end);
      if (record == end) continue;
      const std::uint64_t place = (places.empty() ? segments : places)[i].memory_offset;
      sample.push_back(order.prefix({record, order.end_of_record(record, end)}) |
                       (place + static_cast<std::uint64_t>(record - first)));
    }
    next -= count;
  }
  return sample;
}

}  // namespace hetsort::sort
