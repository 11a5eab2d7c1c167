// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
#include "sort/input/run_in_place.h"

#include <algorithm>

#include "io/checksum/checksum.h"
#include "sort/model/record_order.h"

namespace hetsort::sort {

namespace {

struct SortedRecords {
  MultisetDigest digest;
  std::uint64_t longest_line = 0;
};

/// Verifies in small steps, so that the first disorder ends it.
std::optional<SortedRecords> verify_records(const RecordLayout& layout, std::span<const std::byte> records) {
  OrderVerifier verifier(layout);
  const std::size_t step = std::max<std::size_t>(1, kVerifyBatchBytes / layout.record_bytes) * layout.record_bytes;
  for (std::size_t at = 0; at < records.size() && verifier.in_order(); at += step)
    verifier.inspect(records.data() + at, std::min(step, records.size() - at) / layout.record_bytes);
  if (!verifier.in_order()) return std::nullopt;
  return SortedRecords{verifier.digest()};
}

/// Compares lines where they lie: copies of long ones, as OrderVerifier makes them, would take memory for each thread.
std::optional<SortedRecords> verify_lines(const LineKeys& keys, std::span<const std::byte> lines) {
  SortedRecords found;
  std::span<const std::byte> before;
  Element prefix_before = 0;
  for (const std::byte* at = lines.data(); at != lines.data() + lines.size();) {
    const std::span<const std::byte> line = keys.line_at(at);
    const Element prefix = keys.prefix(line);
    if (prefix < prefix_before || (prefix == prefix_before && !before.empty() && keys.compare(before, line) > 0))
      return std::nullopt;
    found.digest.add(line.data(), 1, line.size());
    found.longest_line = std::max<std::uint64_t>(found.longest_line, line.size());
    before = line;
    prefix_before = prefix;
    at += line.size();
  }
  return found;
}

}  // namespace

std::optional<RunInPlace> run_in_place(const RecordLayout& layout, const std::byte* memory,
                                       std::span<const Segment> segments, std::uint64_t per_block) {
  if (segments.size() != 1) return std::nullopt;
  const Segment& segment = segments.front();
  if (segment.input == nullptr || segment.input->overwritten || segment.added_bytes > 0) return std::nullopt;
  if (segment.input->quotes && segment.input->quotes->hides_newlines()) return std::nullopt;
  const std::span<const std::byte> records(memory + segment.memory_offset, segment.bytes);
  const std::optional<SortedRecords> sorted =
      layout.is_lines() ? verify_lines(LineKeys(*layout.lines), records) : verify_records(layout, records);
  if (!sorted) return std::nullopt;
  RunInPlace found{{{}, segment.bytes / layout.record_bytes}, sorted->digest, sorted->longest_line};
  const std::uint64_t block_bytes = per_block * layout.record_bytes;
  found.run.prefixes.block_records = found.run.prefixes.step = per_block;
  found.run.blocks.reserve(segment.bytes / block_bytes + 1);
  for (std::uint64_t at = 0; at < segment.bytes; at += block_bytes) {
    const std::span<const std::byte> block = records.subspan(at, std::min(block_bytes, segment.bytes - at));
    found.run.blocks.push_back({{&segment.input->file, segment.file_offset + at}, kInInput, io::crc32c(block)});
    found.run.prefixes.add(block, layout);
  }
  return found;
}

}  // namespace hetsort::sort
