// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
//
// One rank's sorted runs as the splitter selection sees them: the same whether they lie on disk or in memory.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "sort/runs/memory_run.h"
#include "sort/runs/run_probe.h"

namespace hetsort::sort {

/// A mark whose place in one run is known exactly: `before` records of the run stand before it.
struct RunMark {
  std::string key;
  std::uint64_t before = 0;
  bool is_record = true;  ///< it is record `before` of the run; else only a place between two
};

class SortedRuns {
 public:
  SortedRuns() = default;
  SortedRuns(const SortedRuns&) = delete;
  SortedRuns& operator=(const SortedRuns&) = delete;
  virtual ~SortedRuns() = default;

  virtual std::size_t count() const = 0;
  virtual std::uint64_t records(std::size_t run) const = 0;
  /// Ascending marks within records [first, last) of a run, evenly spread: about `most` where they cost nothing but
  /// memory accesses, fewer where each costs a read. All records when there are few. At least one unless first == last.
  /// Throws: io::Error.
  virtual std::vector<RunMark> sample(std::size_t run, std::uint64_t first, std::uint64_t last, std::size_t most) = 0;
  /// Requires: position < records(run). Throws: io::Error.
  virtual std::string key(std::size_t run, std::uint64_t position) = 0;
  /// What was remembered of keys may be forgotten: the selection goes on elsewhere.
  virtual void forget() {}
};

/// Runs on disk. Allocates: the pages read since forget().
class SpilledRunsView : public SortedRuns {
 public:
  SpilledRunsView(std::span<const SpilledRun> runs, const io::SpillSpace& space, const RecordLayout& layout);

  std::size_t count() const override { return runs_.size(); }
  std::uint64_t records(std::size_t run) const override { return runs_[run].records; }
  std::vector<RunMark> sample(std::size_t run, std::uint64_t first, std::uint64_t last, std::size_t most) override;
  std::string key(std::size_t run, std::uint64_t position) override;
  void forget() override { probe_.forget(); }

 private:
  std::span<const SpilledRun> runs_;
  RecordLayout layout_;
  std::uint64_t records_per_block_;
  RunProbe probe_;
};

/// Runs in memory. Buckets are sorted when they are looked into, and stay sorted.
class MemoryRunsView : public SortedRuns {
 public:
  /// `scratch`: BucketIndex::kScratchElements.
  MemoryRunsView(std::span<const MemoryRun> runs, std::span<Element> scratch) : runs_(runs), scratch_(scratch) {}

  std::size_t count() const override { return runs_.size(); }
  std::uint64_t records(std::size_t run) const override { return runs_[run].records(); }
  std::vector<RunMark> sample(std::size_t run, std::uint64_t first, std::uint64_t last, std::size_t most) override;
  std::string key(std::size_t run, std::uint64_t position) override;

 private:
  std::span<const MemoryRun> runs_;
  std::span<Element> scratch_;
};

}  // namespace hetsort::sort
