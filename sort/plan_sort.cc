// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
#include "sort/plan_sort.h"

#include <fmt/format.h>

#include "io/file_system.h"
#include "io/temp_space.h"
#include "sort/run_reader.h"

namespace hetsort::sort {

namespace {

SortPlan plan_for(const SortOptions& options, const Input& input) {
  MemoryRequest request{.layout = options.layout, .memory_bytes = options.memory_bytes, .threads = options.threads};
  request.stream = input.is_stream();
  request.input_bytes = input.total_bytes();
  if (!request.stream) static_cast<void>(input.place(0, input.total_bytes(), request.placed_bytes));
  SortPlan plan;
  plan.memory = plan_memory(request);
  plan.stream = input.is_stream();
  plan.input_bytes = input.total_bytes();
  plan.output_bytes = input.total_bytes();
  if (plan.memory.in_memory || plan.stream) return plan;
  const std::uint64_t run_records = plan.memory.run_bytes / options.layout.record_bytes;
  const std::uint64_t block_records = plan.memory.spill_block_bytes / options.layout.record_bytes;
  plan.temp_bytes =
      plan.memory.run_count * ((run_records + block_records - 1) / block_records) * plan.memory.spill_block_bytes;
  plan.one_merge_pass =
      RunReader::memory_needed(plan.memory.run_count, plan.memory.spill_block_bytes) <= merge_memory_bytes(plan.memory);
  return plan;
}

void check_temp_directories(const SortOptions& options, const SortPlan& plan, const Output& output, Monitor& monitor) {
  if (plan.memory.in_memory && !options.temp_given) return;
  std::vector<io::SpaceNeed> needs;
  for (const std::string& directory : options.temp_directories) {
    const io::Space space = io::inspect_space(directory, "temp directory");
    if (plan.temp_bytes > 0 && space.storage == io::Storage::kMemory)
      monitor.note(fmt::format("temp directory {} is in memory: what spills there takes memory beyond -S", directory));
    needs.push_back({"temp directory", directory, plan.temp_bytes / options.temp_directories.size()});
  }
  if (output.is_staged()) needs.push_back({"output folder", output.folder(), plan.output_bytes});
  io::check_space(needs);
}

}  // namespace

PreparedSort::PreparedSort(const SortOptions& options, Monitor& monitor)
    : input((check_layout(options.layout), options.inputs), options.layout.record_bytes, options.access),
      output({options.output, options.access, options.sync}),
      plan((input.keep_apart_from(output.files().buffered->status()), plan_for(options, input))) {
  check_temp_directories(options, plan, output, monitor);
  if (!plan.one_merge_pass)
    monitor.note(fmt::format("memory has no room for two blocks of each of {} runs: neighbours are merged first",
                             plan.memory.run_count));
}

void check_layout(const RecordLayout& layout) {
  if (layout.record_bytes < 1 || layout.record_bytes > kLargestRecordBytes)
    throw RequestError(
        fmt::format("record size {} is not within 1 to {} bytes", layout.record_bytes, kLargestRecordBytes));
  if (layout.key_bytes < 1 || layout.key_bytes > kLargestKeyBytes)
    throw RequestError(fmt::format("key length {} is not within 1 to {} bytes", layout.key_bytes, kLargestKeyBytes));
  if (layout.key_offset > layout.record_bytes || layout.key_bytes > layout.record_bytes - layout.key_offset)
    throw RequestError(fmt::format("key {}:{} reaches beyond the {}-byte record", layout.key_offset, layout.key_bytes,
                                   layout.record_bytes));
}

SortPlan plan_sort(const SortOptions& options) {
  Monitor monitor;
  return PreparedSort(options, monitor).plan;
}

}  // namespace hetsort::sort
