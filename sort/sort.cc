// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
#include "sort/sort.h"

#include <thread>

#include "io/buffer.h"
#include "sort/form_runs.h"
#include "sort/merge_runs.h"
#include "sort/plan_sort.h"
#include "sort/publish.h"

namespace hetsort::sort {

void sort_records(const SortOptions& options, Communicator& ranks, Monitor& monitor, RankResult& result) {
  monitor.begin_phase("plan_shares", 0);
  PreparedSort prepared(options, monitor);
  Input& input = prepared.input;
  Output& output = prepared.output;
  if (!input.is_stream() && !output.is_stream()) output.reserve(input.total_bytes());
  const io::Buffer arena(prepared.plan.memory.arena_bytes);
  const Workshop workshop{options.layout, prepared.plan.memory, arena.span(), &monitor, options.checksum};
  const SpillOptions spilling{options.temp_directories, options.access};
  result.threads = workshop.plan.threads;
  result.output_untouched = output.is_staged();

  monitor.begin_phase("form_runs", input.total_bytes());
  FormedRuns runs = form_runs(input, workshop, spilling);
  const std::uint64_t bytes = runs.input.records * options.layout.record_bytes;
  result.input = runs.input;
  result.in_memory = runs.index != nullptr;
  result.runs = result.in_memory ? 1 : runs.spilled.size();
  if (input.is_stream() && !output.is_stream()) output.reserve(bytes);

  if (!result.in_memory) {
    monitor.begin_phase("select_splitters", 0);
    reduce_runs(runs, workshop, most_runs(workshop, runs.space->block_bytes()));
  }
  const std::vector<Cut> cuts = result.in_memory ? std::vector<Cut>() : select_ranges(runs, workshop, output);

  monitor.begin_phase("merge_runs", bytes);
  const OrderAudit written =
      result.in_memory ? write_memory_run(runs, workshop, output) : merge_spilled_runs(runs, cuts, workshop, output);
  result.output = written.tally();
  if (options.checksum) result.checksum = written.checksum().text();

  monitor.begin_phase("publish", 0);
  if (runs.space) result.bytes_spilled = runs.space->taken_bytes();
  // Giving back the temporary space takes the file system a while; the output is synced meanwhile.
  const std::jthread release([space = std::move(runs.space)]() mutable { space.reset(); });
  prove(runs.input, written, output.path(), ranks);
  result.output_untouched = false;
  output.publish();
  monitor.end_phases();
}

}  // namespace hetsort::sort
