// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
#include "sort/merge/restore_runs.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "io/error.h"
#include "io/file_system.h"
#include "io/transfer/access.h"
#include "sort/checkpoint/checkpoint.h"
#include "sort/checkpoint/divide_runs.h"
#include "sort/machine/parallel.h"
#include "sort/merge/merge_ranges.h"
#include "sort/output/verify_output.h"
#include "sort/runs/run_reader.h"
#include "sort/runs/spill_writer.h"

namespace hetsort::sort {

namespace {

/// Whether a run has the blocks that its records fill.
bool is_complete(const SpilledRun& run, std::uint64_t per_block) {
  return run.blocks.size() == (run.records + per_block - 1) / per_block;
}

/// The runs that this rank can read.
std::vector<KeptRun> readable_runs(const RankContext& context, const FormedRuns& runs) {
  std::vector<KeptRun> found = context.checkpoint->runs(*runs.space);
  const std::uint64_t per_block = records_per_block(*runs.space, context.layout);
  for (KeptRun& kept : found) kept.run.prefixes.block_records = kept.run.prefixes.step = per_block;
  std::erase_if(found, [&](const KeptRun& kept) { return !is_complete(kept.run, per_block); });
  return found;
}

/// Which runs each rank takes. Collective.
std::vector<std::vector<OfferedRun>> divide_among_ranks(const RankContext& context,
                                                        std::span<const InputSegment> segments,
                                                        std::span<const KeptRun> readable) {
  RankOffer mine;
  for (const InputSegment& segment : segments)
    mine.share.push_back({segment.first_record, segment.bytes / context.layout.record_bytes});
  for (const KeptRun& kept : readable) mine.runs.push_back(kept.offer());
  std::vector<RankOffer> offers;
  for (const std::vector<std::uint64_t>& numbers : context.ranks->all_gather_lists(numbers_of(mine)))
    offers.push_back(offer_of(numbers));
  return divide_runs(offers);
}

/// Drops pieces of the output that are not as they were written.
void prove_pieces(const RankContext& context, const Output& output) {
  const std::vector<MergedPiece> pieces = merged_before(context);
  if (pieces.empty()) return;
  const Volume& volume = output.first_volume();
  std::vector<OrderVerifier> written;
  std::vector<WrittenRange> ranges;
  for (const MergedPiece& piece : pieces) {
    written.push_back(piece.verifier);
    ranges.push_back({volume.files().buffered, volume.first_byte() + piece.first_byte, piece.verifier.bytes()});
  }
  for (const std::size_t number : find_damaged(written, ranges, context)) {
    context.monitor->note(
        fmt::format("checkpoint {}: {} of the output are merged again: the disk returns other bytes "
                    "than were written",
                    context.checkpoint->folder(), io::human_size(ranges[number].bytes)));
    context.checkpoint->drop_merged(pieces[number].first_byte);
  }
}

/// The ranges of the output that are to be merged.
std::vector<MergeRange> ranges_to_merge(const FormedRuns& runs, const RankContext& context, std::uint64_t share_bytes,
                                        Output& output) {
  std::uint64_t records = 0;
  for (const SpilledRun& run : runs.spilled) records += run.records;
  std::vector<MergedPiece> pieces = merged_before(context);
  const MemoryPlan merging =
      plan_merge(context.plan, runs.spilled.size(), runs.space->block_bytes(), runs.longest_line);
  // Runs that one pass cannot merge are read whole. So are all if one is missing: where pieces end in them is not
  // known.
  if (context.checkpoint->is_doubted() || records * context.layout.record_bytes != share_bytes ||
      runs.spilled.size() > max_runs(merging, runs.space->block_bytes(), runs.longest_line))
    pieces.clear();
  std::vector<MergeRange> ranges = gaps_between(pieces, records, context.layout.record_bytes);
  if (!pieces.empty()) cut_ranges(runs, context, output, ranges);
  return ranges;
}

/// The portions of each run that will be merged.
std::vector<SpilledPortions> portions_to_merge(const FormedRuns& runs, const std::vector<MergeRange>& ranges) {
  std::vector<SpilledPortions> portions;
  for (const SpilledRun& run : runs.spilled) {
    SpilledPortions& of_run = portions.emplace_back();
    const std::size_t number = portions.size() - 1;
    for (const MergeRange& range : ranges)
      of_run.push_back(range.end.empty() ? SpilledPortion{&run, 0, run.records}
                                         : SpilledPortion{&run, range.first[number], range.end[number]});
  }
  return portions;
}

/// Reads portions of one run. Throws: io::Error if it cannot be used.
void prove(const SpilledPortions& portions, const RankContext& context, const FormedRuns& runs,
           std::span<std::byte> memory) {
  const auto queue = io::make_queue(runs.spill_backend, kSpillReadDepth);
  RunReader reader(*runs.space, context.layout, std::vector<SpilledPortions>{portions}, memory, *queue);
  for (std::size_t bytes = 1; bytes > 0;) {
    bytes = reader.next(0).size();
    context.monitor->advance(bytes, context.weights.form);
  }
}

/// Returns for each of `runs.spilled` why it cannot be used; nothing if it can.
std::vector<std::string> faults_of(const FormedRuns& runs, const RankContext& context,
                                   const std::vector<MergeRange>& ranges) {
  const std::vector<SpilledPortions> portions = portions_to_merge(runs, ranges);
  std::vector<std::string> faults(portions.size());
  run_tasks(portions.size(), context.plan.threads, [&](std::size_t run, std::size_t seat, const StopFlag&) {
    const Monitor::Activity activity(*context.monitor, seat, "check runs of the checkpoint");
    try {
      prove(portions[run], context, runs, context.memory_of(seat).records);
    } catch (const io::Error& error) {
      faults[run] = error.what();
    }
  });
  return faults;
}

/// Removes the runs of this rank that are not as they were written. Returns those of all ranks. Collective.
std::set<std::uint64_t> drop_damaged(FormedRuns& runs, const RankContext& context, std::uint64_t share_bytes,
                                     Output& output) {
  const std::vector<std::string> faults = faults_of(runs, context, ranges_to_merge(runs, context, share_bytes, output));
  std::vector<std::uint64_t> damaged;
  std::vector<SpilledRun> proven;
  for (std::size_t number = 0; number < faults.size(); ++number) {
    SpilledRun& run = runs.spilled[number];
    if (faults[number].empty()) {
      proven.push_back(std::move(run));
      continue;
    }
    damaged.push_back(run.first_record);
    context.monitor->note(fmt::format("checkpoint {}: a run of {} is made again: {}", context.checkpoint->folder(),
                                      io::human_size(run.records * context.layout.record_bytes), faults[number]));
  }
  runs.spilled = std::move(proven);
  std::set<std::uint64_t> all;
  for (const std::vector<std::uint64_t>& of_rank : context.ranks->all_gather_lists(damaged))
    all.insert(of_rank.begin(), of_rank.end());
  return all;
}

/// Adds what is known of the runs to `runs`, and says that they are used.
void take(FormedRuns& runs, const RankContext& context) {
  std::uint64_t bytes = 0;
  for (const SpilledRun& run : runs.spilled) {
    bytes += run.records * context.layout.record_bytes;
    runs.input += run.digest;
  }
  if (!runs.spilled.empty())
    context.monitor->note(fmt::format("checkpoint {}: continues with {} runs, {} of the input",
                                      context.checkpoint->folder(), runs.spilled.size(), io::human_size(bytes)));
}

}  // namespace

std::unique_ptr<InputSegments> restore_runs(const RankContext& context, InputSegments& segments, Output& output,
                                            FormedRuns& runs) {
  std::vector<InputSegment> whole;
  while (const std::optional<InputSegment> segment = segments.next()) whole.push_back(*segment);
  const io::Backend backend = io::direct_backend(context.options->access);
  runs.space = context.checkpoint->open_space(backend != io::Backend::kBuffered);
  runs.spill_backend = runs.space->direct() ? backend : io::Backend::kBuffered;
  std::vector<KeptRun> readable = readable_runs(context, runs);
  const std::vector<std::vector<OfferedRun>> divided = divide_among_ranks(context, whole, readable);
  std::set<OfferedRun> all;
  std::vector<RecordRange> ranges;
  for (const std::vector<OfferedRun>& of_rank : divided)
    for (const OfferedRun& run : of_rank) {
      all.insert(run);
      ranges.push_back(run.range);
    }
  const std::set<OfferedRun> mine(divided[context.rank()].begin(), divided[context.rank()].end());
  std::vector<SpilledRun> in_own_file;  // other ranks may read them, too
  for (KeptRun& kept : readable) {
    if (kept.own && all.contains(kept.offer())) in_own_file.push_back(kept.run);
    if (!mine.contains(kept.offer())) continue;
    runs.longest_line = std::max(runs.longest_line, kept.run.longest_line);
    runs.spilled.push_back(std::move(kept.run));
  }
  std::ranges::sort(runs.spilled, {}, &SpilledRun::first_record);
  std::uint64_t share_bytes = 0;
  for (const InputSegment& segment : whole) share_bytes += segment.bytes;
  prove_pieces(context, output);
  const std::set<std::uint64_t> damaged = drop_damaged(runs, context, share_bytes, output);
  std::erase_if(ranges, [&](const RecordRange& range) { return damaged.contains(range.first_record); });
  std::ranges::sort(ranges);
  std::vector<InputSegment> missing = missing_segments(whole, ranges, context.layout.record_bytes);
  std::vector<std::uint64_t> blocks;
  for (const SpilledRun& run : in_own_file)
    if (!damaged.contains(run.first_record))
      for (const SpilledBlock& block : run.blocks) blocks.push_back(block.number);
  std::uint64_t to_own_file = blocks.size() * runs.space->block_bytes();
  for (const InputSegment& segment : missing) to_own_file += segment.bytes;
  runs.elsewhere_bytes = share_bytes - std::min(share_bytes, to_own_file);
  runs.space->occupy(std::move(blocks));
  take(runs, context);
  return std::make_unique<ListedSegments>(std::move(missing));
}

}  // namespace hetsort::sort
