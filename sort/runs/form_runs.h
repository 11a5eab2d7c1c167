// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
//
// Phase form_runs: the rank's input becomes sorted runs.
//
// In: the rank's input, in any number of files or as a stream, segment by segment.
// Out: if everything fits in memory, one run in memory for each segment (the records where they were read, and the
// index of their order). Otherwise such runs of the front of the input and runs on disk of the rest, or only runs on
// disk. Each run consists of consecutive input records. Runs are in input order.
// Idea: while a piece of input is in cache, its fingerprint is computed and its keys are distributed to the buckets of
// the index (bucket_index.h). A bucket is sorted in cache, when it is needed. If all runs spill, each thread forms its
// own runs alone, and reads its next run while it sorts and writes the current one. If a part stays in memory, or if
// one pass could not merge so many small runs, all threads together form one run after the other and spill it. Cost:
// one read of the input, and one write of what spills; n log n comparisons, vectorised; 16 bytes of memory a record
// besides the records; no messages, except where ranks claim their input.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "io/mapping.h"
#include "io/temp/spill.h"
#include "sort/input/input.h"
#include "sort/model/input_segments.h"
#include "sort/model/rank_context.h"
#include "sort/model/record_order.h"
#include "sort/model/run.h"
#include "sort/model/sort_options.h"
#include "sort/runs/memory_run.h"

namespace hetsort::sort {

/// The records of one run in a thread's memory.
struct LoadedRun {
  std::byte* base = nullptr;
  std::vector<Segment> segments;
  std::uint64_t first_record = 0;  // number of the first record in the whole input
  std::uint64_t first_byte = 0;    // place of the first byte in the rank's input, for lines

  /// A loaded run of a stream, whose records lie at `offset` in memory.
  static LoadedRun in_one_segment(std::byte* base, std::uint64_t offset, std::uint64_t bytes,
                                  std::uint64_t first_record) {
    return {base, {Segment{nullptr, 0, bytes, offset}}, first_record};
  }
  std::uint64_t bytes() const {
    std::uint64_t sum = 0;
    for (const Segment& segment : segments) sum += segment.bytes;
    return sum;
  }
};

struct FormedRuns {
  MultisetDigest input;
  std::uint64_t input_bytes = 0;
  // No run is empty, and each list is in the order of the whole input. Where runs have numbers, those of `kept` come
  // first.
  std::vector<MemoryRun> kept;      ///< runs in memory
  std::vector<SpilledRun> spilled;  ///< runs on disk, if not all fits memory
  LoadedRun kept_lines;             ///< the lines of `kept`, if it is one run of lines
  std::unique_ptr<io::MappedFiles>
      mapped;  ///< the files that hold the records of `kept`, if they are mapped and not read
  std::unique_ptr<io::SpillSpace> space;               ///< the blocks of `spilled`; null if all is in memory
  io::Backend spill_backend = io::Backend::kBuffered;  ///< the way in which the space is read and written
  std::uint64_t longest_line = 0;                      ///< longest line in bytes, later of all ranks; 0 without lines
  std::uint64_t elsewhere_bytes = 0;                   ///< bytes of the rank's input that are not written to `space`
  const Input* shared_input = nullptr;                 ///< the input of the records, if every rank can read all of it
  std::span<std::byte> spare{};  ///< memory that no run needs, if all runs are in memory and records are not lines
  double waited_seconds = 0;     ///< time for a stream's next bytes while no thread had work
  Work work;                     ///< number of records formed into runs, and the time for it

  bool in_memory() const { return space == nullptr; }
  std::size_t count() const { return kept.size() + spilled.size(); }
  /// Keeps a run of lines in memory.
  void keep_lines(MemoryRun run, LoadedRun lines) {
    kept.push_back(std::move(run));
    kept_lines = std::move(lines);
  }
};

/// Forms all runs of the rank, and adds them to `restored`. Requires: `context.plan` is made for this input and that
/// many segments. Throws: io::Error; what `segments` throws.
FormedRuns form_runs(Input& input, const RankContext& context, const SpillOptions& options, InputSegments& segments,
                     FormedRuns restored = {});

// The parts of the phase, each in a file of its own.

/// Thrown by the parts for a line that is too long.
struct LongLine {
  std::uint64_t first_byte = 0;  ///< place of the line in the rank's input
  std::uint64_t most_bytes = 0;  ///< maximum bytes of a line, with its terminator
};

/// Forms runs in memory, one segment after the other, each read by all threads. Requires: plan.in_memory.
void form_memory_runs(const Input& input, const RankContext& context, const SpillOptions& options,
                      InputSegments& segments, FormedRuns& runs);
/// Forms one run in memory of the lines of the only segment. They spill if they are so short that memory has no room
/// for their index. Requires: plan.in_memory.
void form_memory_run_of_lines(const Input& input, const RankContext& context, const SpillOptions& options,
                              InputSegments& segments, FormedRuns& runs);
/// Forms one run of records that lie in memory already, or none if there are no records. Only its index is in the
/// arena, unless keys would be read behind the last record: then a copy of the records is there, too.
void form_run_over(std::span<const std::byte> records, const RankContext& context, InputSegments& segments,
                   FormedRuns& runs);
/// Forms runs of a stream. Reads it into memory, segment by segment; if it ends before memory is full, all runs are in
/// memory. Otherwise spills what was read and then the rest of the stream, run by run: with all threads together if
/// plan.forms_together. If the size is known and does
/// not fit, keeps plan.kept_bytes of it in memory. If there are several segments, the plan knows beforehand whether all
/// fit.
void form_stream_runs(Input& input, const RankContext& context, const SpillOptions& options, InputSegments& segments,
                      FormedRuns& runs);
/// Forms runs of a stream of lines. Reads it into memory; if it ends there and its index has room, the only run is in
/// memory, otherwise all lines spill.
void form_line_stream_runs(Input& input, const RankContext& context, const SpillOptions& options,
                           InputSegments& segments, FormedRuns& runs);
/// Forms runs of files whose sizes are known, one after the other with all threads: of the front of the input in
/// memory, unless all spills, and of the rest on disk. Requires: plan.forms_together.
void form_partly_spilled_runs(const Input& input, const RankContext& context, const SpillOptions& options,
                              InputSegments& segments, FormedRuns& runs);
/// Forms runs that spill, of files whose sizes are known. Each thread forms runs of its own.
void form_spilled_runs(const Input& input, const RankContext& context, const SpillOptions& options,
                       InputSegments& segments, FormedRuns& runs);

/// A sample of elements from records in memory, enough for `buckets` buckets, evenly spread over the segments. If
/// `places` is not empty, the elements get their places as if segment i lay where places[i] says.
std::vector<Element> sample_records(const RecordMemory& memory, std::span<const Segment> segments, std::size_t buckets,
                                    std::span<const Segment> places = {});

}  // namespace hetsort::sort
