// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
#include "gen/generator.h"

#include <algorithm>
#include <mutex>

#include "gen/ascii_records.h"
#include "gen/binary_records.h"
#include "gen/checksum/record_checksum.h"
#include "gen/ordered_pipeline.h"
#include "gen/thread_team.h"

namespace hetsort::gen {

namespace {

// 256 KB: a chunk is still in the second-level cache when it is consumed, and making it takes long (8 us) beside
// passing it on.
constexpr std::uint64_t kChunkRecords = 2560;

}  // namespace

Generator::Generator(Form form, KeyDistribution keys, RecordRange whole) : form_(form), rewriter_(form, keys, whole) {}

void Generator::fill(Uint128 first, std::span<std::byte> into) const {
  form_ == Form::kBinary ? fill_binary(first, into) : fill_ascii(first, into);
  rewriter_.rewrite(first, into);
}

Uint128 generate(const Generator& generator, RecordRange part, const Sink& sink, const GenerateOptions& options) {
  std::mutex mutex;
  Uint128 checksum = 0;
  const auto make = [&](std::uint64_t chunk, std::span<std::byte> buffer) {
    const std::uint64_t start = chunk * kChunkRecords;
    const std::uint64_t count = std::min(kChunkRecords, part.count_records - start);
    const std::span<std::byte> records = buffer.first(count * kRecordBytes);
    generator.fill(part.first + start, records);
    if (options.checksum) {
      const Uint128 sum = record_checksum(records);
      const std::lock_guard lock(mutex);
      checksum += sum;
    }
    return records.size();
  };
  PipelineOptions pipeline;
  pipeline.chunks = part.count_records / kChunkRecords + (part.count_records % kChunkRecords != 0 ? 1 : 0);
  pipeline.buffer_bytes = std::min(kChunkRecords, part.count_records) * kRecordBytes;
  pipeline.threads = usable_threads(options.threads);
  run_ordered(pipeline, make, sink);
  return checksum;
}

}  // namespace hetsort::gen
