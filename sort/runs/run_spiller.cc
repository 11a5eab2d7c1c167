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
