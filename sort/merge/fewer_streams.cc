// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
#include "sort/merge/fewer_streams.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "io/calls/buffer.h"
#include "sort/merge/merge_runs.h"
#include "sort/runs/run_reader.h"
#include "sort/runs/run_spiller.h"

namespace hetsort::sort {

/// The runs of one pass, and the streams that they are read as.
struct FewerStreams::Pass {
  std::vector<SpilledRun> runs;
  io::Buffer memory;
  std::unique_ptr<io::Queue> queue;
  std::optional<RunReader> reader;
};

std::uint64_t FewerStreams::two_lines(const RankContext& context, std::uint64_t longest_line) {
  return 2 * longest_line + RunReader::memory_needed(2, context.plan.spill_block_bytes);
}

FewerStreams::FewerStreams(const RankContext& context, std::span<std::byte> staging, const Limits& limits)
    : context_(context), staging_(staging), limits_(limits) {}

FewerStreams::~FewerStreams() = default;

void FewerStreams::add(RecordStreams& source, std::size_t stream, std::uint64_t bytes) {
  streams_.push_back({&source, stream, bytes});
}

/// What a merge holds of a stream: a line, and blocks of a run.
std::uint64_t FewerStreams::held_bytes(const Stream& stream) const {
  return std::min(limits_.longest_line, stream.bytes) +
         (stream.run == nullptr ? 0 : RunReader::memory_needed(1, context_.plan.spill_block_bytes));
}

RecordStreams& FewerStreams::reduce(const StopFlag& stop) {
  const auto held = [&] {
    std::uint64_t bytes = 0;
    for (const Stream& stream : streams_) bytes += held_bytes(stream);
    return bytes;
  };
  if (limits_.longest_line > 0)
    for (std::uint64_t bytes = held(); bytes > limits_.held_bytes; bytes = held()) merge_neighbours(bytes, stop);
  for (const Stream& stream : streams_) reduced_.add(*stream.source, stream.number);
  return reduced_;
}

/// Makes one pass: merges groups of neighbours for whose lines there is room, until there is room for those of all
/// streams. `held`: what a merge of all streams holds.
void FewerStreams::merge_neighbours(std::uint64_t held, const StopFlag& stop) {
  make_spill_space(context_, context_.options->spill, spilling_);
  Pass& pass = *passes_.emplace_back(std::make_unique<Pass>());
  pass.runs.reserve(streams_.size());
  std::vector<Stream> left;
  for (std::size_t first = 0, end = 0; first < streams_.size(); first = end) {
    Stream whole = streams_[first];
    std::uint64_t of_group = held_bytes(whole);
    for (end = first + 1; end < streams_.size() && held > limits_.held_bytes; ++end) {
      const std::uint64_t more = held_bytes(streams_[end]);
      if (of_group + more > limits_.held_bytes) break;
      of_group += more;
      held -= held_bytes(whole) + more;
      whole.bytes += streams_[end].bytes;
      whole.run = pass.runs.data() + pass.runs.size();
      held += held_bytes(whole);
    }
    if (end > first + 1) {
      whole = {nullptr, pass.runs.size(), whole.bytes, whole.run};
      pass.runs.push_back(merge(std::span(streams_).subspan(first, end - first), stop));
    }
    left.push_back(whole);
  }
  pass.memory = io::Buffer(RunReader::memory_needed(pass.runs.size(), spilling_.space->block_bytes()));
  pass.queue = io::make_queue(spilling_.spill_backend, kSpillReadDepth);
  std::vector<SpilledPortion> portions;
  for (const SpilledRun& run : pass.runs) portions.push_back({&run, 0, run.records});
  pass.reader.emplace(*spilling_.space, context_.layout, portions, pass.memory.span(), *pass.queue);
  for (Stream& stream : left)
    if (stream.source == nullptr) stream.source = &*pass.reader;
  streams_ = std::move(left);
}

SpilledRun FewerStreams::merge(std::span<const Stream> streams, const StopFlag& stop) {
  JoinedStreams joined;
  for (const Stream& stream : streams) joined.add(*stream.source, stream.number);
  SpilledRun merged = spill_merged(joined, spilling_, context_, staging_, stop);
  for (const Stream& stream : streams)
    if (stream.run != nullptr)
      for (const SpilledBlock& block : stream.run->blocks) spilling_.space->release(block.number);
  return merged;
}

}  // namespace hetsort::sort
