// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
//
// One interface to a rank's sorted runs for the splitter selection, whether they are on disk or in memory.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "sort/runs/memory_run.h"
#include "sort/select/quantile_summary.h"
#include "sort/select/run_probe.h"

namespace hetsort::sort {

/// A key, and how many records of one run stand before it.
struct RunMark {
  std::string key;
  std::uint64_t before = 0;
  bool is_record = true;  ///< the key is that of record `before`; otherwise it lies between two records' keys
};

/// Bytes of a line's key that the selection compares first: nearly all lines differ in them.
inline constexpr std::size_t kMarkKeyBytes = 256;

/// A line of a run, with its whole key.
struct RunLine {
  std::uint64_t first = 0;  ///< position of its first byte in the run
  std::uint64_t end = 0;
  std::string key;
};

class SortedRuns {
 public:
  SortedRuns() = default;
  SortedRuns(const SortedRuns&) = delete;
  SortedRuns& operator=(const SortedRuns&) = delete;
  virtual ~SortedRuns() = default;

  virtual std::size_t count() const = 0;
  virtual std::uint64_t records(std::size_t run) const = 0;
  /// Ascending marks within records [first, last) of a run, evenly spread: about `count` where a mark costs a memory
  /// access, fewer where it costs a read; marks of all records if these are few. At least one unless first == last.
  /// Throws: io::Error.
  virtual std::vector<RunMark> sample(std::size_t run, std::uint64_t first, std::uint64_t last, std::size_t count) = 0;
  /// Ascending marks within records [first, last) of a run, about `count` or fewer, that cost no read and no sorting.
  virtual std::vector<RunMark> marks_in_memory(std::size_t /*run*/, std::uint64_t /*first*/, std::uint64_t /*last*/,
                                               std::size_t /*count*/) {
    return {};
  }
  /// Whether the position of any mark is found without reads from disk.
  virtual bool locates_cheaply() const { return false; }
  /// The key of a record; for a line, up to kMarkKeyBytes of it. Requires: position < records(run). Throws: io::Error.
  virtual std::string key(std::size_t run, std::uint64_t position) = 0;
  /// The line that contains byte `position` of a run of lines, or the record at `position`. Requires, throws: as key().
  virtual RunLine line(std::size_t run, std::uint64_t position) { return {position, position + 1, key(run, position)}; }
  /// line() with up to kMarkKeyBytes of the key.
  virtual RunLine front(std::size_t run, std::uint64_t position) { return line(run, position); }
  /// The begin of the line that contains byte `position` of a run of lines. The end of the run, and the position of a
  /// record, are returned unchanged. Throws: io::Error.
  virtual std::uint64_t line_start(std::size_t /*run*/, std::uint64_t position) { return position; }
  /// Frees cached keys: the selection continues at other positions.
  virtual void forget() {}
};

struct RankedRuns {
  SortedRuns& runs;
  /// The place of each run among all runs of all ranks in input order: any numbers, all different.
  std::span<const std::uint64_t> places;
  std::size_t key_bytes = kAnyKeyBytes;
};

/// Ends the selection because summaries contradict each other. Throws: std::runtime_error.
[[noreturn]] void refuse_summaries();

/// Runs on disk, of records of fixed size. Allocates: some of the pages read since forget().
class SpilledRunsView : public SortedRuns {
 public:
  SpilledRunsView(std::span<const SpilledRun> runs, const io::SpillSpace& space, const RecordLayout& layout);

  std::size_t count() const override { return runs_.size(); }
  std::uint64_t records(std::size_t run) const override { return runs_[run].records; }
  std::vector<RunMark> sample(std::size_t run, std::uint64_t first, std::uint64_t last, std::size_t count) override;
  std::string key(std::size_t run, std::uint64_t position) override;
  void forget() override { probe_.forget(); }

 private:
  std::span<const SpilledRun> runs_;
  RecordLayout layout_;
  RunProbe probe_;
};

/// Runs of lines on disk. Allocates: as SpilledRunsView, and the places of some long lines.
class SpilledLinesView : public SortedRuns {
 public:
  SpilledLinesView(std::span<const SpilledRun> runs, const io::SpillSpace& space, const RecordLayout& layout);

  std::size_t count() const override { return runs_.size(); }
  std::uint64_t records(std::size_t run) const override { return runs_[run].records; }
  std::vector<RunMark> sample(std::size_t run, std::uint64_t first, std::uint64_t last, std::size_t count) override;
  std::string key(std::size_t run, std::uint64_t position) override { return front(run, position).key; }
  RunLine line(std::size_t run, std::uint64_t position) override;
  RunLine front(std::size_t run, std::uint64_t position) override;
  std::uint64_t line_start(std::size_t run, std::uint64_t position) override;
  void forget() override { probe_.forget(); }

