// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
//
// The part of phase form_runs for a stream of lines.
//
// Idea: as for a stream of records, but what is read ends inside a line, whose bytes are kept for the next reader. At a
// line that is longer than a run, all threads but one pause, and that one forms a run with the memory of all. While one
// thread reads what may stay in memory, the others index it.
#include <algorithm>
#include <functional>
#include <optional>
#include <utility>
#include <vector>

#include "io/stopwatch.h"
#include "sort/model/record_order.h"
#include "sort/runs/form_runs.h"
#include "sort/runs/run_spiller.h"
#include "sort/runs/stream_indexer.h"

namespace hetsort::sort {

namespace {

// Bytes of a stream that are read before others may index them.
constexpr std::size_t kArrivingBytes = std::size_t{1} << 20;
// A guess: compressed text grows to so many times its size, and a pipe brings so many bytes.
constexpr std::uint64_t kDecompressed = 4;
constexpr std::uint64_t kPipeBytes = std::uint64_t{1} << 30;

/// Whole lines of a stream. Thread safety: one thread at a time.
class LineFeed {
 public:
  /// `max_line_bytes`: maximum length of a line; longer lines are refused.
  LineFeed(Input& input, std::byte terminator, std::uint64_t max_line_bytes)
      : input_(input), terminator_(terminator), max_line_bytes_(max_line_bytes) {}

  /// Fills the front of `into` with the next whole lines. Returns their bytes; 0 at the end, and for a line that is
  /// longer than `into`. Throws: io::Error, also for a line that is too long.
  std::uint64_t fill(std::span<std::byte> into) {
    return fill(into, into.size(), [](std::uint64_t) {});
  }
  /// Reads so many bytes at once, and calls arrived(bytes) with those at the front of `into` after each read.
  std::uint64_t fill(std::span<std::byte> into, std::size_t at_once,
                     const std::function<void(std::uint64_t)>& arrived) {
    needs_more_ = begun_line_.size() >= into.size();
    if (needs_more_) return 0;
    std::ranges::copy(begun_line_, into.begin());
    std::size_t filled = begun_line_.size();
    begun_line_.clear();
    for (std::size_t wanted = at_once, got = at_once; got == wanted && filled < into.size(); filled += got) {
      wanted = std::min(at_once, into.size() - filled);
      got = input_.read_stream(into.subspan(filled, wanted));
      arrived(filled + got);
    }
    ended_ = filled < into.size();
    std::size_t whole = filled;
    if (!ended_) {
      while (whole > 0 && into[whole - 1] != terminator_) --whole;
      if (filled - whole >= max_line_bytes_) input_.refuse_long_line(handed_out_bytes_ + whole, max_line_bytes_ - 1);
      begun_line_.assign(into.begin() + static_cast<std::ptrdiff_t>(whole),
                         into.begin() + static_cast<std::ptrdiff_t>(filled));
      needs_more_ = whole == 0;
    }
    handed_out_bytes_ += whole;
    return whole;
  }
  bool ended() const { return ended_; }
  /// Whether the next line is longer than the memory that was passed to fill() last.
  bool needs_more() const { return needs_more_; }
  std::uint64_t handed_out_bytes() const { return handed_out_bytes_; }

 private:
  Input& input_;
  std::byte terminator_;
  std::uint64_t max_line_bytes_;
  std::vector<std::byte> begun_line_;
  bool ended_ = false;
  bool needs_more_ = false;
  std::uint64_t handed_out_bytes_ = 0;
};

/// A guess of the bytes of a stream.
std::uint64_t expected_bytes(const Input& input) {
  if (!input.is_compressed()) return kPipeBytes;
  std::uint64_t bytes = 0;
  for (const InputFile& each : input.files())
    bytes += each.stream ? kDecompressed * each.file.status().size_bytes : each.size_bytes;
  return bytes;
}

/// Lines that one thread has read while others have indexed them.
struct IndexedLines {
  std::uint64_t bytes = 0;
  std::optional<MemoryRun> run{};  ///< none if they are not indexed yet
  MultisetDigest digest{};
  double waited_seconds = 0;  ///< what it took beyond the indexing, divided among all threads
};

IndexedLines read_and_index(LineFeed& feed, const RankContext& context, const Input& input,
                            std::uint64_t first_record) {
  const std::span<std::byte> memory = context.shared_records();
  const std::uint64_t most_bytes = context.plan.stream_bytes;
  IndexedLines lines;
  StreamIndexer indexer(context, memory, most_bytes, expected_bytes(input));
  const io::Stopwatch asked;
  indexer.index_while([&] {
    lines.bytes =
        feed.fill(memory.first(most_bytes), kArrivingBytes, [&](std::uint64_t bytes) { indexer.arrived(bytes); });
  });
  lines.waited_seconds =
      std::max(0.0, asked.seconds() - indexer.indexed_seconds() / static_cast<double>(context.plan.threads));
  if (feed.ended()) lines.run = indexer.take_run(first_record, lines.digest);
  return lines;
}

}  // namespace

void form_line_stream_runs(Input& input, const RankContext& context, const SpillOptions& options,
                           InputSegments& segments, FormedRuns& runs) {
  const std::optional<InputSegment> all = segments.next();
  if (!all) return;
  LineFeed feed(input, static_cast<std::byte>(context.layout.lines->terminator()), context.plan.max_line_bytes);
  if (context.plan.stream_bytes > 0) {
    const std::span<std::byte> memory = context.shared_records();
    IndexedLines read = read_and_index(feed, context, input, all->first_record);
    runs.waited_seconds += read.waited_seconds;
    const std::uint64_t filled = read.bytes;
    if (filled == 0) return;
    const LoadedRun loaded = LoadedRun::in_one_segment(memory.data(), 0, filled, all->first_record);
    if (read.run && keeps_lines(context, loaded, *read.run->index, read.digest.records)) {
      runs.input += read.digest;
      runs.keep_lines(std::move(*read.run), loaded);
      return;
    }
    const std::uint64_t lines = count_lines(context, loaded);
    const std::size_t pool_bytes = BucketIndex::pool_bytes(lines, context.plan.threads);
    if (feed.ended() && pool_bytes + filled + 2 * kPageBytes <= memory.size()) {
      // The index gets pages of its own.
      const std::size_t pool_at = (memory.size() - pool_bytes) / kPageBytes * kPageBytes;
      const MultisetDigest before = runs.input;
      MemoryRun run = index_loaded(context, loaded, lines, memory.subspan(pool_at, pool_bytes), runs);
      if (keeps_lines(context, loaded, *run.index, lines)) {
        runs.keep_lines(std::move(run), loaded);
        return;
      }
      runs.input = before;  // they are counted again when they spill
    }
    make_spill_space(context, options, runs);
    spill_loaded_lines(context, loaded, runs);
  } else {
    make_spill_space(context, options, runs);
  }
  const auto read = [&](std::span<std::byte> into) {
    LoadedRun run = LoadedRun::in_one_segment(into.data(), 0, 0, all->first_record + feed.handed_out_bytes());
    run.first_byte = feed.handed_out_bytes();
    if (!feed.ended()) run.segments.front().bytes = feed.fill(into);
    return run;
  };
  const RankContext alone = context.alone();
  while (!feed.ended()) {
    spill_in_turns(context, runs,
                   [&](std::span<std::byte> into) { return feed.needs_more() ? LoadedRun{} : read(into); });
    bool has_read = !feed.needs_more();
    spill_in_turns(alone, runs,
                   [&](std::span<std::byte> into) { return std::exchange(has_read, true) ? LoadedRun{} : read(into); });
  }
}

}  // namespace hetsort::sort
