// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
//
// The ranges that one thread merges, one after the other, if rank 0 deals them out.
//
// Idea: the thread asks for its next range when the streams of the current one have room for blocks of another. If the
// answer comes in time, the blocks of the next range follow those of this one without a pause. If the answer is to copy
// the runs of a slow rank, the thread does so at once, while blocks of its range arrive.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>

#include "io/stopwatch.h"
#include "sort/deal/range_dealer.h"
#include "sort/exchange/incoming_streams.h"
#include "sort/machine/parallel.h"

namespace hetsort::sort {

/// Thread safety: one thread.
class ThreadRanges {
 public:
  struct Job {
    std::size_t thread = 0;
    std::uint64_t range = 0;  ///< the first range, whose streams exist
    IncomingStreams* streams = nullptr;
    std::function<std::uint64_t(std::uint64_t range)> records;  ///< records in a range
    /// Sizes of what arrives for a range that begins from now on.
    std::function<std::vector<StreamSize>(std::uint64_t range)> begin_range;
    std::function<Copying()> copying;            ///< what this rank could do about slow ones
    std::function<void(std::size_t rank)> copy;  ///< reads the records of a slow rank again
  };

  ThreadRanges(RangeDealer& dealer, Job job) : dealer_(dealer), job_(std::move(job)), range_(job_.range) {}

  /// The range that the thread merges now.
  std::uint64_t range() const { return range_; }
  /// Call it while a range is merged, when the streams have room for another.
  void prepare_next();
  /// Asks and takes the answer, as far as possible without waiting. Call it now and then while the thread waits for
  /// blocks. A thread that has its next range asks only whether it should copy runs.
  void talk();
  /// Call it when a range is merged: goes to the next one. Returns whether there is one. Throws: PeerFailed; Stopped.
  bool next(const StopFlag& stop);

 private:
  void ask(std::uint64_t merged, double idle_seconds);
  void accept(const RangeAnswer& answer);

  RangeDealer& dealer_;
  Job job_;
  std::uint64_t range_;
  std::optional<std::uint64_t> next_;
  bool asked_ = false;
  bool ended_ = false;
  std::optional<io::Stopwatch> since_refused_;
  std::uint64_t merged_ = 0;  // records of the ranges before this one
  double idle_seconds_ = 0;   // time without a range
  io::Stopwatch since_begin_;
};

}  // namespace hetsort::sort
