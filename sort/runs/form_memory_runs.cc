// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <atomic>
#include <cassert>
#include <cstring>
#include <mutex>
#include <numeric>
#include <stdexcept>
#include <utility>

#include "sort/input/run_in_place.h"
#include "sort/input/segment_reader.h"
#include "sort/machine/parallel.h"
#include "sort/output/place_proof.h"
#include "sort/runs/form_runs.h"
#include "sort/runs/run_cutter.h"
#include "sort/runs/run_spiller.h"
#include "sort/runs/spill_writer.h"

namespace hetsort::sort {

namespace {

// Bytes that one thread reads at once. Buffered: the copied bytes are still in the second-level cache when their keys
// are taken. Direct: large enough for a device's full rate.
constexpr std::uint64_t kBufferedPieceBytes = std::uint64_t{256} << 10;
constexpr std::uint64_t kDirectPieceBytes = std::uint64_t{1} << 20;
constexpr std::size_t kDirectDepth = 8;

// Number of places of the input at which some records are read as a sample.
constexpr std::uint64_t kSamplePlaces = 1024;

// An index of lines gets up to this many times the expected memory, if it is there: untouched memory costs nothing.
constexpr std::size_t kAmpleIndexes = 8;
constexpr std::size_t kAmpleBytes = std::size_t{64} << 20;

// Lines that are sampled for each bucket.
constexpr std::uint64_t kSampledLines = 64;

std::size_t queue_depth(io::Backend backend) { return backend == io::Backend::kBuffered ? 1 : kDirectDepth; }

std::uint64_t last_page(const Segment& segment) { return (segment.memory_offset + segment.bytes - 1) / kPageBytes; }

/// Chooses a few records at evenly spread places of the input.
std::vector<Segment> choose_sample(std::span<const Segment> segments, std::uint64_t records, std::size_t samples,
                                   std::uint64_t record_bytes) {
  const std::uint64_t places = std::min<std::uint64_t>({kSamplePlaces, records, samples});
  const std::uint64_t each = std::max<std::uint64_t>(1, samples / std::max<std::uint64_t>(1, places));
  std::vector<Segment> sample;
  std::uint64_t input_first = 0;
  std::uint64_t place = 0;
  for (const Segment& segment : segments) {
    const std::uint64_t count = segment.bytes / record_bytes;
    for (; place < places && records * place / places < input_first + count; ++place) {
      const std::uint64_t at = records * place / places - input_first;
      const std::uint64_t taken = std::min(each, count - at);
      sample.push_back({segment.input, segment.file_offset + at * record_bytes, taken * record_bytes,
                        segment.memory_offset + at * record_bytes});
    }
    input_first += count;
  }
  return sample;
}

/// Returns the same segments placed one after the other in memory, each in pages of its own.
std::vector<Segment> in_own_pages(std::span<const Segment> segments) {
  std::vector<Segment> separate;
  std::uint64_t at = 0;
  for (Segment segment : segments) {
    segment.memory_offset = at + segment.memory_offset % kPageBytes;
    at = round_up(segment.memory_offset + segment.bytes, kPageBytes);
    separate.push_back(segment);
  }
  return separate;
}

/// Reads all segments to their memory offsets.
void read_all(std::span<const Segment> segments, std::byte* memory, const Input& input) {
  const auto queue = io::make_queue(input.backend(), queue_depth(input.backend()));
  SegmentReader reader(*queue, memory, input.terminator());
  for (std::size_t i = 0; i < segments.size(); ++i) {
    const bool shares_page = i > 0 && segments[i].memory_offset / kPageBytes <= last_page(segments[i - 1]);
    while (reader.full() || (shares_page && !reader.idle())) reader.wait();
    reader.start(segments[i]);
  }
  while (!reader.idle()) reader.wait();
}

void populate(const Segment& segment, const std::byte* memory) {
  io::populate(segment.input->file, {memory + segment.memory_offset, segment.bytes});
}

/// Hands the pieces of one segment to threads, as far as it is claimed for this rank. Thread safety: any thread.
class Pieces {
 public:
  /// `claims`: claims the segment; null = all of it is claimed.
  Pieces(std::vector<Segment> pieces, InputSegments* claims) : pieces_(std::move(pieces)), claims_(claims) {}

