// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstddef>
#include <numeric>

#include "sort/checkpoint/checkpoint.h"
#include "sort/merge/merge_ranges.h"
#include "sort/merge/merge_runs.h"
#include "sort/select/select_across_ranks.h"
#include "sort/select/select_splitters.h"
#include "sort/select/sorted_runs.h"

namespace hetsort::sort {

namespace {

/// The cuts near `ranks`, which count bytes, at which lines begin.
std::vector<Cut> select_lines(const FormedRuns& runs, const RankContext& context,
                              std::span<const std::uint64_t> ranks) {
  SpilledLinesView view(runs.spilled, *runs.space, context.layout);
  std::vector<std::uint64_t> places;
  for (const SpilledRun& run : runs.spilled) places.push_back(run.first_record);
  std::vector<Cut> cuts = select_across_ranks({view, places, kAnyKeyBytes}, ranks, *context.ranks);
  for (Cut& cut : cuts) {
    for (std::size_t run = 0; run < cut.size(); ++run) cut[run] = view.line_start(run, cut[run]);
    view.forget();
  }
  return cuts;
}

/// Cuts volumes of lines where lines begin.
void cut_volumes(const FormedRuns& runs, const RankContext& context, Output& output) {
  std::vector<std::uint64_t> first;
  for (const Cut& cut : select_lines(runs, context, output.cuts()))
    first.push_back(std::accumulate(cut.begin(), cut.end(), std::uint64_t{0}));
  output.cut_at(first);
}

/// The cuts of runs near `ranks`, each at the begin of a record. Cuts the output's volumes, too.
std::vector<Cut> select_cuts(const LineKeys& /*keys*/, const FormedRuns& runs, const RankContext& context,
                             std::span<const std::uint64_t> ranks, Output& output) {
  if (output.volumes().size() > 1) cut_volumes(runs, context, output);
  return select_lines(runs, context, ranks);
}

/// Volumes of fixed records are cut where records begin already.
std::vector<Cut> select_cuts(const FixedRecords& records, const FormedRuns& runs, const RankContext& /*context*/,
                             std::span<const std::uint64_t> ranks, Output& /*output*/) {
  return select_splitters(runs.spilled, *runs.space, records.layout, ranks);
}

/// Divides the ranges into parts, so that `count` parts would have about as many records if there were one range.
std::vector<MergeRange> divide(const std::vector<MergeRange>& whole, std::size_t count) {
  std::uint64_t records = 0;
  for (const MergeRange& range : whole) records += range.end_record - range.first_record;
  std::vector<MergeRange> parts;
  std::uint64_t before = 0;
  std::size_t part = 0;
  for (MergeRange range : whole) {
    while (range.first_record < range.end_record) {
      const std::uint64_t end = records * (part + 1) / count;
      const std::uint64_t taken = std::min(range.end_record - range.first_record, end - before);
      if (taken > 0) parts.push_back({range.first_record, range.first_record + taken});
      range.first_record += taken;
      before += taken;
      if (before == end && part + 1 < count) ++part;
    }
  }
  return parts;
}

/// How many ranges are merged: as many for each thread. Threads take one after the other, so that one that the machine
/// slows down leaves more of them to the rest. At each border up to a block of each run is read twice: ranges are long.
std::size_t range_count(const FormedRuns& runs, std::size_t threads) {
  constexpr std::uint64_t kMinBlocks = 16;  // of each run in a range
  constexpr std::uint64_t kMaxRangesOfThread = 4;
  const std::uint64_t least_bytes =
      kMinBlocks * std::max<std::size_t>(runs.spilled.size(), 1) * runs.space->block_bytes();
  return threads * std::clamp<std::uint64_t>(runs.input_bytes / least_bytes / threads, 1, kMaxRangesOfThread);
}

}  // namespace

std::vector<MergedPiece> merged_before(const RankContext& context) {
  if (context.checkpoint == nullptr || !context.checkpoint->keeps_output()) return {};
  return context.checkpoint->merged(context.layout);
}

std::vector<MergeRange> gaps_between(const std::vector<MergedPiece>& pieces, std::uint64_t records,
                                     std::uint64_t record_bytes) {
  std::vector<MergeRange> gaps;
  std::uint64_t at = 0;
  for (const MergedPiece& piece : pieces) {
    const std::uint64_t first = piece.first_byte / record_bytes;
    if (first > at) gaps.push_back({.first_record = at, .end_record = first});
    at = piece.end_byte() / record_bytes;
  }
  if (records > at) gaps.push_back({.first_record = at, .end_record = records});
  return gaps;
}

void cut_ranges(const FormedRuns& runs, const RankContext& context, Output& output, std::vector<MergeRange>& ranges) {
  const std::uint64_t record_bytes = context.layout.record_bytes;
  std::vector<std::uint64_t> borders;
  for (const MergeRange& range : ranges) borders.insert(borders.end(), {range.first_record, range.end_record});
  std::ranges::sort(borders);
  borders.erase(std::unique(borders.begin(), borders.end()), borders.end());
  std::erase_if(borders,
                [&](std::uint64_t border) { return border == 0 || border == runs.input_bytes / record_bytes; });
  std::vector<Cut> cuts =
      with_records(context.layout, [&](const auto& kind) { return select_cuts(kind, runs, context, borders, output); });
  const auto cut_at = [&](std::uint64_t border) {
    if (border == 0) return Cut(runs.spilled.size(), 0);
    const auto found = std::ranges::lower_bound(borders, border);
    if (found != borders.end()) return cuts[static_cast<std::size_t>(found - borders.begin())];
    Cut whole;
    for (const SpilledRun& run : runs.spilled) whole.push_back(run.records);
    return whole;
  };
  for (MergeRange& range : ranges) {
    range.first = cut_at(range.first_record);
    range.end = cut_at(range.end_record);
    range.first_record = std::accumulate(range.first.begin(), range.first.end(), std::uint64_t{0});
    range.end_record = std::accumulate(range.end.begin(), range.end.end(), std::uint64_t{0});
  }
}

std::vector<MergeRange> select_ranges(FormedRuns& runs, const RankContext& context, Output& output) {
  reduce_runs(runs, context, max_runs(context.plan, runs.space->block_bytes(), runs.longest_line));
  // A stream is written from front to back: one thread merges, and the stream's own thread writes.
  const std::size_t count = output.is_stream() ? 1 : range_count(runs, context.plan.threads);
  const std::uint64_t record_bytes = context.layout.record_bytes;
  std::vector<MergeRange> ranges =
      divide(gaps_between(merged_before(context), runs.input_bytes / record_bytes, record_bytes), count);
  cut_ranges(runs, context, output, ranges);
  return ranges;
}

}  // namespace hetsort::sort
