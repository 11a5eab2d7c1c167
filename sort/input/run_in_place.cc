// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
#include "sort/input/run_in_place.h"

#include <algorithm>

#include "io/checksum/checksum.h"
#include "sort/model/record_order.h"

namespace hetsort::sort {

namespace {

/// Verifies in small steps, so that the first disorder ends it.
bool is_sorted(OrderVerifier& verifier, std::span<const std::byte> records) {
  const std::size_t record_bytes = verifier.layout().record_bytes;
  const std::size_t step = std::max<std::size_t>(1, kVerifyBatchBytes / record_bytes) * record_bytes;
  for (std::size_t at = 0; at < records.size() && verifier.in_order(); at += step)
    verifier.inspect(records.data() + at, std::min(step, records.size() - at) / record_bytes);
  return verifier.in_order();
}

}  // namespace

std::optional<RunInPlace> run_in_place(const RecordLayout& layout, const std::byte* memory,
                                       std::span<const Segment> segments, std::uint64_t per_block) {
  if (segments.size() != 1) return std::nullopt;
  const Segment& segment = segments.front();
  if (segment.input == nullptr || segment.input->overwritten || segment.added_bytes > 0) return std::nullopt;
  if (segment.input->quotes && segment.input->quotes->hides_newlines()) return std::nullopt;
  const std::span<const std::byte> records(memory + segment.memory_offset, segment.bytes);
  OrderVerifier verifier(layout);
  if (!is_sorted(verifier, records)) return std::nullopt;
  RunInPlace found{{{}, segment.bytes / layout.record_bytes}, verifier.digest()};
  const std::uint64_t block_bytes = per_block * layout.record_bytes;
  found.run.prefixes.block_records = found.run.prefixes.step = per_block;
  found.run.blocks.reserve(segment.bytes / block_bytes + 1);
  for (std::uint64_t at = 0; at < segment.bytes; at += block_bytes) {
    const std::span<const std::byte> block = records.subspan(at, std::min(block_bytes, segment.bytes - at));
    found.run.blocks.push_back({{&segment.input->file, segment.file_offset + at}, kInInput, io::crc32c(block)});
    found.run.prefixes.add(block, layout);
  }
  found.longest_line = verifier.longest_line();
  return found;
}

}  // namespace hetsort::sort
