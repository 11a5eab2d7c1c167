// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
//
// Phase merge_runs: the sorted runs of a rank become its output.
//
// In: sorted runs, in the order that breaks ties (input order). Out: the rank's output, in order and verified.
// Idea: all runs are cut into ranges of equal size, one a thread (select_splitters.h). Each thread merges its range
// with a tree of losers over (key prefix, run), one comparison of 128-bit numbers a level, and writes while it merges;
// longer keys are compared whole if their prefixes are equal. A run in memory needs no merge: threads take its buckets
// in order, sort each in cache and write its records permuted. Cost: ceil(log2 runs) comparisons and one copy a record;
// one read of what spilled, one write. If memory has not two blocks for each run, as many neighbouring runs as
// necessary are merged first, which costs one more read and write of these runs; no messages. Knuth, The Art of
// Computer Programming, volume 3, section 5.4.1.
#pragma once

#include <cstdint>
#include <memory>
#include <span>

#include "sort/input/sorted_inputs.h"
#include "sort/machine/parallel.h"
#include "sort/merge/merge_ranges.h"
#include "sort/model/rank_context.h"
#include "sort/model/record_order.h"
#include "sort/model/record_sink.h"
#include "sort/output/output.h"
#include "sort/runs/form_runs.h"
#include "sort/runs/run_reader.h"
#include "sort/select/select_splitters.h"

namespace hetsort::sort {

/// Merges the runs of a single rank and writes its output; runs that spilled are cut first, in phase select_splitters.
/// Returns what was written. Requires: at most one run in memory. Throws: io::Error.
WrittenOutput merge_runs(FormedRuns& runs, const RankContext& context, const ReadyOutput& output);

/// Merges inputs that are sorted, one stream each, in one pass. Returns what was written. Requires: a single rank.
/// Throws: what the streams throw; io::Error.
WrittenOutput merge_inputs(RecordStreams& inputs, const RankContext& context, const ReadyOutput& output);

/// Merges inputs that are sorted, but more than may be open at once, batch by batch; each batch becomes a run that
/// spills. Throws: io::Error; NotSorted; RequestError if memory has no room for a batch. Requires: a single rank.
FormedRuns merge_batches(Input& input, const RankContext& context, const SortedInputs::Memory& memory);

// The parts of the phase, each in a file of its own.

/// Writes the one run in memory, or nothing where there is none. Returns what was written. Throws: io::Error.
OrderVerifier write_memory_run(const FormedRuns& runs, const RankContext& context, Output& output);

/// Writes the numbers of the records of the one run in memory, in sorted order. Returns what proves them, see
/// place_proof.h. Requires: options.output.places.
OrderVerifier write_places(const FormedRuns& runs, const RankContext& context, std::span<std::uint64_t> places);

/// Merges and writes these ranges. Returns what was written, by earlier processes too. Throws: io::Error.
OrderVerifier merge_spilled_runs(const FormedRuns& runs, std::span<const MergeRange> ranges, const RankContext& context,
                                 Output& output);

/// Merges runs that are neighbours in the whole input until at most `count` are left, or no two neighbours. Runs in
/// memory stay as they are.
/// Throws: io::Error.
void reduce_runs(FormedRuns& runs, const RankContext& context, std::size_t count);
/// The minimum number of runs to which reduce_runs() can merge these.
std::size_t min_runs(const FormedRuns& runs);

/// Merges streams into a run in the space of `runs`, whose digest is not set. `staging`: a thread's memory for blocks
/// that are being written. Throws: as merge_streams().
SpilledRun spill_merged(RecordStreams& streams, const FormedRuns& runs, const RankContext& context,
                        std::span<std::byte> staging, const StopFlag& stop);

/// Where merged records go, and what looks at them on the way.
struct MergeTarget {
  RecordSink& sink;
  OrderVerifier& verifier;
  Monitor& monitor;
  const StopFlag& stop;
};

/// Merges streams, some records at a time. Stable: of equal keys the lower stream number comes first.
/// Thread safety: one thread.
class Merger {
 public:
  Merger() = default;
  Merger(const Merger&) = delete;
  Merger& operator=(const Merger&) = delete;
  virtual ~Merger() = default;

  virtual bool empty() const = 0;
  /// Copies the next `count` records to `to`, fewer only at the end. Returns how many. Lines count as bytes, and the
  /// end of the copy may cut one. Throws: what the streams throw.
  virtual std::size_t take(std::byte* to, std::size_t count) = 0;
  /// Merges records of at least `bytes` bytes, if there are so many, into the target's sink, which the caller finishes.
  /// Returns how many bytes. Requires: take() has cut no line. Throws: as merge_streams().
  virtual std::uint64_t merge(std::uint64_t bytes, const MergeTarget& target) = 0;
};

/// The merger of records with this layout. The blocks of the streams may cut lines.
std::unique_ptr<Merger> make_merger(RecordStreams& streams, const RecordLayout& layout);

/// Merges all streams of `reader` into the target's sink, which the caller finishes. Stable: of equal keys the lower
/// stream number comes first. Throws: Stopped when the target's flag is set; io::Error of the reader or the sink.
void merge_streams(RecordStreams& reader, const RecordLayout& layout, const MergeTarget& target);

}  // namespace hetsort::sort
