// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
//
// Phase form_runs: the rank's input becomes sorted runs.
//
// In: the input, in any number of files or as a stream. Out: one run in memory (records where they were read, plus the
// index of their order) when all fits; else runs on disk, each of consecutive input records, in input order.
// Idea: while a piece of input is in cache its fingerprint is taken and its keys go into the buckets of the index; a
// bucket is sorted when it is needed, in cache. When runs spill, every thread forms its own runs from end to end while
// its next one is read.
// Cost: 1 read (+ 1 write when spilled); n log n comparisons, vectorised; 16 bytes of memory a record on top of it.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "io/access.h"
#include "io/mapping.h"
#include "io/spill.h"
#include "sort/audit.h"
#include "sort/bucket_index.h"
#include "sort/gather.h"
#include "sort/input.h"
#include "sort/run.h"
#include "sort/workshop.h"

namespace hetsort::sort {

struct FormedRuns {
  Tally input;
  RecordMemory memory;                      ///< the records, when nothing spilled
  std::unique_ptr<io::MappedFiles> mapped;  ///< where the records are seen in their files
  std::unique_ptr<BucketIndex> index;       ///< their order
  std::unique_ptr<io::SpillSpace> space;
  io::Backend spill_backend = io::Backend::kBuffered;  ///< how the space is read and written
  std::vector<SpilledRun> spilled;                     ///< in input order; empty when all is in memory
  double waited_seconds = 0;                           ///< for a stream to bring more, while nobody could work
};

/// Where and how runs spill.
struct SpillOptions {
  std::vector<std::string> directories;
  io::Access access{};
};

/// Throws: io::Error. `workshop.plan` must be made for this input.
FormedRuns form_runs(Input& input, const Workshop& workshop, const SpillOptions& options);

// The parts of the phase, one file each.

/// Everything in memory, read by all threads. Requires: plan.in_memory.
void form_memory_run(const Input& input, const Workshop& workshop, FormedRuns& runs);
/// Reads the stream into memory; if it ends there, `runs` is complete in memory. Else what was read is spilled and the
/// rest of the stream follows, run by run.
void form_stream_runs(Input& input, const Workshop& workshop, const SpillOptions& options, FormedRuns& runs);
/// Runs that spill, of files.
void form_spilled_runs(const Input& input, const Workshop& workshop, const SpillOptions& options, FormedRuns& runs);

/// A sample of elements from records in memory, enough for `buckets` buckets, evenly spread over the segments.
std::vector<Element> sample_records(const RecordMemory& memory, std::span<const Segment> segments, std::size_t buckets);

}  // namespace hetsort::sort
