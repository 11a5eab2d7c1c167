// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
#include "sort/runs/run_spiller.h"

#include <algorithm>
#include <atomic>
#include <iterator>
#include <mutex>
#include <utility>

#include "io/stopwatch.h"
#include "io/transfer/access.h"
#include "sort/checkpoint/checkpoint.h"
#include "sort/input/run_in_place.h"
#include "sort/input/segment_reader.h"
#include "sort/model/record_order.h"
#include "sort/output/permute.h"
#include "sort/runs/bucket_index.h"
#include "sort/runs/spill_writer.h"

namespace hetsort::sort {

namespace {

/// The number of records in `pieces`; for lines an estimate. At most as many as the pool has room for.
std::uint64_t expected_records(const RecordLayout& layout, std::span<const Segment> pieces, std::span<std::byte> pool) {
  std::uint64_t bytes = 0;
  for (const Segment& piece : pieces) bytes += piece.bytes;
  return std::min<std::uint64_t>(bytes / layout.guessed_bytes(), pool.size() / sizeof(Element));
}

/// The first line with more than `most` bytes. Requires: there is one.
LongLine find_long_line(const order::LineOrder& order, const LoadedRun& run, std::uint64_t most) {
  const LineKeys keys(order);
  std::uint64_t at = run.first_byte;
  for (const Segment& segment : run.segments) {
    const std::byte* const end = run.base + segment.memory_offset + segment.bytes;
    for (const std::byte *line = end - segment.bytes, *next = line; line != end; line = next) {
      next = keys.end_of_line(line, end);
      const auto bytes = static_cast<std::uint64_t>(next - line);
      if (bytes > most) return {at, most};
      at += bytes;
    }
  }
  return {at, most};
}

}  // namespace

bool keeps_lines(const RankContext& context, const LoadedRun& loaded, const BucketIndex& index, std::uint64_t lines) {
  const std::uint64_t longest = index.longest_line();
  const std::uint64_t most = std::max(context.plan.max_line_bytes, max_line_bytes(0));
  if (longest > most) throw find_long_line(*context.layout.lines, loaded, most);
  const std::uint64_t used_bytes = loaded.bytes() + BucketIndex::pool_bytes(lines, context.plan.threads);
  return context.ranks->size() > 1 || threads_that_write(context.plan, used_bytes, longest) > 0;
}

void make_spill_space(const RankContext& context, const SpillOptions& options, FormedRuns& runs) {
  if (runs.space) return;  // that of a checkpoint
  const io::Backend backend = io::direct_backend(context.options->access);
  runs.space = std::make_unique<io::SpillSpace>(options.directories, context.plan.spill_block_bytes,
                                                backend != io::Backend::kBuffered);
  if (names_format(options.compression)) runs.space->reserve_nothing();
  runs.spill_backend = runs.space->direct() ? backend : io::Backend::kBuffered;
}

void reserve_spill_space(const Input& input, const RankContext& context, const FormedRuns& runs) {
  runs.space->reserve(
      context.plan.spilled_blocks(input.total_bytes() - runs.elsewhere_bytes, context.layout.record_bytes));
}

SpilledRun spill_memory_run(const MemoryRun& run, const RankContext& context, FormedRuns& runs,
                            const MultisetDigest& before) {
  const std::size_t record_bytes = context.layout.record_bytes;
  const std::size_t threads = context.plan.threads;
  const std::uint64_t per_block = records_per_block(*runs.space, context.layout);
  const std::uint64_t blocks = (run.records() + per_block - 1) / per_block;
  const auto border = [&](std::size_t worker) {
    return std::min(run.records(), blocks * worker / threads * per_block);
  };
  for (std::size_t worker = 1; worker < threads; ++worker)
    run.sort_border(border(worker), context.beside_shared(0).scratch);
  std::vector<SpilledRun> parts(threads);
  run_workers(threads, [&](std::size_t worker, const StopFlag& stop) {
    const Monitor::Activity activity(*context.monitor, worker, "sort and spill");
    const ThreadMemory memory = context.beside_shared(worker);
    const auto queue = io::make_queue(runs.spill_backend, context.plan.staging_blocks);
    StagingRing ring(memory.staging, context.plan.staging_blocks, *queue);
    io::SpillPacker packer(context.options->spill.compression, &runs.space->pace());
    SpillWriter writer(*runs.space, ring, context.layout, context.plan.prefix_bytes, &packer);
    const std::uint64_t end = border(worker + 1);
    for (std::uint64_t at = border(worker), count = 0; at < end; at += count) {
      if (stop) throw Stopped{};
      const std::span<std::byte> room = writer.room();
      count = std::min<std::uint64_t>(room.size() / record_bytes, end - at);
      run.copy(at, count, memory.scratch, room.data());
      writer.commit(count * record_bytes);
      context.monitor->advance(count * record_bytes, context.weights.spill);
    }
    writer.finish();
    parts[worker] = writer.take_run();
  });
  SpilledRun whole;
  whole.first_record = run.first_record;
  whole.prefixes.block_records = per_block;
  whole.prefixes.step = parts.front().prefixes.step;
  for (const SpilledRun& part : parts) {
    whole.records += part.records;
    whole.blocks.insert(whole.blocks.end(), part.blocks.begin(), part.blocks.end());
    std::vector<Element>& known = whole.prefixes.elements;
    known.insert(known.end(), part.prefixes.elements.begin(), part.prefixes.elements.end());
  }
  if (context.checkpoint != nullptr) {
    whole.digest = {runs.input.records - before.records, runs.input.fingerprint - before.fingerprint};
    context.checkpoint->add(whole, *runs.space);
  }
  return whole;
}

RunSpiller::RunSpiller(const RankContext& context, const ThreadMemory& memory, io::SpillSpace& space,
                       io::Backend backend)
    : context_(context),
      memory_(memory),
      space_(space),
      queue_(io::make_queue(backend, context.plan.staging_blocks)),
      ring_(memory.staging, context.plan.staging_blocks, *queue_),
      packer_(context.options->spill.compression, &space.pace()) {}

void RunSpiller::spill(const LoadedRun& run, std::span<std::byte> pool, SpilledByThread& to, const StopFlag& stop) {
  const RecordLayout& layout = context_.layout;
  std::optional<RunInPlace> found;
  if (context_.finds_runs_in_place())
    found = run_in_place(layout, run.base, run.segments, records_per_block(space_, layout));
  if (found) {
    to.digest += found->digest;
    found->run.first_record = run.first_record;
    check_longest(run, found->longest_line, to);
    to.runs.push_back(std::move(found->run));
    context_.monitor->advance(run.bytes());
    return;
  }
  // Works in pieces, so that fingerprint and keys are computed from the cache. Pieces are so small that all their
  // records have room in the pool, even if these are empty lines.
  const std::uint64_t room = pool.size() / (4 * sizeof(Element)) * layout.record_bytes;
  const std::vector<Segment> pieces =
      cut_records(layout, run.base, run.segments, std::clamp<std::uint64_t>(room, 1, kIndexPieceBytes));
  std::uint64_t place = run.first_record;
  for (std::span<const Segment> left = pieces; !left.empty();) {
    const double begin = Monitor::begin_step();
    SpilledRun spilled = spill_pieces(run, left, pool, to, stop);
    Monitor::end_step("sort and spill a run", begin);
    spilled.first_record = std::exchange(place, place + spilled.records);
    if (context_.checkpoint != nullptr) context_.checkpoint->add(spilled, space_);
    to.runs.push_back(std::move(spilled));
  }
}

void RunSpiller::check_longest(const LoadedRun& run, std::uint64_t longest, SpilledByThread& to) const {
  if (longest > context_.plan.max_line_bytes)
    throw find_long_line(*context_.layout.lines, run, context_.plan.max_line_bytes);
  to.longest_line = std::max(to.longest_line, longest);
}

/// Forms a run of the first pieces of `left`, as many as the pool has room for, and removes them from it.
SpilledRun RunSpiller::spill_pieces(const LoadedRun& run, std::span<const Segment>& left, std::span<std::byte> pool,
                                    SpilledByThread& to, const StopFlag& stop) {
  const RecordLayout& layout = context_.layout;
  const RecordMemory memory{run.base, layout};
  const std::size_t buckets = BucketIndex::bucket_count(expected_records(layout, left, pool));
  BucketIndex index(layout, pool, 1, sample_records(memory, left, buckets), buckets);
  std::uint64_t records = 0;
  MultisetDigest all;
  for (bool is_first = true; !left.empty(); left = left.subspan(1), is_first = false) {
    if (stop) throw Stopped{};
    const Segment& piece = left.front();
    MultisetDigest digest;
    records += digest.add(layout, run.base + piece.memory_offset, piece.bytes);
    if (!is_first && !index.has_room_for(records)) break;
    all += digest;
    index.add(0, run.base, piece.memory_offset, piece.bytes / layout.record_bytes);
  }
  index.finalize(run.base, 1);
  check_longest(run, index.longest_line(), to);
  SpilledRun spilled = write_run(index, memory, stop);
  spilled.digest = all;
  spilled.longest_line = index.longest_line();
  to.digest += all;
  return spilled;
}

/// Writes the sorted records of an index as one run.
SpilledRun RunSpiller::write_run(const BucketIndex& index, const RecordMemory& memory, const StopFlag& stop) {
  const RecordLayout& layout = context_.layout;
  SpillWriter writer(space_, ring_, layout, context_.plan.prefix_bytes, &packer_);
  // Records that spill are verified when they are merged.
  for (const IndexTask& task : index.tasks()) {
    write_permuted(index.sorted(task, memory.base, memory_.scratch), memory, {writer, nullptr, stop});
    context_.monitor->advance(task.bytes);
  }
  writer.finish();
  return writer.take_run();
}

void SpilledByThread::move_to(FormedRuns& formed) {
  formed.input += std::exchange(digest, {});
  formed.longest_line = std::max(formed.longest_line, longest_line);
  std::ranges::move(runs, std::back_inserter(formed.spilled));
  runs.clear();
}

std::uint64_t count_lines(const RankContext& context, const LoadedRun& loaded) {
  const auto terminator = static_cast<std::byte>(context.layout.lines->terminator());
  const std::vector<Segment> pieces = cut(loaded.segments, kIndexPieceBytes, 1);
  std::atomic<std::size_t> next{0};
  std::atomic<std::uint64_t> lines{0};
  run_workers(context.plan.threads, [&](std::size_t, const StopFlag&) {
    for (std::size_t piece = next++; piece < pieces.size(); piece = next++)
      lines += count_lines({loaded.base + pieces[piece].memory_offset, pieces[piece].bytes}, terminator);
  });
  return lines;
}

MemoryRun index_loaded(const RankContext& context, const LoadedRun& loaded, std::uint64_t records,
                       std::span<std::byte> pool, FormedRuns& runs) {
  const RecordLayout& layout = context.layout;
  const std::size_t threads = context.plan.threads;
  const std::size_t buckets = BucketIndex::bucket_count(records);
  MemoryRun run{loaded.first_record, {loaded.base, layout}, nullptr};
  run.index = std::make_unique<BucketIndex>(layout, pool, threads, sample_records(run.memory, loaded.segments, buckets),
                                            buckets);
  const std::vector<Segment> pieces = cut_records(layout, loaded.base, loaded.segments, kIndexPieceBytes);
  std::atomic<std::size_t> next{0};
  std::mutex mutex;
  run_workers(threads, [&](std::size_t worker, const StopFlag& stop) {
    MultisetDigest digest;
    for (std::size_t piece = next++; piece < pieces.size() && !stop; piece = next++) {
      digest.add(layout, loaded.base + pieces[piece].memory_offset, pieces[piece].bytes);
      run.index->add(worker, loaded.base, pieces[piece].memory_offset, pieces[piece].bytes / layout.record_bytes);
    }
    const std::lock_guard lock(mutex);
    runs.input += digest;
  });
  run.index->finalize(loaded.base, threads);
  return run;
}

void spill_in_turns(const RankContext& context, FormedRuns& runs,
                    const std::function<LoadedRun(std::span<std::byte>)>& read_next) {
  std::mutex mutex;  // guards the stream and `runs`
  run_workers(context.plan.threads, [&](std::size_t worker, const StopFlag& stop) {
    const Monitor::Activity activity(*context.monitor, worker, "form runs");
    const ThreadMemory memory = context.memory_of(worker);
    RunSpiller spiller(context, memory, *runs.space, runs.spill_backend);
    SpilledByThread spilled;
    double waited_seconds = 0;
    while (true) {
      const io::Stopwatch asked;
      LoadedRun run;
      {
        const Monitor::Wait wait("wait for input");
        const std::lock_guard lock(mutex);
        if (stop) break;
        run = read_next(memory.records.first(context.plan.run_bytes));
      }
      if (run.bytes() == 0) break;
      waited_seconds += asked.seconds();
      spiller.spill(run, memory.records.subspan(run_room_bytes(context.plan.run_bytes)), spilled, stop);
    }
    const std::lock_guard lock(mutex);
    spilled.move_to(runs);
    runs.waited_seconds += waited_seconds / static_cast<double>(context.plan.threads);
  });
}

void spill_loaded_lines(const RankContext& context, const LoadedRun& loaded, FormedRuns& runs) {
  const std::size_t threads = context.plan.threads;
  const Segment& last = loaded.segments.back();
  const std::span<std::byte> memory = context.shared_records();
  const std::span<std::byte> pools = memory.subspan(round_up(last.memory_offset + last.bytes, kPageBytes) + kPageBytes);
  const std::size_t pool_bytes = pools.size() / threads / kPageBytes * kPageBytes;
  const std::vector<Segment> pieces = cut_records(context.layout, loaded.base, loaded.segments, kIndexPieceBytes);
  std::vector<std::uint64_t> places{loaded.first_record};
  for (const Segment& piece : pieces) places.push_back(places.back() + piece.bytes);
  std::mutex mutex;
  run_workers(threads, [&](std::size_t worker, const StopFlag& stop) {
    RunSpiller spiller(context, context.beside_shared(worker), *runs.space, runs.spill_backend);
    const std::size_t first = pieces.size() * worker / threads;
    const std::size_t end = pieces.size() * (worker + 1) / threads;
    if (first == end) return;
    const auto at = [&](std::size_t piece) { return pieces.begin() + static_cast<std::ptrdiff_t>(piece); };
    SpilledByThread spilled;
    const std::uint64_t first_byte = loaded.first_byte + places[first] - loaded.first_record;
    spiller.spill({loaded.base, {at(first), at(end)}, places[first], first_byte},
                  pools.subspan(worker * pool_bytes, pool_bytes), spilled, stop);
    const std::lock_guard lock(mutex);
    spilled.move_to(runs);
  });
}

void spill_kept_lines(const RankContext& context, FormedRuns& runs) {
  const MultisetDigest input = runs.input;  // the lines are counted again when they spill
  const LoadedRun loaded = std::exchange(runs.kept_lines, {});
  runs.kept.clear();
  make_spill_space(context, context.options->spill, runs);
  spill_loaded_lines(context, loaded, runs);
  std::ranges::sort(runs.spilled, {}, &SpilledRun::first_record);
  runs.input = input;
}

}  // namespace hetsort::sort
