// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <span>
#include <utility>

#include "sort/merge/merge_runs.h"
#include "sort/output/staging.h"
#include "sort/runs/run_spiller.h"
#include "sort/runs/spill_writer.h"

namespace hetsort::sort {

SpilledRun spill_merged(RecordStreams& streams, const FormedRuns& runs, const RankContext& context,
                        std::span<std::byte> staging, const StopFlag& stop) {
  const auto queue = io::make_queue(runs.spill_backend, context.plan.staging_blocks);
  StagingRing ring(staging, context.plan.staging_blocks, *queue);
  io::SpillPacker packer(context.options->spill.compression, &runs.space->pace());
  SpillWriter writer(*runs.space, ring, context.layout, context.plan.prefix_bytes, &packer);
  OrderVerifier verifier(context.layout);
  verifier.keep_no_first_line();
  merge_streams(streams, context.layout, {writer, verifier, *context.monitor, stop});
  writer.finish();
  SpilledRun run = writer.take_run();
  run.longest_line = verifier.longest_line();
  return run;
}

FormedRuns merge_batches(Input& input, const RankContext& context, const SortedInputs::Memory& memory) {
  FormedRuns runs;
  make_spill_space(context, context.options->spill, runs);
  const std::vector<Stretch> all = whole_inputs(input);
  const std::size_t most = Input::most_open();
  for (std::size_t first = 0, count = 0; first < all.size(); first += count) {
    count = std::min(most, all.size() - first);
    input.open_files(first, count);
    input.map_quotes(context.plan.threads, nullptr);
    const auto begin = all.begin() + static_cast<std::ptrdiff_t>(first);
    SortedInputs inputs(input, context.layout, memory, {begin, begin + static_cast<std::ptrdiff_t>(count)});
    SpilledRun run;
    run_workers(1, [&](std::size_t worker, const StopFlag& stop) {
      const Monitor::Activity activity(*context.monitor, worker, "merge and spill");
      run = spill_merged(inputs, runs, context, context.beside_shared(worker).staging, stop);
    });
    run.digest = inputs.digest();
    input.close_files(first, count);
    run.first_record = runs.input_bytes / context.layout.record_bytes;
    runs.input += run.digest;
    runs.input_bytes += inputs.bytes_of_records();
    runs.longest_line = std::max(runs.longest_line, run.longest_line);
    if (run.records > 0) runs.spilled.push_back(std::move(run));
  }
  return runs;
}

}  // namespace hetsort::sort
