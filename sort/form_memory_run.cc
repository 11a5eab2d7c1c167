// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <atomic>
#include <numeric>

#include "sort/form_runs.h"
#include "sort/parallel.h"

namespace hetsort::sort {

namespace {

// Pieces read at once by one thread. Buffered: what was copied is still in the second-level cache when its keys are
// taken. Direct: what a device likes.
constexpr std::uint64_t kBufferedPieceBytes = std::uint64_t{256} << 10;
constexpr std::uint64_t kDirectPieceBytes = std::uint64_t{1} << 20;
constexpr std::size_t kDirectDepth = 8;

// Sampling reads this many places of the input, some records at each.
constexpr std::uint64_t kSamplePlaces = 1024;

std::size_t queue_depth(io::Backend backend) { return backend == io::Backend::kBuffered ? 1 : kDirectDepth; }

std::uint64_t last_page(const Segment& segment) { return (segment.memory_offset + segment.bytes - 1) / kPageBytes; }

/// A few records at evenly spread places of the input.
std::vector<Segment> choose_sample(std::span<const Segment> segments, const Input& input, std::size_t samples) {
  const std::uint64_t record_bytes = input.record_bytes();
  const std::uint64_t records = input.total_bytes() / record_bytes;
  const std::uint64_t places = std::min(kSamplePlaces, records);
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

/// Reads the sample to where its records belong in memory.
void read_sample(std::span<const Segment> sample, std::byte* memory, const Input& input) {
  const auto queue = io::make_queue(input.backend(), queue_depth(input.backend()));
  SegmentReader reader(*queue, memory);
  for (std::size_t i = 0; i < sample.size(); ++i) {
    const bool shares_page = i > 0 && sample[i].memory_offset / kPageBytes <= last_page(sample[i - 1]);
    while (reader.full() || (shares_page && !reader.idle())) reader.wait();
    reader.start(sample[i]);
  }
  while (!reader.idle()) reader.wait();
}

/// Lays the inputs over where their records belong in memory.
std::unique_ptr<io::MappedFiles> map(std::span<const Segment> segments, std::byte* memory) {
  auto mapped = std::make_unique<io::MappedFiles>();
  for (const Segment& segment : segments)
    mapped->lay_over(segment.input->file, {memory + segment.memory_offset, segment.bytes}, segment.file_offset);
  mapped->announce();
  return mapped;
}

void populate(const Segment& segment, const std::byte* memory) {
  io::populate(segment.input->file, {memory + segment.memory_offset, segment.bytes});
}

/// Reads `pieces` with all threads and calls visit(worker, piece) for each that has arrived.
template <typename Visit>
void read_pieces(const Input& input, const Workshop& workshop, std::span<const Segment> pieces, const Visit& visit) {
  std::atomic<std::size_t> next{0};
  run_workers(workshop.plan.threads, [&](std::size_t worker, const StopFlag& stop) {
    const Monitor::Activity activity(*workshop.monitor, worker, "read and index");
    const auto queue = io::make_queue(input.backend(), queue_depth(input.backend()));
    SegmentReader reader(*queue, workshop.arena.data());
    while (true) {
      if (stop) throw Stopped{};
      while (!reader.full()) {
        const std::size_t piece = next++;
        if (piece >= pieces.size()) break;
        reader.start(pieces[piece]);
      }
      if (reader.idle()) break;
      visit(worker, reader.wait());
    }
  });
}

/// Calls visit(worker, piece) for pieces that are in memory already.
template <typename Visit>
void visit_pieces(const Workshop& workshop, std::span<const Segment> pieces, const Visit& visit) {
  std::atomic<std::size_t> next{0};
  run_workers(workshop.plan.threads, [&](std::size_t worker, const StopFlag& stop) {
    const Monitor::Activity activity(*workshop.monitor, worker, "index");
    for (std::size_t piece = next++; piece < pieces.size(); piece = next++) {
      if (stop) throw Stopped{};
      visit(worker, pieces[piece]);
    }
  });
}

}  // namespace

void form_memory_run(const Input& input, const Workshop& workshop, FormedRuns& runs) {
  const RecordLayout& layout = workshop.layout;
  std::uint64_t placed_bytes = 0;
  const std::vector<Segment> segments = input.place(0, input.total_bytes(), placed_bytes);
  std::byte* const base = workshop.arena.data();
  const std::span<std::byte> pool = workshop.shared_records().subspan(placed_bytes + kPageBytes);
  runs.memory = {base, layout};

  const bool mapped = input.can_be_mapped() && layout.prefix_is_whole_key();
  if (mapped) runs.mapped = map(segments, base);

  const std::size_t buckets = BucketIndex::bucket_count(input.total_bytes() / layout.record_bytes);
  std::vector<Element> sample;
  if (buckets > 1) {
    const std::vector<Segment> sampled = choose_sample(segments, input, 32 * buckets);
    if (mapped) {
      for (const Segment& each : sampled) populate(each, base);
    } else {
      read_sample(sampled, base, input);
    }
    sample = sample_records(runs.memory, sampled, buckets);
  }
  runs.index = std::make_unique<BucketIndex>(layout, pool, workshop.plan.threads, std::move(sample), buckets);

  const bool buffered = input.backend() == io::Backend::kBuffered;
  const std::uint64_t piece_bytes = buffered ? kBufferedPieceBytes : kDirectPieceBytes;
  const std::vector<Segment> pieces = cut(segments, piece_bytes, layout.record_bytes);
  std::vector<Tally> tallies(workshop.plan.threads);
  const auto index = [&](std::size_t worker, const Segment& piece) {
    const std::size_t count = piece.bytes / layout.record_bytes;
    tallies[worker].add(base + piece.memory_offset, count, layout.record_bytes);
    runs.index->add(worker, base, piece.memory_offset, count);
    workshop.monitor->advance(piece.bytes);
  };
  // A direct read fills whole pages. While one of them is looked at no other read may touch it, even with the same
  // bytes: encrypted disks, for one, are deciphered in place. So where pieces of records share pages, all is read
  // first.
  const bool share_pages = std::lcm(std::uint64_t{layout.record_bytes}, std::uint64_t{kPageBytes}) > piece_bytes;
  if (mapped) {
    visit_pieces(workshop, pieces, [&](std::size_t worker, const Segment& piece) {
      populate(piece, base);
      index(worker, piece);
    });
  } else if (buffered || !share_pages) {
    read_pieces(input, workshop, pieces, index);
  } else {
    read_pieces(input, workshop, cut(segments, piece_bytes, 1), [](std::size_t, const Segment&) {});
    visit_pieces(workshop, pieces, index);
  }
  for (const Tally& tally : tallies) runs.input += tally;
  runs.index->settle(base, workshop.plan.threads);
}

}  // namespace hetsort::sort
