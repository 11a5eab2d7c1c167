// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
//
// Indexes the lines of a stream while one thread reads it.
//
// In: memory that fills from its front. Out: an index, if the stream turns out as expected; otherwise nothing, and the
// caller indexes what was read.
// Idea: the first bytes that arrive are the sample that splits keys into buckets. A stream that is sorted already puts
// most lines in one bucket, which all threads sort together.
#pragma once

#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <numeric>
#include <optional>
#include <span>
#include <vector>

#include "order/line_keys.h"
#include "sort/input/input.h"
#include "sort/machine/parallel.h"
#include "sort/model/rank_context.h"
#include "sort/model/record_order.h"
#include "sort/runs/bucket_index.h"
#include "sort/runs/memory_run.h"

namespace hetsort::sort {

class StreamIndexer {
 public:
  /// `memory`: page-aligned; lines arrive in the first `line_bytes` of it, and the index takes what is behind them.
  /// `expected_bytes`: a guess of the size of the stream.
  StreamIndexer(const RankContext& context, std::span<std::byte> memory, std::uint64_t line_bytes,
                std::uint64_t expected_bytes);

  /// Calls read() on one thread, which calls arrived(), while the others index lines, until all are indexed or the
  /// index is given up. Throws: what `read` throws.
  void index_while(const std::function<void()>& read);
  /// The first `bytes` bytes of the memory have arrived. Throws: Stopped if a worker failed.
  void arrived(std::uint64_t bytes);
  /// The sum of the seconds in which workers have indexed.
  double indexed_seconds() const { return std::reduce(seconds_.begin(), seconds_.end()); }

  /// The run of all lines that have arrived, which begin with record `first_record`, and adds them to `digest`. None if
  /// there were fewer than a sample, or more than the index had room for, which are three times the expected ones. Call
  /// once, after index_while().
  std::optional<MemoryRun> take_run(std::uint64_t first_record, MultisetDigest& digest);

 private:
  void end();
  void work(std::size_t worker, const StopFlag& stop);
  void make_index();
  bool index(std::size_t worker, const Segment& piece);

  const RankContext& context_;
  RecordMemory memory_;
  std::span<std::byte> pool_;
  std::uint64_t expected_bytes_;
  order::LineKeys keys_;
  std::vector<MultisetDigest> digests_;  // of each worker
  std::vector<double> seconds_;          // of each worker
  std::uint64_t seen_bytes_ = 0;         // arrived and searched for ends of lines
  std::uint64_t whole_bytes_ = 0;        // arrived in whole lines
  std::uint64_t handed_out_bytes_ = 0;   // put into `pieces_`
  std::unique_ptr<BucketIndex> made_{};  // written before the first piece is handed out
  const StopFlag* stop_ = nullptr;       // of the workers; for the thread that reads

  std::mutex mutex_;  // guards what follows
  std::condition_variable changed_;
  std::deque<Segment> pieces_;
  bool ended_ = false;
  bool full_ = false;
};

}  // namespace hetsort::sort
