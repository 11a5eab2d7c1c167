// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
#include "sort/runs/form_runs.h"

#include <algorithm>

namespace hetsort::sort {

namespace {

// Sampled elements for one bucket: bucket sizes then stay within about 20 % of their mean.
constexpr std::size_t kSamplesABucket = 32;

}  // namespace

FormedRuns form_runs(Input& input, const RankContext& context, const SpillOptions& options, InputSegments& segments) {
  FormedRuns runs;
  if (input.is_stream())
    form_stream_runs(input, context, options, segments, runs);
  else if (context.plan.in_memory)
    form_memory_runs(input, context, segments, runs);
  else
    form_spilled_runs(input, context, options, segments, runs);
  input.check_unchanged();
  std::ranges::sort(runs.kept, {}, &MemoryRun::first_record);
  std::ranges::sort(runs.spilled, {}, &SpilledRun::first_record);
  return runs;
}

std::vector<Element> sample_records(const RecordMemory& memory, std::span<const Segment> segments, std::size_t buckets,
                                    std::span<const Segment> places) {
  std::vector<Element> sample;
  if (buckets < 2) return sample;
  std::uint64_t records = 0;
  for (const Segment& segment : segments) records += segment.bytes / memory.layout.record_bytes;
  const std::uint64_t step = std::max<std::uint64_t>(1, records / (buckets * kSamplesABucket));
  // Every step-th record; what a segment's end cuts off is carried into the next.
  std::uint64_t next = step / 2;
  for (std::size_t i = 0; i < segments.size(); ++i) {
    const std::uint64_t count = segments[i].bytes / memory.layout.record_bytes;
    for (; next < count; next += step) {
      const std::uint64_t at = next * memory.layout.record_bytes;
      const std::uint64_t place = (places.empty() ? segments : places)[i].memory_offset + at;
      sample.push_back(memory.layout.prefix(memory.base + segments[i].memory_offset + at) | place);
    }
    next -= count;
  }
  return sample;
}

}  // namespace hetsort::sort
