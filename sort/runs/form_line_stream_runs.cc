// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
//
// The part of phase form_runs for a stream of lines.
//
// Idea: as for a stream of records, but what is read ends inside a line, whose bytes are kept for the next reader.
#include <algorithm>
#include <vector>

#include "io/stopwatch.h"
#include "sort/line_keys.h"
#include "sort/runs/form_runs.h"
#include "sort/runs/run_spiller.h"

namespace hetsort::sort {

namespace {

/// Whole lines of a stream. Thread safety: one thread at a time.
class LineFeed {
 public:
  LineFeed(Input& input, std::byte terminator) : input_(input), terminator_(terminator) {}

  /// Fills the front of `into` with the next whole lines. Returns their bytes; 0 at the end.
  /// Throws: io::Error, also for a line that is longer than `into`.
  std::uint64_t fill(std::span<std::byte> into) {
    if (begun_line_.size() >= into.size()) input_.refuse_long_line(handed_out_bytes_, into.size());
    std::ranges::copy(begun_line_, into.begin());
    const std::size_t filled = begun_line_.size() + input_.read_stream(into.subspan(begun_line_.size()));
    begun_line_.clear();
    ended_ = filled < into.size();
    std::size_t whole = filled;
    if (!ended_) {
      while (whole > 0 && into[whole - 1] != terminator_) --whole;
      if (whole == 0) input_.refuse_long_line(handed_out_bytes_, into.size());
      begun_line_.assign(into.begin() + static_cast<std::ptrdiff_t>(whole), into.end());
    }
    handed_out_bytes_ += whole;
    return whole;
  }
  bool ended() const { return ended_; }
  std::uint64_t handed_out_bytes() const { return handed_out_bytes_; }

 private:
  Input& input_;
  std::byte terminator_;
  std::vector<std::byte> begun_line_;
  bool ended_ = false;
  std::uint64_t handed_out_bytes_ = 0;
};

}  // namespace

void form_line_stream_runs(Input& input, const RankContext& context, const SpillOptions& options,
                           InputSegments& segments, FormedRuns& runs) {
  const std::optional<InputSegment> all = segments.next();
  if (!all) return;
  LineFeed feed(input, static_cast<std::byte>(context.layout.lines->terminator()));
  if (context.plan.stream_bytes > 0) {
    const std::span<std::byte> memory = context.shared_records();
    const io::Stopwatch asked;
    const std::uint64_t filled = feed.fill(memory.first(context.plan.stream_bytes));
    runs.waited_seconds += asked.seconds();
    if (filled == 0) return;
    const LoadedRun loaded = LoadedRun::in_one_segment(memory.data(), 0, filled, all->first_record);
    const std::uint64_t lines = count_records(context, loaded);
    const std::size_t pool_bytes = BucketIndex::pool_bytes(lines, context.plan.threads);
    if (feed.ended() && pool_bytes + filled + 2 * kPageBytes <= memory.size()) {
      // Pages of their own for the index.
      const std::size_t pool_at = (memory.size() - pool_bytes) / kPageBytes * kPageBytes;
      runs.kept.push_back(index_loaded(context, loaded, lines, memory.subspan(pool_at, pool_bytes), runs));
      return;
    }
    make_spill_space(context, options, runs);
    spill_loaded_lines(context, loaded, runs);
  } else {
    make_spill_space(context, options, runs);
  }
  spill_in_turns(context, runs, [&](std::span<std::byte> memory) {
    const std::uint64_t place = all->first_record + feed.handed_out_bytes();
    return LoadedRun::in_one_segment(memory.data(), 0, feed.ended() ? 0 : feed.fill(memory), place);
  });
}

}  // namespace hetsort::sort