  /// The next piece, which lives as long as this object; null at the end. Throws: what claiming throws.
  const Segment* next() {
    const std::lock_guard lock(mutex_);
    if (next_ == pieces_.size()) return nullptr;
    Segment& piece = pieces_[next_++];
    const std::uint64_t wanted = handed_out_bytes_ + piece.bytes;
    const std::uint64_t claimed = claims_ == nullptr ? wanted : std::min(wanted, claims_->claim(wanted));
    if (claimed < wanted) next_ = pieces_.size();
    piece.bytes = claimed - handed_out_bytes_;
    handed_out_bytes_ = claimed;
    return piece.bytes > 0 ? &piece : nullptr;
  }
  std::span<const Segment> all() const { return pieces_; }
  std::size_t number_of(const Segment& piece) const { return static_cast<std::size_t>(&piece - pieces_.data()); }
  /// Bytes of the segment that were handed out.
  std::uint64_t handed_out_bytes() const { return handed_out_bytes_; }

 private:
  std::mutex mutex_;
  std::vector<Segment> pieces_;
  InputSegments* claims_;
  std::size_t next_ = 0;
  std::uint64_t handed_out_bytes_ = 0;
};

/// The first `bytes` bytes of `segments`.
std::vector<Segment> first_bytes(std::span<const Segment> segments, std::uint64_t bytes) {
  std::vector<Segment> front;
  for (Segment segment : segments) {
    segment.bytes = std::min(segment.bytes, bytes);
    bytes -= segment.bytes;
    if (segment.bytes > 0) front.push_back(segment);
  }
  return front;
}

/// Reads `pieces` with all threads and calls visit(worker, piece) for each that has arrived.
template <typename Visit>
void read_pieces(const Input& input, const RankContext& context, Pieces& pieces, const Visit& visit) {
  run_workers(context.plan.threads, [&](std::size_t worker, const StopFlag& stop) {
    const Monitor::Activity activity(*context.monitor, worker, "read and index");
    const auto queue = io::make_queue(input.backend(), queue_depth(input.backend()));
    SegmentReader reader(*queue, context.arena.data(), input.terminator());
    while (true) {
      if (stop) throw Stopped{};
      while (!reader.full()) {
        const Segment* const piece = pieces.next();
        if (piece == nullptr) break;
        reader.start(*piece);
      }
      if (reader.idle()) break;
      const Segment& piece = reader.wait();
      const double begin = Monitor::begin_step();
      visit(worker, piece);
      Monitor::end_step("index a piece", begin);
    }
  });
}

/// Calls visit(worker, piece) for pieces that are in memory already.
template <typename Visit>
void visit_pieces(const RankContext& context, Pieces& pieces, const Visit& visit) {
  run_workers(context.plan.threads, [&](std::size_t worker, const StopFlag& stop) {
    const Monitor::Activity activity(*context.monitor, worker, "index");
    while (const Segment* const piece = pieces.next()) {
      if (stop) throw Stopped{};
      visit(worker, *piece);
    }
  });
}

/// Adds lines to an index while their pieces arrive, in any order. A line that spans two pieces is added at the end.
class LineIndexer {
 public:
  LineIndexer(BucketIndex& index, const RecordMemory& memory, std::span<const Segment> pieces, std::size_t threads)
      : index_(index),
        memory_(memory),
        keys_(*memory.layout.lines),
        digests_(threads),
        pieces_(pieces),
        whole_(pieces.size()) {}

