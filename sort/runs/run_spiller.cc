// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
#include "sort/runs/run_spiller.h"

#include "io/access.h"
#include "sort/runs/bucket_index.h"
#include "sort/runs/permute.h"
#include "sort/runs/spill_writer.h"

namespace hetsort::sort {

void make_spill_space(const RankContext& context, const SpillOptions& options, FormedRuns& runs) {
  const io::Backend backend = io::direct_backend(context.access);
  runs.space = std::make_unique<io::SpillSpace>(options.directories, context.plan.spill_block_bytes,
                                                backend != io::Backend::kBuffered);
  runs.spill_backend = runs.space->direct() ? backend : io::Backend::kBuffered;
}

SpilledRun spill_memory_run(const MemoryRun& run, const RankContext& context, FormedRuns& runs) {
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
    SpillWriter writer(*runs.space, ring, context.layout);
    const std::uint64_t end = border(worker + 1);
    for (std::uint64_t at = border(worker), count = 0; at < end; at += count) {
      if (stop) throw Stopped{};
      const std::span<std::byte> room = writer.room();
      count = std::min<std::uint64_t>(room.size() / record_bytes, end - at);
      run.copy(at, count, memory.scratch, room.data());
      writer.commit(count * record_bytes);
    }
    writer.finish();
    parts[worker] = writer.take_run();
  });
  SpilledRun whole;
  whole.first_record = run.first_record;
  for (const SpilledRun& part : parts) {
    whole.records += part.records;
    whole.blocks.insert(whole.blocks.end(), part.blocks.begin(), part.blocks.end());
  }
  return whole;
}

RunSpiller::RunSpiller(const RankContext& context, const ThreadMemory& memory, io::SpillSpace& space,
                       io::Backend backend)
    : context_(context),
      memory_(memory),
      space_(space),
      queue_(io::make_queue(backend, context.plan.staging_blocks)),
      ring_(memory.staging, context.plan.staging_blocks, *queue_) {}

SpilledRun RunSpiller::spill(const LoadedRun& run, std::span<std::byte> pool, MultisetDigest& digest,
                             const StopFlag& stop) {
  const RecordLayout& layout = context_.layout;
  const RecordMemory memory{run.base, layout};
  const std::size_t buckets = BucketIndex::bucket_count(run.bytes() / layout.record_bytes);
  BucketIndex index(layout, pool, 1, sample_records(memory, run.segments, buckets), buckets);
  // In pieces, so that fingerprint and keys are computed from the cache.
  for (const Segment& piece : cut(run.segments, kIndexPieceBytes, layout.record_bytes)) {
    if (stop) throw Stopped{};
    const std::size_t count = piece.bytes / layout.record_bytes;
    digest.add(run.base + piece.memory_offset, count, layout.record_bytes);
    index.add(0, run.base, piece.memory_offset, count);
  }
  index.finalize(run.base, 1);
  SpillWriter writer(space_, ring_, layout);
  OrderVerifier verifier(layout);
  for (const IndexTask& task : index.tasks()) {
    write_permuted(index.sorted(task, run.base, memory_.scratch), memory, writer, verifier, stop);
    context_.monitor->advance(task.records * layout.record_bytes);
  }
  writer.finish();
  SpilledRun spilled = writer.take_run();
  spilled.first_record = run.first_record;
  return spilled;
}

}  // namespace hetsort::sort
