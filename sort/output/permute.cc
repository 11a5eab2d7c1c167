// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
#include "sort/output/permute.h"

#include <algorithm>
#include <cstring>

#include "sort/model/record_order.h"
#include "sort/output/line_writer.h"

namespace hetsort::sort {

namespace {

constexpr std::size_t kCacheLineBytes = 64;
// Prefetch distance in records: enough to cover the latency of a memory access, few enough for the line fill buffers.
constexpr std::size_t kPrefetchRecords = 12;
// Bytes of a large record that are prefetched; the hardware's prefetcher follows with the rest.
constexpr std::size_t kPrefetchBytes = 256;
// Number of lines after which the writer checks whether it must stop.
constexpr std::size_t kStopCheckLines = 256;

/// Copies records of kFixedBytes bytes; 0 = of any size.
template <std::size_t kFixedBytes>
void copy_each(std::span<const Element> elements, const RecordMemory& memory, std::size_t ahead, std::byte* to) {
  const std::size_t bytes = kFixedBytes != 0 ? kFixedBytes : memory.layout.record_bytes;
  const std::size_t touched = std::min(bytes, kPrefetchBytes);
  const Element* const element = elements.data();
  for (std::size_t i = 0; i < elements.size(); ++i, to += bytes) {
    // Up to `ahead` records behind this batch are prefetched too, because the next batch follows.
    const std::size_t next = i + kPrefetchRecords;
    if (next < elements.size() + ahead) {
      const std::byte* const record = memory.base + place_of(element[next]);
      for (std::size_t line = 0; line < touched; line += kCacheLineBytes) __builtin_prefetch(record + line);
      __builtin_prefetch(record + touched - 1);
    }
    std::memcpy(to, memory.base + place_of(element[i]), bytes);
  }
}

void copy_batch(std::span<const Element> elements, const RecordMemory& memory, std::size_t ahead, std::byte* to) {
  // Copies of a fixed size need no function call: that of the sort benchmark, and common sizes of a few numbers.
  switch (memory.layout.record_bytes) {
    case 8:
      return copy_each<8>(elements, memory, ahead, to);
    case 16:
      return copy_each<16>(elements, memory, ahead, to);
    case 24:
      return copy_each<24>(elements, memory, ahead, to);
    case 32:
      return copy_each<32>(elements, memory, ahead, to);
    case 100:
      return copy_each<100>(elements, memory, ahead, to);
    default:
      return copy_each<0>(elements, memory, ahead, to);
  }
}

void write_each(const LineKeys& keys, std::span<const Element> elements, const RecordMemory& memory,
                const PermuteTarget& target) {
  LineWriter writer(target.sink, target.verifier);
  for (std::size_t i = 0; i < elements.size(); ++i) {
    if (i + kPrefetchRecords < elements.size()) {
      const std::byte* const ahead = memory.base + place_of(elements[i + kPrefetchRecords]);
      for (std::size_t line = 0; line < kPrefetchBytes / 2; line += kCacheLineBytes) __builtin_prefetch(ahead + line);
    }
    if (i % kStopCheckLines == 0 && target.stop.load(std::memory_order_relaxed)) throw Stopped{};
    writer.write(keys.line_at(memory.base + place_of(elements[i])));
  }
  writer.flush();
}

void write_each(const FixedRecords& records, std::span<const Element> elements, const RecordMemory& memory,
                const PermuteTarget& target) {
  const std::size_t record_bytes = records.layout.record_bytes;
  const std::size_t batch = std::max<std::size_t>(1, kVerifyBatchBytes / record_bytes);
  while (!elements.empty()) {
    if (target.stop.load(std::memory_order_relaxed)) throw Stopped{};
    const std::span<std::byte> room = target.sink.room();
    const std::size_t count = std::min({elements.size(), room.size() / record_bytes, batch});
    const std::size_t ahead = std::min(kPrefetchRecords, elements.size() - count);
    copy_batch(elements.first(count), memory, ahead, room.data());
    if (target.verifier != nullptr) target.verifier->inspect(room.data(), count);
    target.sink.commit(count * record_bytes);
    elements = elements.subspan(count);
  }
}

}  // namespace

void copy_permuted(std::span<const Element> elements, const RecordMemory& memory, std::byte* to) {
  copy_batch(elements, memory, 0, to);
}

void write_permuted(std::span<const Element> elements, const RecordMemory& memory, const PermuteTarget& target) {
  with_records(memory.layout, [&](const auto& records) { write_each(records, elements, memory, target); });
}

}  // namespace hetsort::sort