  /// Thread safety: concurrent calls need different workers and pieces.
  void add(std::size_t worker, std::size_t number, const Segment& piece) {
    const std::byte* const first = memory_.base + piece.memory_offset;
    const std::span<const std::byte> bytes(first, piece.bytes);
    const std::byte* const begin = follows(number) ? keys_.end_of_line(first, first + piece.bytes) : first;
    const auto skipped = static_cast<std::size_t>(begin - first);
    const bool found = !follows(number) || keys_.is_whole(bytes.first(skipped));
    whole_[number] = {found, piece.memory_offset + skipped, keys_.whole_lines(bytes.subspan(skipped))};
    add_lines(worker, whole_[number].offset, whole_[number].bytes);
  }
  /// Adds the lines that span pieces. Returns false if the index had no room for all lines.
  bool finish() {
    for (std::size_t number = 0; number < pieces_.size(); ++number) {
      if (!whole_[number].line_begins) continue;
      const std::uint64_t begin = whole_[number].offset + whole_[number].bytes;
      std::uint64_t end = end_of(number);
      for (std::size_t next = number + 1; next < pieces_.size() && follows(next); ++next) {
        end = whole_[next].line_begins ? whole_[next].offset : end_of(next);
        if (whole_[next].line_begins) break;
      }
      if (end > begin) add_lines(0, begin, end - begin);
    }
    return !full_;
  }
  MultisetDigest digest() const {
    MultisetDigest sum;
    for (const MultisetDigest& digest : digests_) sum += digest;
    return sum;
  }

 private:
  /// The whole lines of a piece.
  struct Part {
    bool line_begins = false;  // whether a line begins at `offset`
    std::uint64_t offset = 0;  // place of the first one in memory
    std::uint64_t bytes = 0;
  };

  /// Whether a piece continues the one before it.
  bool follows(std::size_t number) const { return number > 0 && pieces_[number].input == pieces_[number - 1].input; }
  std::uint64_t end_of(std::size_t number) const { return pieces_[number].memory_offset + pieces_[number].bytes; }
  void add_lines(std::size_t worker, std::uint64_t offset, std::uint64_t bytes) {
    if (full_) return;
    digests_[worker].add(memory_.layout, memory_.base + offset, bytes);
    try {
      index_.add(worker, memory_.base, offset, bytes);
    } catch (const BucketIndex::Full&) {
      full_ = true;
    }
  }

  BucketIndex& index_;
  RecordMemory memory_;
  LineKeys keys_;
  std::vector<MultisetDigest> digests_;
  std::span<const Segment> pieces_;
  std::vector<Part> whole_;
  std::atomic<bool> full_{false};
};

/// Forms the runs of one input, one after the other. Records fill the room from its front, indexes from its back.
class MemoryRunFormer {
 public:
  /// `room`: a part of the arena. If `runs` has mapped files, records are mapped and not read.
  MemoryRunFormer(const Input& input, const RankContext& context, std::span<std::byte> room, FormedRuns& runs)
      : input_(input), context_(context), layout_(context.layout), runs_(runs), room_(room) {}

  /// Forms a run of lines, whose number is not known before. If the room turns out too small for their index, spills
  /// them as several runs instead.
  void form_lines(const InputSegment& input_segment, const SpillOptions& options) {
    const LoadedRun loaded{base(), place(input_segment), input_segment.first_record, input_segment.first_byte};
    const std::uint64_t expected = input_segment.bytes / input_.mean_record_bytes();
    const std::size_t buckets = BucketIndex::bucket_count(expected);
    const std::size_t ample = kAmpleIndexes * BucketIndex::pool_bytes(expected, context_.plan.threads) + kAmpleBytes;
    const std::span<std::byte> pool = take_pool(std::min(ample, room_.size() - kPageBytes) / kPageBytes * kPageBytes);
    MemoryRun run{input_segment.first_record, {base(), layout_}, nullptr};
    run.index = std::make_unique<BucketIndex>(layout_, pool, context_.plan.threads,
                                              sample_lines(loaded.segments, buckets, pool), buckets);
    const std::uint64_t piece_bytes =
        input_.backend() == io::Backend::kBuffered ? kBufferedPieceBytes : kDirectPieceBytes;
    Pieces pieces(cut(loaded.segments, piece_bytes, 1), nullptr);
    LineIndexer indexer(*run.index, run.memory, pieces.all(), context_.plan.threads);
    read_pieces(input_, context_, pieces, [&](std::size_t worker, const Segment& piece) {
      indexer.add(worker, pieces.number_of(piece), piece);
      context_.monitor->advance(piece.bytes);
    });
    check_ends_of_lines(base(), loaded.segments, *layout_.terminator());
    if (indexer.finish() && keeps_lines(context_, loaded, *run.index, indexer.digest().records)) {
      runs_.input += indexer.digest();
      run.index->finalize(base(), context_.plan.threads);
      runs_.keep_lines(std::move(run), loaded);
      return;
    }
    make_spill_space(context_, options, runs_);
    spill_loaded_lines(context_, loaded, runs_);
  }

