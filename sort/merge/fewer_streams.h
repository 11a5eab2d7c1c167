// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
//
// Streams of lines that are so long that memory has no room for one of each.
//
// In: sorted streams, in the order that breaks ties. Out: fewer streams of the same records, in the same order.
// Idea: a merge holds a line of each stream, if blocks cut it. If these are more than there is room for, neighbouring
// streams are merged into runs in the temporary folder first, with as many lines at a time as there is room for, but no
// more streams than necessary. Streams that wait meanwhile stop their senders, which have no credits. Cost: one write
// and one read of what is merged in a pass, and a pass for each time that the number of streams must be divided by the
// number of lines.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "sort/machine/parallel.h"
#include "sort/model/rank_context.h"
#include "sort/model/record_streams.h"
#include "sort/runs/form_runs.h"

namespace hetsort::sort {

/// The streams of one merge. Thread safety: one thread.
class FewerStreams {
 public:
  struct Limits {
    std::uint64_t longest_line =
        0;                         ///< bytes of the longest line; 0 without lines: then all streams are merged at once
    std::uint64_t held_bytes = 0;  ///< memory for them; at least that of two_lines()
  };
  /// The least memory with which streams of such lines can be merged: a line and blocks of two runs.
  static std::uint64_t two_lines(const RankContext& context, std::uint64_t longest_line);

  /// `staging`: the thread's memory for blocks that are being written.
  FewerStreams(const RankContext& context, std::span<std::byte> staging, const Limits& limits);
  ~FewerStreams();

  /// Adds a stream behind the others, of so many bytes.
  void add(RecordStreams& source, std::size_t stream, std::uint64_t bytes);
  /// The streams that are left once as many are merged as is necessary. Throws: what the streams throw; io::Error;
  /// Stopped.
  RecordStreams& reduce(const StopFlag& stop);

 private:
  struct Stream {
    RecordStreams* source = nullptr;
    std::size_t number = 0;  // number in the source
    std::uint64_t bytes = 0;
    const SpilledRun* run = nullptr;  // what it consists of, if that was merged before
  };
  struct Pass;

  std::uint64_t held_bytes(const Stream& stream) const;
  void merge_neighbours(std::uint64_t held, const StopFlag& stop);
  SpilledRun merge(std::span<const Stream> streams, const StopFlag& stop);

  const RankContext& context_;
  std::span<std::byte> staging_;
  Limits limits_;
  std::vector<Stream> streams_;
  FormedRuns spilling_;  // the space of the runs
  std::vector<std::unique_ptr<Pass>> passes_;
  JoinedStreams reduced_;
};

}  // namespace hetsort::sort
