// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
//
// Phase form_runs: the rank's input becomes sorted runs.
//
// In: the input, in any number of files or as a stream, segment by segment. Out: a run in memory for each segment
// (records where they were read, plus the index of their order) when all fits; else runs on disk. Each run is of
// consecutive input records; runs are in input order.
// Idea: while a piece of input is in cache its fingerprint is taken and its keys go into the buckets of the index; a
// bucket is sorted when it is needed, in cache. When runs spill, every thread forms its own runs from end to end while
// its next one is read.
// Cost: 1 read (+ 1 write when spilled); n log n comparisons, vectorised; 16 bytes of memory a record on top of it.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "io/mapping.h"
#include "io/temp/spill.h"
#include "sort/input/input.h"
#include "sort/input/input_segments.h"
#include "sort/output/order_verifier.h"
#include "sort/rank_context.h"
#include "sort/runs/memory_run.h"
#include "sort/runs/run.h"
#include "sort/sort_options.h"

namespace hetsort::sort {

struct FormedRuns {
  MultisetDigest input;
  // None of these is empty, and all are in the order of the whole input.
  std::vector<MemoryRun> kept;                         ///< in memory, when nothing spilled
  std::vector<SpilledRun> spilled;                     ///< on disk, when not all fits memory
  std::unique_ptr<io::MappedFiles> mapped;             ///< where kept records are seen in their files
  std::unique_ptr<io::SpillSpace> space;               ///< where spilled ones are; none when all is in memory
  io::Backend spill_backend = io::Backend::kBuffered;  ///< how the space is read and written
  double waited_seconds = 0;                           ///< for a stream to bring more, while no thread could work
  Work work;                                           ///< how many records were formed into runs in how many seconds

  bool in_memory() const { return space == nullptr; }
  std::size_t count() const { return in_memory() ? kept.size() : spilled.size(); }
};

/// Throws: io::Error; what `segments` throws. `context.plan` must be made for this input and that many segments.
FormedRuns form_runs(Input& input, const RankContext& context, const SpillOptions& options, InputSegments& segments);

// The parts of the phase, one file each.

/// Everything in memory, one segment after the other, each read by all threads. Requires: plan.in_memory.
void form_memory_runs(const Input& input, const RankContext& context, InputSegments& segments, FormedRuns& runs);
/// Reads the stream into memory, segment by segment; if it ends there, `runs` is complete in memory. Else what was read
/// is spilled and the rest of the stream follows, run by run; of several segments it is known before whether all fit.
void form_stream_runs(Input& input, const RankContext& context, const SpillOptions& options, InputSegments& segments,
                      FormedRuns& runs);
/// Runs that spill, of files. Each thread takes runs of its own.
void form_spilled_runs(const Input& input, const RankContext& context, const SpillOptions& options,
                       InputSegments& segments, FormedRuns& runs);

/// A sample of elements from records in memory, enough for `buckets` buckets, evenly spread over the segments. Their
/// places are those of `places`, segment by segment, where that is not empty.
std::vector<Element> sample_records(const RecordMemory& memory, std::span<const Segment> segments, std::size_t buckets,
                                    std::span<const Segment> places = {});

}  // namespace hetsort::sort