  /// `claims`: claims the segment; null = all of it is claimed. Adds the records to the digest of the runs.
  MemoryRun form(const InputSegment& input_segment, InputSegments* claims) {
    const std::uint64_t records = input_segment.bytes / layout_.record_bytes;
    const std::vector<Segment>& segments = segments_ = place(input_segment);
    const std::span<std::byte> pool = take_pool(BucketIndex::pool_bytes(records, context_.plan.threads));
    if (runs_.mapped)
      for (const Segment& segment : segments)
        runs_.mapped->lay_over(segment.input->file, {base() + segment.memory_offset, segment.bytes},
                               segment.file_offset);
    MemoryRun run{input_segment.first_record, {base(), layout_}, nullptr};
    const std::size_t buckets = BucketIndex::bucket_count(records);
    run.index = std::make_unique<BucketIndex>(layout_, pool, context_.plan.threads,
                                              sample(segments, records, buckets, pool), buckets);
    const Segment last = first_bytes(segments, read_into(*run.index, segments, claims)).back();
    run.end_offset = last.memory_offset + last.bytes;
    run.index->finalize(base(), context_.plan.threads);
    return run;
  }
  /// Where the records of the last run that was formed lie.
  const std::vector<Segment>& segments() const { return segments_; }
  std::span<std::byte> free_room() const { return room_; }

 private:
  std::byte* base() const { return context_.arena.data(); }

  std::vector<Segment> place(const InputSegment& input_segment) {
    std::uint64_t placed_bytes = 0;
    std::vector<Segment> segments = input_.place(input_segment.first_byte, input_segment.bytes, placed_bytes);
    if (placed_bytes + kPageBytes > room_.size()) throw std::length_error("more input than memory was planned for");
    for (Segment& segment : segments) segment.memory_offset += static_cast<std::uint64_t>(room_.data() - base());
    room_ = room_.subspan(placed_bytes);
    return segments;
  }

  /// Leaves a page free behind the records: prefixes may be read there, and direct reads may fill it.
  std::span<std::byte> take_pool(std::size_t bytes) {
    if (bytes + kPageBytes > room_.size()) throw std::length_error("more segments than memory was planned for");
    const std::span<std::byte> pool = room_.last(bytes);
    room_ = room_.first(room_.size() - bytes);
    return pool;
  }

  /// Reads a sample of the records. The pool is unused until the index is made: the sample is read there if it fits.
  /// Reading the sampled records to their places would touch pages all over a segment that others may claim most of.
  std::vector<Element> sample(std::span<const Segment> segments, std::uint64_t records, std::size_t buckets,
                              std::span<std::byte> pool) const {
    if (buckets < 2) return {};
    const std::vector<Segment> sampled = choose_sample(segments, records, 32 * buckets, layout_.record_bytes);
    if (runs_.mapped) {
      for (const Segment& each : sampled) populate(each, base());
      return sample_records({base(), layout_}, sampled, buckets);
    }
    const std::vector<Segment> separate = in_own_pages(sampled);
    const Segment& last = separate.back();
    const bool fits = last.memory_offset + last.bytes + 2 * kPageBytes <= pool.size();
    std::byte* const memory = fits ? pool.data() : base();
    read_all(fits ? separate : sampled, memory, input_);
    return sample_records({memory, layout_}, fits ? separate : sampled, buckets, sampled);
  }