 private:
  /// A long line that was read before, with the first bytes of its key only; null if it is none.
  const RunLine* known_line(std::size_t run, std::uint64_t position) const;

  std::span<const SpilledRun> runs_;
  std::shared_ptr<const order::LineOrder> order_;
  RunProbe probe_;
  std::map<std::pair<std::size_t, std::uint64_t>, RunLine> long_lines_;  // keyed by run and first byte
};

/// Runs in memory, of records of fixed size. Buckets are sorted when they are first accessed, and stay sorted.
class MemoryRunsView : public SortedRuns {
 public:
  /// `scratch`: BucketIndex::kScratchElements elements.
  MemoryRunsView(std::span<const MemoryRun> runs, std::span<Element> scratch)
      : MemoryRunsView(runs, scratch, SIZE_MAX) {}

  std::size_t count() const override { return runs_.size(); }
  std::uint64_t records(std::size_t run) const override { return runs_[run].records(); }
  std::vector<RunMark> sample(std::size_t run, std::uint64_t first, std::uint64_t last, std::size_t count) override;
  std::vector<RunMark> marks_in_memory(std::size_t run, std::uint64_t first, std::uint64_t last,
                                       std::size_t count) override;
  bool locates_cheaply() const override { return true; }
  std::string key(std::size_t run, std::uint64_t position) override;

 protected:
  /// `most_marks`: limit of the marks that are records.
  MemoryRunsView(std::span<const MemoryRun> runs, std::span<Element> scratch, std::size_t most_marks)
      : runs_(runs), scratch_(scratch), most_marks_(most_marks) {}

  std::span<const MemoryRun> runs_;
  std::span<Element> scratch_;

 private:
  std::size_t most_marks_;
};

/// Runs of lines in memory.
class MemoryLinesView : public MemoryRunsView {
 public:
  MemoryLinesView(std::span<const MemoryRun> runs, std::span<Element> scratch);

  std::string key(std::size_t run, std::uint64_t position) override { return front(run, position).key; }
  RunLine line(std::size_t run, std::uint64_t position) override { return found(run, position, SIZE_MAX); }
  RunLine front(std::size_t run, std::uint64_t position) override { return found(run, position, kMarkKeyBytes); }
  std::uint64_t line_start(std::size_t run, std::uint64_t position) override;

 private:
  /// Some lines of a run that follow each other, in order.
  struct OpenLines {
    std::size_t run = 0;
    std::uint64_t first = 0;            // position of their first byte
    std::vector<std::uint64_t> starts;  // position of each line in the run
    std::vector<Element> elements;
  };
  /// The number of the line in open_ that contains byte `position`.
  std::size_t find_line(std::size_t run, std::uint64_t position);
  /// The line with up to `key_bytes` of its key.
  RunLine found(std::size_t run, std::uint64_t position, std::size_t key_bytes);

  OpenLines open_;
};

/// A view of runs on disk, or of runs in memory, whatever their records are. Requires: some runs in memory.
std::unique_ptr<SortedRuns> view_of(std::span<const SpilledRun> runs, const io::SpillSpace& space,
                                    const RecordLayout& layout);
std::unique_ptr<SortedRuns> view_of(std::span<const MemoryRun> runs, std::span<Element> scratch);

/// The runs of several views, one view after the other.
class JoinedRunsView : public SortedRuns {
 public:
  void add(std::unique_ptr<SortedRuns> view);

  std::size_t count() const override { return places_.size(); }
  std::uint64_t records(std::size_t run) const override { return places_[run].view->records(places_[run].run); }
  std::vector<RunMark> sample(std::size_t run, std::uint64_t first, std::uint64_t last, std::size_t count) override {
    return places_[run].view->sample(places_[run].run, first, last, count);
  }
  std::vector<RunMark> marks_in_memory(std::size_t run, std::uint64_t first, std::uint64_t last,
                                       std::size_t count) override {
    return places_[run].view->marks_in_memory(places_[run].run, first, last, count);
  }
  bool locates_cheaply() const override;
  std::string key(std::size_t run, std::uint64_t position) override {
    return places_[run].view->key(places_[run].run, position);
  }
  RunLine line(std::size_t run, std::uint64_t position) override {
    return places_[run].view->line(places_[run].run, position);
  }
  RunLine front(std::size_t run, std::uint64_t position) override {
    return places_[run].view->front(places_[run].run, position);
  }
  std::uint64_t line_start(std::size_t run, std::uint64_t position) override {
    return places_[run].view->line_start(places_[run].run, position);
  }
  void forget() override;

 private:
  struct Place {
    SortedRuns* view = nullptr;
    std::size_t run = 0;
  };

  std::vector<std::unique_ptr<SortedRuns>> views_;
  std::vector<Place> places_;
};

}  // namespace hetsort::sort
