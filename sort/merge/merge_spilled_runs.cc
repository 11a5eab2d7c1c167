// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <atomic>
#include <cassert>
#include <mutex>
#include <utility>

#include "sort/checkpoint/checkpoint.h"
#include "sort/merge/merge_ranges.h"
#include "sort/merge/merge_runs.h"
#include "sort/output/output_sinks.h"
#include "sort/runs/spill_writer.h"

namespace hetsort::sort {

namespace {

/// The memory into which a merging thread reads: all of its memory except the staging, and except what lines need that
/// blocks cut.
std::span<std::byte> reading_memory(const ThreadMemory& memory, std::uint64_t cut_line_bytes = 0) {
  const std::size_t all = memory.records.size() + memory.scratch.size_bytes();
  return {memory.records.data(), all - std::min<std::uint64_t>(all / 2, cut_line_bytes) / kPageBytes * kPageBytes};
}

/// Whether no record of the whole input lies between two runs.
bool are_neighbours(const SpilledRun& run, const SpilledRun& next) {
  return run.first_record + run.records == next.first_record;
}

/// Runs [first, last).
struct Group {
  std::size_t first = 0;
  std::size_t last = 0;

  std::size_t count() const { return last - first; }
};

/// The longest sequences of neighbours, which are all runs together.
std::vector<Group> sequences_of(std::span<const SpilledRun> runs) {
  std::vector<Group> sequences;
  for (std::size_t first = 0, last = 0; first < runs.size(); first = last) {
    for (last = first + 1; last < runs.size() && are_neighbours(runs[last - 1], runs[last]);) ++last;
    sequences.push_back({first, last});
  }
  return sequences;
}

/// The `count` runs of a sequence, one after the other, that have the fewest records.
Group lightest(std::span<const SpilledRun> runs, const Group& sequence, std::size_t count) {
  std::uint64_t records = 0;
  std::uint64_t fewest = UINT64_MAX;
  Group found;
  for (std::size_t last = sequence.first + 1; last <= sequence.last; ++last) {
    records += runs[last - 1].records;
    if (last - sequence.first > count) records -= runs[last - 1 - count].records;
    if (last - sequence.first < count || records >= fewest) continue;
    fewest = records;
    found = {last - count, last};
  }
  return found;
}

/// Chooses groups of at most `fan_in` neighbours. Once each group is one run, there are `surplus` runs fewer, or as few
/// as one pass can make them. Few records belong to groups: all other runs are left as they are.
std::vector<Group> groups_to_merge(std::span<const SpilledRun> runs, std::size_t fan_in, std::size_t surplus,
                                   std::size_t threads) {
  // Each thread gets a group, unless groups would be smaller than this: a group costs one more run to merge.
  constexpr std::size_t kMinRunsOfGroup = 5;
  std::vector<Group> groups;
  for (const Group& sequence : sequences_of(runs)) {
    const std::size_t fewest_left = (sequence.count() + fan_in - 1) / fan_in;
    const std::size_t removed = std::min(surplus, sequence.count() - fewest_left);
    if (removed == 0) continue;
    surplus -= removed;
    const std::size_t least = (removed + fan_in - 2) / (fan_in - 1);
    const std::size_t most = std::max(least, std::min(removed / (kMinRunsOfGroup - 1), sequence.count() - removed));
    const std::size_t count = std::clamp(threads, least, most);
    const Group merged = lightest(runs, sequence, removed + count);
    for (std::size_t group = 0; group < count; ++group)
      groups.push_back(
          {merged.first + merged.count() * group / count, merged.first + merged.count() * (group + 1) / count});
  }
  return groups;
}

/// Puts the merged run of each group in the place of its runs.
void replace_groups(std::vector<SpilledRun>& runs, std::span<const Group> groups, std::vector<SpilledRun> merged) {
  std::vector<SpilledRun> left;
  std::size_t next = 0;
  for (std::size_t group = 0; group < groups.size(); ++group) {
    while (next < groups[group].first) left.push_back(std::move(runs[next++]));
    left.push_back(std::move(merged[group]));
    next = groups[group].last;
  }
  while (next < runs.size()) left.push_back(std::move(runs[next++]));
  runs = std::move(left);
}

std::vector<SpilledPortion> portions_between(std::span<const SpilledRun> runs, const Cut& from, const Cut& to) {
  std::vector<SpilledPortion> portions;
  for (std::size_t run = 0; run < runs.size(); ++run) portions.push_back({&runs[run], from[run], to[run]});
  return portions;
}

/// How much a thread merges before it counts as done: all, unless a checkpoint keeps it.
std::uint64_t bytes_of_piece(const FormedRuns& runs, std::size_t ranges, const RankContext& context) {
  constexpr std::uint64_t kPiecesOfRange = 32;
  if (context.checkpoint == nullptr || !context.checkpoint->keeps_output()) return UINT64_MAX;
  return std::clamp(runs.input_bytes / (kPiecesOfRange * std::max<std::size_t>(1, ranges)), std::uint64_t{1} << 20,
                    std::uint64_t{256} << 20);
}

/// Lets a piece that was written count.
void keep(const MergedPiece& piece, const RankContext& context, const Output& output) {
  if (context.checkpoint == nullptr || !context.checkpoint->keeps_output()) return;
  output.first_volume().files().buffered->sync();
  context.checkpoint->add(piece);
}

/// Writes records to one volume after the other. Each but the last ends with the record that fills it.
/// write(first_byte, bytes) writes records of at least `bytes` bytes, and returns how many bytes.
template <typename Write>
void fill_volumes(Output& output, const Write& write) {
  const std::vector<std::uint64_t> wanted(output.cuts().begin(), output.cuts().end());
  std::vector<std::uint64_t> cuts(wanted.size(), UINT64_MAX);
  std::uint64_t at = 0;
  for (std::size_t volume = 0; volume <= wanted.size(); ++volume) {
    output.cut_at(cuts);
    const std::uint64_t end = volume < wanted.size() ? wanted[volume] : UINT64_MAX;
    if (at < end) at += write(at, end - at);
    if (volume < wanted.size()) cuts[volume] = at;
  }
}

}  // namespace

std::size_t min_runs(const FormedRuns& runs) { return runs.kept.size() + sequences_of(runs.spilled).size(); }

void reduce_runs(FormedRuns& runs, const RankContext& context, std::size_t count) {
  if (runs.in_memory()) return;
  const std::uint64_t block_bytes = runs.space->block_bytes();
  const std::size_t fan_in = max_runs(context.plan, block_bytes, runs.longest_line);
  const std::size_t min_count = min_runs(runs);
  while (runs.count() > std::max(count, min_count)) {
    const std::vector<Group> groups =
        groups_to_merge(runs.spilled, fan_in, runs.count() - std::max(count, min_count), context.plan.threads);
    std::vector<SpilledRun> merged(groups.size());
    std::atomic<std::size_t> next{0};
    run_workers(context.plan.threads, [&](std::size_t worker, const StopFlag& stop) {
      const Monitor::Activity activity(*context.monitor, worker, "merge to fewer runs");
      const ThreadMemory memory = context.memory_of(worker);
      for (std::size_t group = next++; group < groups.size(); group = next++) {
        const auto [first, last] = groups[group];
        std::vector<SpilledPortion> portions;
        for (std::size_t run = first; run < last; ++run)
          portions.push_back({&runs.spilled[run], 0, runs.spilled[run].records});
        const auto read_queue = io::make_queue(runs.spill_backend, kSpillReadDepth);
        RunReader reader(*runs.space, context.layout, portions,
                         reading_memory(memory, runs.longest_line * portions.size()), *read_queue);
        merged[group] = spill_merged(reader, runs, context, memory.staging, stop);
        merged[group].first_record = runs.spilled[first].first_record;
        for (std::size_t run = first; run < last; ++run) merged[group].digest += runs.spilled[run].digest;
        if (context.checkpoint != nullptr) context.checkpoint->add(merged[group], *runs.space);
        for (std::size_t run = first; run < last; ++run)
          for (const SpilledBlock& block : runs.spilled[run].blocks)
            if (block.is_in_space()) runs.space->release(block.number);
      }
    });
    replace_groups(runs.spilled, groups, std::move(merged));
  }
}

OrderVerifier merge_spilled_runs(const FormedRuns& runs, std::span<const MergeRange> ranges, const RankContext& context,
                                 Output& output) {
  const RecordLayout& layout = context.layout;
  std::vector<MergedPiece> pieces = merged_before(context);
  std::mutex mutex;  // guards `pieces`
  const std::uint64_t piece_bytes = bytes_of_piece(runs, ranges.size(), context);
  const std::size_t threads = std::min(ranges.size(), context.plan.threads);
  run_tasks(ranges.size(), threads, [&](std::size_t number, std::size_t seat, const StopFlag& stop) {
    const Monitor::Activity activity(*context.monitor, seat, "merge and write");
    const ThreadMemory memory = context.memory_of(seat);
    OutputSinks sinks(output, memory.staging, context.plan.staging_blocks);
    const MergeRange& range = ranges[number];
    const auto read_queue = io::make_queue(runs.spill_backend, kSpillReadDepth);
    RunReader reader(*runs.space, layout, portions_between(runs.spilled, range.first, range.end),
                     reading_memory(memory, runs.longest_line * runs.spilled.size()), *read_queue);
    const std::unique_ptr<Merger> merger = make_merger(reader, layout);
    std::uint64_t at = range.first_record * layout.record_bytes;
    const std::uint64_t end = range.end_record * layout.record_bytes;
    while (at < end) {
      MergedPiece piece{at, OrderVerifier(layout, context.options->output.checksum)};
      const auto sink = sinks.sink_at(at, layout.record_bytes);
      const std::uint64_t written =
          merger->merge(std::min(piece_bytes, end - at), {*sink, piece.verifier, *context.monitor, stop});
      sink->finish();
      if (written == 0) break;
      at += written;
      keep(piece, context, output);
      const std::lock_guard lock(mutex);
      pieces.push_back(std::move(piece));
    }
  });
  std::ranges::sort(pieces, {}, &MergedPiece::first_byte);
  OrderVerifier whole(layout);
  for (MergedPiece& piece : pieces) whole.append(std::move(piece.verifier));
  return whole;
}

WrittenOutput merge_inputs(RecordStreams& inputs, const RankContext& context, const ReadyOutput& output) {
  assert(context.ranks->size() == 1);
  OrderVerifier verifier(context.layout, context.options->output.checksum);
  run_workers(1, [&](std::size_t worker, const StopFlag& stop) {
    const Monitor::Activity activity(*context.monitor, worker, "merge and write");
    OutputSinks sinks(*output, context.beside_shared(worker).staging, context.plan.staging_blocks);
    const std::unique_ptr<Merger> merger = make_merger(inputs, context.layout);
    fill_volumes(*output, [&](std::uint64_t first_byte, std::uint64_t bytes) {
      const auto sink = sinks.sink_at(first_byte, context.layout.record_bytes);
      const std::uint64_t written = merger->merge(bytes, {*sink, verifier, *context.monitor, stop});
      sink->finish();
      return written;
    });
  });
  return {output, {0, std::move(verifier)}};
}

WrittenOutput merge_runs(FormedRuns& runs, const RankContext& context, const ReadyOutput& output) {
  assert(runs.kept.size() <= 1);
  if (runs.in_memory()) {
    context.begin_phase("merge_runs", context.weights.merge);
    if (context.options->output.places) return {output, {0, write_places(runs, context, (*output).places())}};
    return {output, {0, write_memory_run(runs, context, *output)}};
  }
  context.begin_phase("select_splitters");
  RankContext merging = context;
  merging.plan = plan_merge(context.plan, runs.count(), runs.space->block_bytes(), runs.longest_line);
  const std::vector<MergeRange> ranges = select_ranges(runs, merging, *output);
  merging.begin_phase("merge_runs", context.weights.merge);
  return {output, {0, merge_spilled_runs(runs, ranges, merging, *output)}};
}

}  // namespace hetsort::sort
