// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
#include "sort/plan/rehearsal.h"

#include <algorithm>
#include <cstring>
#include <ctime>
#include <random>
#include <span>
#include <vector>

#include "io/calls/buffer.h"
#include "sort/runs/sort_elements.h"

namespace hetsort::sort {

namespace {

constexpr std::size_t kBytes = std::size_t{1} << 18;
constexpr std::size_t kMaxRecords = std::size_t{1} << 13;
constexpr std::size_t kBucketRecords = std::size_t{1} << 11;
constexpr std::uint64_t kMaxRehearsals = 5;
constexpr std::uint64_t kRecordsForEach = 150;  // records that a rank sorts for each one that it rehearses

double thread_seconds() {
  timespec time{};
  ::clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_nsec) * 1e-9;
}

/// One repetition. Records and output get fresh memory, as those of a sort; a block of the merge is used again.
ProcessorCosts rehearse_once(const RecordLayout& layout, std::size_t records, std::span<const std::byte> source,
                             std::span<std::byte> block) {
  const std::size_t bytes = layout.record_bytes;
  const io::Buffer kept(source.size());
  const io::Buffer output(records * bytes);
  const double begin = thread_seconds();
  std::memcpy(kept.data(), source.data(), source.size());
  std::vector<Element> elements;
  elements.reserve(records);
  for (std::size_t record = 0; record < records; ++record)
    elements.push_back(key_prefix(layout, kept.data() + record * bytes) | (record * bytes));
  const double formed = thread_seconds();
  const std::span<Element> all = elements;
  for (std::size_t first = 0; first < records; first += kBucketRecords)
    sort_elements(all.subspan(first, std::min(kBucketRecords, records - first)));
  for (std::size_t record = 0; record < records; ++record)
    std::memcpy(block.data() + record * bytes, kept.data() + place_of(elements[record]), bytes);
  std::memcpy(output.data(), block.data(), records * bytes);
  const double merged = thread_seconds();
  const auto each = static_cast<double>(records);
  return {(formed - begin) / each, (merged - formed) / each};
}

}  // namespace

ProcessorCosts rehearse(const RecordLayout& layout, std::uint64_t share) {
  const std::size_t bytes = layout.record_bytes;
  const std::size_t records = std::clamp<std::size_t>(kBytes / bytes, 1, kMaxRecords);
  const io::Buffer source(records * bytes + kReadableSlackBytes);
  std::mt19937_64 random;  // the same records in every run
  for (std::size_t at = 0; at + sizeof(std::uint64_t) <= source.size_bytes(); at += sizeof(std::uint64_t)) {
    const std::uint64_t word = random();
    std::memcpy(source.data() + at, &word, sizeof word);
  }
  const io::Buffer block(records * bytes);
  std::memset(block.data(), 0, block.size_bytes());
  ProcessorCosts least = rehearse_once(layout, records, source.span(), block.span());
  const std::uint64_t affordable = share / kRecordsForEach / records;
  for (std::uint64_t more = 1; more < std::min(kMaxRehearsals, affordable); ++more) {
    const ProcessorCosts one = rehearse_once(layout, records, source.span(), block.span());
    least.form_seconds = std::min(least.form_seconds, one.form_seconds);
    least.merge_seconds = std::min(least.merge_seconds, one.merge_seconds);
  }
  return least;
}

}  // namespace hetsort::sort