  /// Reads a sample of the lines into the pool, as sample() does.
  std::vector<Element> sample_lines(std::span<const Segment> segments, std::size_t buckets,
                                    std::span<std::byte> pool) const {
    if (buckets < 2) return {};
    std::uint64_t bytes = 0;
    for (const Segment& segment : segments) bytes += segment.bytes - segment.added_bytes;
    const std::uint64_t wanted =
        std::min<std::uint64_t>(kSampledLines * buckets * input_.mean_record_bytes(), pool.size() / 2);
    std::vector<Segment> in_files(segments.begin(), segments.end());
    for (Segment& segment : in_files) segment.bytes -= std::exchange(segment.added_bytes, 0);
    const std::vector<Segment> sampled = in_own_pages(choose_sample(in_files, bytes, wanted, 1));
    if (sampled.empty() || sampled.back().memory_offset + sampled.back().bytes + 2 * kPageBytes > pool.size())
      return {};
    read_all(sampled, pool.data(), input_);
    const LineKeys keys(*layout_.lines);
    std::vector<Element> sample;
    for (const Segment& place : sampled) {
      const std::byte* const first = pool.data() + place.memory_offset;
      const std::byte* const end = first + keys.whole_lines({first, place.bytes});
      for (const std::byte* line = keys.end_of_line(first, first + place.bytes); line < end;) {
        const std::byte* const next = keys.end_of_line(line, end);
        sample.push_back(keys.prefix({line, next}));
        line = next;
      }
    }
    return sample;
  }

  /// Reads the records and adds them to the index. Returns how many bytes of the segments are claimed for the run.
  std::uint64_t read_into(BucketIndex& run_index, std::span<const Segment> segments, InputSegments* claims) {
    const bool buffered = input_.backend() == io::Backend::kBuffered;
    const std::uint64_t piece_bytes = buffered ? kBufferedPieceBytes : kDirectPieceBytes;
    std::vector<MultisetDigest> digests(context_.plan.threads);
    const auto index = [&](std::size_t worker, const Segment& piece) {
      const std::size_t count = piece.bytes / layout_.record_bytes;
      digests[worker].add(base() + piece.memory_offset, count, layout_.record_bytes);
      run_index.add(worker, base(), piece.memory_offset, count);
      context_.monitor->advance(piece.bytes);
    };
    // A direct read fills whole pages, and a page that is in use must not be read again, not even with the same bytes:
    // encrypted disks, for example, are deciphered in place. So if pieces of whole records share pages, everything is
    // read before anything is indexed.
    const bool share_pages = std::lcm(std::uint64_t{layout_.record_bytes}, std::uint64_t{kPageBytes}) > piece_bytes ||
                             !input_.header_is_whole_pages();
    Pieces pieces(cut(segments, piece_bytes, share_pages && !runs_.mapped && !buffered ? 1 : layout_.record_bytes),
                  claims);
    if (runs_.mapped) {
      visit_pieces(context_, pieces, [&](std::size_t worker, const Segment& piece) {
        populate(piece, base());
        index(worker, piece);
      });
    } else if (buffered || !share_pages) {
      read_pieces(input_, context_, pieces, index);
    } else {
      read_pieces(input_, context_, pieces, [](std::size_t, const Segment&) {});
      Pieces whole_records(cut(first_bytes(segments, pieces.handed_out_bytes()), piece_bytes, layout_.record_bytes),
                           nullptr);
      visit_pieces(context_, whole_records, index);
    }
    for (const MultisetDigest& digest : digests) runs_.input += digest;
    return pieces.handed_out_bytes();
  }

