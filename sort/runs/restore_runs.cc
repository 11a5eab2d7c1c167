// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
//
// The part of phase form_runs for runs that a checkpoint has.
//
// In: the runs of the journal. Out: those whose blocks are as they were written; the others are made again. Cost: one
// read of these runs.
#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <iterator>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "io/error.h"
#include "io/file_system.h"
#include "io/transfer/access.h"
#include "sort/checkpoint/checkpoint.h"
#include "sort/machine/parallel.h"
#include "sort/runs/form_runs.h"
#include "sort/runs/run_reader.h"
#include "sort/runs/spill_writer.h"

namespace hetsort::sort {

namespace {

/// Whether all records of a run belong to one segment.
bool is_within_one(const SpilledRun& run, std::span<const InputSegment> segments, std::uint64_t record_bytes) {
  return std::ranges::any_of(segments, [&](const InputSegment& segment) {
    return run.first_record >= segment.first_record &&
           run.first_record + run.records <= segment.first_record + segment.bytes / record_bytes;
  });
}

/// Whether a run has the blocks that its records fill.
bool is_complete(const SpilledRun& run, std::uint64_t per_block) {
  return run.blocks.size() == (run.records + per_block - 1) / per_block;
}

/// Reads all blocks of a run. Throws: io::Error if it cannot be used.
void prove(const SpilledRun& run, const RankContext& context, const FormedRuns& runs, std::span<std::byte> memory) {
  const auto queue = io::make_queue(runs.spill_backend, kSpillReadDepth);
  const std::vector<SpilledPortion> whole{{&run, 0, run.records}};
  RunReader reader(*runs.space, context.layout, whole, memory, *queue);
  for (std::size_t bytes = 1; bytes > 0;) {
    bytes = reader.next(0).size();
    context.monitor->advance(bytes, context.weights.form);
  }
}

/// Returns for each run why it cannot be used; nothing if it can.
std::vector<std::string> faults_of(const std::vector<SpilledRun>& found, const RankContext& context,
                                   const FormedRuns& runs) {
  std::vector<std::string> faults(found.size());
  std::atomic<std::size_t> next{0};
  run_workers(context.plan.threads, [&](std::size_t worker, const StopFlag& stop) {
    const Monitor::Activity activity(*context.monitor, worker, "check runs of the checkpoint");
    for (std::size_t run = next++; run < found.size() && !stop; run = next++) {
      try {
        prove(found[run], context, runs, context.memory_of(worker).records);
      } catch (const io::Error& error) {
        faults[run] = error.what();
      }
    }
  });
  return faults;
}

}  // namespace

std::unique_ptr<InputSegments> restore_runs(const RankContext& context, InputSegments& segments, FormedRuns& runs) {
  Checkpoint& checkpoint = *context.checkpoint;
  const std::uint64_t record_bytes = context.layout.record_bytes;
  std::vector<InputSegment> whole;
  while (const std::optional<InputSegment> segment = segments.next()) whole.push_back(*segment);
  const io::Backend backend = io::direct_backend(context.options->access);
  runs.space = checkpoint.open_space(backend != io::Backend::kBuffered);
  runs.spill_backend = runs.space->direct() ? backend : io::Backend::kBuffered;
  std::vector<SpilledRun> found = checkpoint.runs(*runs.space);
  const std::uint64_t per_block = records_per_block(*runs.space, context.layout);
  for (SpilledRun& run : found) run.prefixes.block_records = run.prefixes.step = per_block;
  std::erase_if(found, [&](const SpilledRun& run) {
    return !is_within_one(run, whole, record_bytes) || !is_complete(run, per_block);
  });
  const std::vector<std::string> faults = faults_of(found, context, runs);
  std::vector<std::uint64_t> blocks;
  std::uint64_t bytes = 0;
  for (std::size_t number = 0; number < found.size(); ++number) {
    SpilledRun& run = found[number];
    if (!faults[number].empty()) {
      context.monitor->note(fmt::format("checkpoint {}: a run of {} is made again: {}", checkpoint.folder(),
                                        io::human_size(run.records * record_bytes), faults[number]));
      continue;
    }
    bytes += run.records * record_bytes;
    runs.input += run.digest;
    runs.longest_line = std::max(runs.longest_line, run.longest_line);
    for (const SpilledBlock& block : run.blocks) blocks.push_back(block.number);
    runs.spilled.push_back(std::move(run));
  }
  runs.space->occupy(std::move(blocks));
  if (!runs.spilled.empty())
    context.monitor->note(fmt::format("checkpoint {}: continues with {} runs, {} of the input", checkpoint.folder(),
                                      runs.spilled.size(), io::human_size(bytes)));
  return std::make_unique<ListedSegments>(missing_segments(whole, runs.spilled, record_bytes));
}

}  // namespace hetsort::sort
