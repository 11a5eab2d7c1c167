// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
#include "sort/select/sorted_runs.h"

#include <algorithm>
#include <cassert>
#include <stdexcept>
#include <utility>

#include "sort/machine/pages.h"
#include "sort/model/record_order.h"
#include "sort/runs/spill_writer.h"

namespace hetsort::sort {

namespace {

// Keys read from disk for one sample of one run. Each costs a page.
constexpr std::size_t kReadsASample = 32;
// If the records in question share about this many pages, all are taken: a few more reads end the selection.
constexpr std::uint64_t kPagesTakenWhole = 4;

// Reading lines from this size on costs much more than remembering them, so kMaxLongLines of them are remembered.
constexpr std::uint64_t kLongLineBytes = std::uint64_t{16} << 10;
constexpr std::size_t kMaxLongLines = 4096;

/// The first bytes of a key, `most` at most.
std::string text_of(std::span<const std::byte> key, std::size_t most = SIZE_MAX) {
  return {reinterpret_cast<const char*>(key.data()), std::min(key.size(), most)};
}

/// Returns `count` positions of [first, last), evenly spread; all of them if there are no more.
std::vector<std::uint64_t> spread(std::uint64_t first, std::uint64_t last, std::uint64_t count) {
  std::vector<std::uint64_t> places;
  const std::uint64_t taken = std::min(count, last - first);
  places.reserve(taken);
  __extension__ typedef unsigned __int128 Wide;
  for (std::uint64_t i = 0; i < taken; ++i)
    places.push_back(first + static_cast<std::uint64_t>(Wide{last - first} * (2 * i + 1) / (2 * taken)));
  return places;
}

/// The first keys of about `count` buckets that begin within records (first, last) of `run`.
std::vector<RunMark> bucket_borders(const MemoryRun& run, std::uint64_t first, std::uint64_t last, std::size_t count) {
  std::vector<RunMark> marks;
  const RecordLayout& layout = run.memory.layout;
  const BucketIndex& index = *run.index;
  const std::size_t from = index.bucket_of(first) + 1;
  const std::size_t to = index.bucket_of(last - 1) + 1;
  for (const std::uint64_t bucket : spread(from, to, count)) {
    const std::uint64_t before = index.records_before(bucket);
    if (before <= first || before >= last || (!marks.empty() && marks.back().before == before)) continue;
    // If the prefix is the whole key, a splitter is the first record of its bucket, because it was sampled from the
    // records. A splitter that was sampled behind the run is no record of it and no mark.
    const Element splitter = index.splitter(bucket);
    if (prefix_is_whole_key(layout) && place_of(splitter) >= run.end_offset) continue;
    marks.push_back({Order(layout).lowest_key(splitter), before, prefix_is_whole_key(layout)});
  }
  return marks;
}

}  // namespace

void refuse_summaries() {
  throw std::runtime_error("the ranks' summaries of their runs contradict each other: network or memory changed one");
}

SpilledRunsView::SpilledRunsView(std::span<const SpilledRun> runs, const io::SpillSpace& space,
                                 const RecordLayout& layout)
    : runs_(runs), layout_(layout), probe_(runs, space, layout) {}

std::vector<RunMark> SpilledRunsView::sample(std::size_t run, std::uint64_t first, std::uint64_t last,
                                             std::size_t count) {
  std::vector<RunMark> marks;
  // Longer keys have only their prefix in memory, which does not identify a record.
  const RunPrefixes& known = runs_[run].prefixes;
  const std::uint64_t begin = known.first_behind(first);
  const std::uint64_t end = known.first_behind(last);
  if (prefix_is_whole_key(layout_) && end > begin + 2) {
    for (const std::uint64_t number : spread(begin, end, count))
      marks.push_back({Order(layout_).lowest_key(known.elements[number]), known.position(number)});
    return marks;
  }
  const std::uint64_t in_pages = kPagesTakenWhole * kPageBytes / layout_.record_bytes;
  const std::uint64_t whole = std::max<std::uint64_t>(kReadsASample, in_pages);
  const std::uint64_t reads = last - first <= whole ? whole : kReadsASample;
  for (const std::uint64_t position : spread(first, last, reads)) marks.push_back({key(run, position), position});
  return marks;
}

std::string SpilledRunsView::key(std::size_t run, std::uint64_t position) {
  const Element* const prefix = probe_.known_prefix(run, position);
  if (prefix != nullptr && prefix_is_whole_key(layout_)) return Order(layout_).lowest_key(*prefix);
  return probe_.key(run, position);
}

SpilledLinesView::SpilledLinesView(std::span<const SpilledRun> runs, const io::SpillSpace& space,
                                   const RecordLayout& layout)
    : runs_(runs), order_(layout.lines), probe_(runs, space, layout) {}

std::vector<RunMark> SpilledLinesView::sample(std::size_t run, std::uint64_t first, std::uint64_t last,
                                              std::size_t count) {
  std::vector<RunMark> marks;
  for (const std::uint64_t position : spread(first, last, std::min(count, kReadsASample)))
    marks.push_back({key(run, position), position});
  // Lines may be long, and none of them is read again soon.
  forget();
  return marks;
}

std::uint64_t SpilledLinesView::line_start(std::size_t run, std::uint64_t position) {
  if (position >= records(run)) return position;
  const RunLine* const known = known_line(run, position);
  return known != nullptr ? known->first : probe_.line_at(run, position).first;
}

RunLine SpilledLinesView::front(std::size_t run, std::uint64_t position) {
  if (const RunLine* const known = known_line(run, position)) return *known;
  const RunLine whole = line(run, position);
  RunLine found{whole.first, whole.end, whole.key.substr(0, kMarkKeyBytes)};
  if (found.end - found.first < kLongLineBytes) return found;
  if (long_lines_.size() >= kMaxLongLines) long_lines_.clear();
  return long_lines_.emplace(std::pair(run, found.first), std::move(found)).first->second;
}

const RunLine* SpilledLinesView::known_line(std::size_t run, std::uint64_t position) const {
  const auto above = long_lines_.upper_bound({run, position});
  if (above == long_lines_.begin()) return nullptr;
  const auto& [place, line] = *std::prev(above);
  return place.first == run && position < line.end ? &line : nullptr;
}

RunLine SpilledLinesView::line(std::size_t run, std::uint64_t position) {
  const RunProbe::FoundLine found = probe_.line_at(run, position);
  std::vector<std::byte> room;
  return {found.first, found.first + found.line.size(), text_of(LineKeys(*order_).key(found.line, room))};
}

std::vector<RunMark> MemoryRunsView::sample(std::size_t run, std::uint64_t first, std::uint64_t last,
                                            std::size_t count) {
  if (first == last) return {};
  constexpr std::size_t kFewBuckets = 8;
  const BucketIndex& index = *runs_[run].index;
  std::vector<RunMark> marks;
  if (index.bucket_of(last - 1) - index.bucket_of(first) > kFewBuckets)
    marks = bucket_borders(runs_[run], first, last, count);
  if (!marks.empty()) return marks;
  const std::vector<std::uint64_t> positions = spread(first, last, std::min(count, most_marks_));
  marks.reserve(positions.size());
  for (const std::uint64_t position : positions) marks.push_back({key(run, position), position});
  return marks;
}

std::vector<RunMark> MemoryRunsView::marks_in_memory(std::size_t run, std::uint64_t first, std::uint64_t last,
                                                     std::size_t count) {
  return first == last ? std::vector<RunMark>{} : bucket_borders(runs_[run], first, last, count);
}

std::string MemoryRunsView::key(std::size_t run, std::uint64_t position) {
  const RecordMemory& memory = runs_[run].memory;
  const Element element = runs_[run].index->element(position, memory.base, scratch_);
  std::vector<std::byte> room;
  const std::byte* const key = memory.layout.key(memory.base + place_of(element), room);
  return {reinterpret_cast<const char*>(key), memory.layout.key_bytes};
}

// All bytes of a line have the same key, so that more positions of it would show nothing.
MemoryLinesView::MemoryLinesView(std::span<const MemoryRun> runs, std::span<Element> scratch)
    : MemoryRunsView(runs, scratch, kReadsASample) {}

std::size_t MemoryLinesView::find_line(std::size_t run, std::uint64_t position) {
  const RecordMemory& memory = runs_[run].memory;
  const auto [task, first] = runs_[run].index->task_at(position);
  if (open_.starts.empty() || open_.run != run || open_.first != first) {
    runs_[run].index->sort_bucket(task.bucket, memory.base, scratch_);
    open_ = {run, first, {}, std::vector<Element>(task.records)};
    runs_[run].index->copy_part(task.bucket, task.first, open_.elements);
    const LineKeys keys(*memory.layout.lines);
    std::uint64_t at = first;
    open_.starts.reserve(task.records);
    for (const Element element : open_.elements) {
      open_.starts.push_back(at);
      at += keys.line_at(memory.base + place_of(element)).size();
    }
  }
  const auto above = std::upper_bound(open_.starts.begin(), open_.starts.end(), position);
  return static_cast<std::size_t>(above - open_.starts.begin()) - 1;
}

RunLine MemoryLinesView::found(std::size_t run, std::uint64_t position, std::size_t key_bytes) {
  const RecordMemory& memory = runs_[run].memory;
  const LineKeys keys(*memory.layout.lines);
  const std::size_t number = find_line(run, position);
  const std::span<const std::byte> line = keys.line_at(memory.base + place_of(open_.elements[number]));
  std::vector<std::byte> room;
  return {open_.starts[number], open_.starts[number] + line.size(), text_of(keys.key(line, room), key_bytes)};
}

std::uint64_t MemoryLinesView::line_start(std::size_t run, std::uint64_t position) {
  if (position >= records(run)) return position;
  const std::size_t line = find_line(run, position);
  return open_.starts[line];
}

void JoinedRunsView::add(std::unique_ptr<SortedRuns> view) {
  for (std::size_t run = 0; run < view->count(); ++run) places_.push_back({view.get(), run});
  views_.push_back(std::move(view));
}

bool JoinedRunsView::locates_cheaply() const {
  return std::ranges::all_of(views_, [](const auto& view) { return view->locates_cheaply(); });
}

void JoinedRunsView::forget() {
  for (const std::unique_ptr<SortedRuns>& view : views_) view->forget();
}

namespace {

// The views of each kind of records.
template <typename Records>
struct Views {
  using Spilled = SpilledRunsView;
  using InMemory = MemoryRunsView;
};
template <>
struct Views<LineKeys> {
  using Spilled = SpilledLinesView;
  using InMemory = MemoryLinesView;
};

}  // namespace

std::unique_ptr<SortedRuns> view_of(std::span<const SpilledRun> runs, const io::SpillSpace& space,
                                    const RecordLayout& layout) {
  return with_records(layout, [&]<typename Records>(const Records&) -> std::unique_ptr<SortedRuns> {
    return std::make_unique<typename Views<Records>::Spilled>(runs, space, layout);
  });
}

std::unique_ptr<SortedRuns> view_of(std::span<const MemoryRun> runs, std::span<Element> scratch) {
  assert(!runs.empty());
  return with_records(runs.front().memory.layout, [&]<typename Records>(const Records&) -> std::unique_ptr<SortedRuns> {
    return std::make_unique<typename Views<Records>::InMemory>(runs, scratch);
  });
}

}  // namespace hetsort::sort