  const Input& input_;
  const RankContext& context_;
  const RecordLayout& layout_;
  FormedRuns& runs_;
  std::span<std::byte> room_;  // the free part of the arena, between the records and the pools
  std::vector<Segment> segments_;
};

/// Copies the records to the front of the arena, where the memory behind the last record may be read.
std::span<const std::byte> copied(std::span<const std::byte> records, const RankContext& context) {
  run_workers(context.plan.threads, [&](std::size_t worker, const StopFlag&) {
    const std::size_t first = records.size() * worker / context.plan.threads;
    const std::size_t end = records.size() * (worker + 1) / context.plan.threads;
    if (end > first) std::memcpy(context.arena.data() + first, records.data() + first, end - first);
  });
  return context.arena.first(records.size());
}

}  // namespace

void form_memory_runs(const Input& input, const RankContext& context, const SpillOptions& /*options*/,
                      InputSegments& segments, FormedRuns& runs) {
  assert(context.plan.in_memory);
  if (input.can_be_mapped() && prefix_is_whole_key(context.layout)) {
    runs.mapped = std::make_unique<io::MappedFiles>();
    runs.mapped->announce();
  }
  MemoryRunFormer former(input, context, context.shared_records(), runs);
  while (const std::optional<InputSegment> segment = segments.next())
    if (segment->bytes > 0) runs.kept.push_back(former.form(*segment, &segments));
  runs.spare = former.free_room();
}

void form_memory_run_of_lines(const Input& input, const RankContext& context, const SpillOptions& options,
                              InputSegments& segments, FormedRuns& runs) {
  assert(context.plan.in_memory);
  const std::optional<InputSegment> all = segments.next();
  if (all && all->bytes > 0) MemoryRunFormer(input, context, context.shared_records(), runs).form_lines(*all, options);
}

void form_run_over(std::span<const std::byte> records, const RankContext& context, InputSegments& segments,
                   FormedRuns& runs) {
  static const InputFile no_file{};
  const RecordLayout& layout = context.layout;
  const std::size_t threads = context.plan.threads;
  const std::uint64_t count = records.size() / layout.record_bytes;
  const std::optional<InputSegment> all = segments.next();
  if (!all || count == 0) return;
  if (!keys_are_read_inside(layout)) records = copied(records, context);
  const std::array<Segment, 1> whole{Segment{.input = &no_file, .bytes = records.size()}};
  const std::size_t buckets = BucketIndex::bucket_count(count);
  MemoryRun run{all->first_record, {records.data(), layout}, nullptr};
  const std::vector<Segment> sample = choose_sample(whole, count, 32 * buckets, layout.record_bytes);
  run.index =
      std::make_unique<BucketIndex>(layout, context.shared_records().last(BucketIndex::pool_bytes(count, threads)),
                                    threads, sample_records(run.memory, sample, buckets), buckets);
  std::vector<MultisetDigest> digests(threads);
  Pieces pieces(cut(whole, kBufferedPieceBytes, layout.record_bytes), nullptr);
  visit_pieces(context, pieces, [&](std::size_t worker, const Segment& piece) {
    const std::size_t pieced = piece.bytes / layout.record_bytes;
    digests[worker] += digest_to_prove(context, records.data(), piece.memory_offset, pieced);
    run.index->add(worker, records.data(), piece.memory_offset, pieced);
    context.monitor->advance(piece.bytes);
  });
  for (const MultisetDigest& digest : digests) runs.input += digest;
  run.index->finalize(records.data(), threads);
  runs.kept.push_back(std::move(run));
}

void form_partly_spilled_runs(const Input& input, const RankContext& context, const SpillOptions& options,
                              InputSegments& segments, FormedRuns& runs) {
  assert(context.plan.forms_together);
  make_spill_space(context, options, runs);
  reserve_spill_space(input, context, runs);
  MemoryRunFormer keeper(input, context, context.kept_room(), runs);
  RunCutter cutter(segments, context);
  for (std::uint64_t left = context.plan.kept_bytes; left > 0;) {
    const std::optional<InputSegment> segment = segments.next();
    if (!segment) break;
    const InputSegment front{segment->first_byte, std::min(segment->bytes, left), segment->first_record};
    left -= front.bytes;
    if (front.bytes > 0) runs.kept.push_back(keeper.form(front, &segments));
    if (left == 0) cutter.start_with(*segment, front.bytes);
  }
  while (const std::optional<InputSegment> run = cutter.next()) {
    MemoryRunFormer former(input, context, context.slot(), runs);
    const MultisetDigest before = runs.input;
    const MemoryRun formed = former.form(*run, nullptr);
    std::optional<RunInPlace> found;
    if (context.finds_runs_in_place())
      found = run_in_place(context.layout, context.arena.data(), former.segments(),
                           records_per_block(*runs.space, context.layout));
    if (found) found->run.first_record = run->first_record;
    runs.spilled.push_back(found ? std::move(found->run) : spill_memory_run(formed, context, runs, before));
  }
}

}  // namespace hetsort::sort
