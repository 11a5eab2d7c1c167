// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
#include "sort/deal/run_copies.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "io/error.h"

namespace hetsort::sort {

namespace {

/// Whole pages of `memory`.
std::span<std::byte> whole_pages(std::span<std::byte> memory) {
  const std::size_t before = (kPageBytes - reinterpret_cast<std::uintptr_t>(memory.data()) % kPageBytes) % kPageBytes;
  if (memory.size() < before + kPageBytes) return {};
  return memory.subspan(before, (memory.size() - before) / kPageBytes * kPageBytes);
}

}  // namespace

RunCopies::RunCopies(const FormedRuns& own, const RankContext& context)
    : input_(own.shared_input),
      context_(context),
      spare_(input_ == nullptr ? std::span<std::byte>() : whole_pages(own.spare)) {
  if (own.work.records > 0) record_seconds_ = own.work.seconds / static_cast<double>(own.work.records);
  context_.plan.in_memory = true;
  // The whole arena of a copy is for records and their index.
  context_.plan.scratch_bytes = 0;
  context_.plan.staging_bytes = 0;
}

std::uint64_t RunCopies::needed_bytes(std::span<const InputSegment> segments) const {
  std::uint64_t bytes = kPageBytes;
  for (const InputSegment& segment : segments)
    bytes += run_room_bytes(segment.bytes) + 2 * kPageBytes * input_->files().size() +
             BucketIndex::pool_bytes(segment.bytes / context_.layout.record_bytes, context_.plan.threads);
  return bytes;
}

Copying RunCopies::ability() const {
  std::size_t spare = 0;
  {
    const std::lock_guard lock(mutex_);
    spare = spare_.size();
  }
  if (spare == 0) return {};
  // As many records as fit in one run. If the slow rank has several, and no room is left, copy() does nothing.
  std::uint64_t low = 0;
  std::uint64_t high = spare / context_.layout.record_bytes;
  while (low < high) {
    const std::uint64_t middle = low + (high - low + 1) / 2;
    const InputSegment segment{.bytes = middle * context_.layout.record_bytes};
    if (needed_bytes({&segment, 1}) <= spare)
      low = middle;
    else
      high = middle - 1;
  }
  return {low, record_seconds_};
}

void RunCopies::copy(std::size_t rank, std::vector<Original> originals, std::size_t thread,
                     std::span<Element> scratch) {
  const std::lock_guard one_at_a_time(copying_);
  const std::uint64_t record_bytes = context_.layout.record_bytes;
  std::vector<InputSegment> segments;
  segments.reserve(originals.size());
  for (const Original& run : originals)
    segments.push_back({run.first_record * record_bytes, run.cuts.back() * record_bytes, run.first_record});
  RankContext context = context_;
  {
    const std::lock_guard lock(mutex_);
    context.arena = spare_;
  }
  if (needed_bytes(segments) > context.arena.size()) return;
  const Monitor::Activity activity(*context_.monitor, thread, "read records of a slow rank");
  Monitor uncounted;  // these bytes are no part of the job's work
  context.monitor = &uncounted;
  ListedSegments listed(std::move(segments));
  FormedRuns runs;
  try {
    form_memory_runs(*input_, context, context.options->spill, listed, runs);
    input_->check_unchanged();
  } catch (const io::Error& error) {
    // The slow rank still has what it has read.
    return context_.monitor->note(fmt::format("the records of rank {} ({}) could not be read again: {}", rank,
                                              context_.ranks->host(static_cast<int>(rank)), error.what()));
  }
  // Threads that merge neighbouring ranges must not share an unsorted bucket.
  for (std::size_t run = 0; run < runs.kept.size(); ++run)
    for (const std::uint64_t cut : originals[run].cuts) runs.kept[run].sort_border(cut, scratch);
  const std::lock_guard lock(mutex_);
  spare_ = whole_pages(runs.spare);
  copies_.emplace(rank, Copy{std::move(originals), std::move(runs)});
}

std::vector<std::size_t> RunCopies::ranks() const {
  const std::lock_guard lock(mutex_);
  std::vector<std::size_t> found;
  for (const auto& [rank, copy] : copies_) found.push_back(rank);
  return found;
}

const RunCopies::Copy& RunCopies::of(std::size_t rank) const {
  const std::lock_guard lock(mutex_);
  return copies_.at(rank);
}

}  // namespace hetsort::sort
