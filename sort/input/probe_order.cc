// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
#include "sort/input/probe_order.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "sort/line_keys.h"

namespace hetsort::sort {

namespace {

constexpr std::uint64_t kProbedRecords = 1024;
constexpr std::uint64_t kProbedRecordsOfOne = 16;
// With more inputs each would have too few blocks to be read at full rate.
constexpr std::size_t kMaxProbedInputs = 64;
// A longer line counts as no order.
constexpr std::size_t kMaxProbedLine = std::size_t{64} << 10;

/// Reads records of one input, which is bytes [first, first + bytes) of all.
class Prober {
 public:
  Prober(const Input& input, const RecordLayout& layout) : input_(input), layout_(layout) {}

  /// Whether some records ascend or, if `reversed`, descend without being equal.
  bool follow(bool reversed, std::uint64_t first, std::uint64_t bytes, std::uint64_t probes) const {
    const std::uint64_t records = bytes / layout_.record_bytes;
    const std::uint64_t count = std::min(records, probes);
    std::vector<std::byte> before;
    for (std::uint64_t i = 0; i < count; ++i) {
      const std::uint64_t at = first + i * (records / count) * layout_.record_bytes;
      std::vector<std::byte> record = layout_.is_lines() ? line_at(at, first + bytes) : record_at(at);
      if (record.empty()) return false;
      if (!before.empty() && (reversed ? compare(before, record) <= 0 : compare(before, record) > 0)) return false;
      before = std::move(record);
    }
    return true;
  }

 private:
  /// Empty if it could not be read.
  std::vector<std::byte> record_at(std::uint64_t at) const {
    std::vector<std::byte> record(layout_.record_bytes);
    if (input_.peek(at, record) < record.size()) record.clear();
    return record;
  }
  /// The first line that begins at or behind `at`, or the last one before `end`.
  std::vector<std::byte> line_at(std::uint64_t at, std::uint64_t end) const {
    const std::uint64_t begin = input_.line_start(at);
    std::vector<std::byte> line;
    if (begin >= end) return line;
    line.resize(kMaxProbedLine);
    line.resize(input_.peek(begin, line));
    const LineKeys keys(*layout_.lines);
    line.resize(static_cast<std::size_t>(keys.end_of_line(line.data(), line.data() + line.size()) - line.data()));
    if (!keys.is_whole(line)) line.clear();
    return line;
  }
  int compare(const std::vector<std::byte>& a, const std::vector<std::byte>& b) const {
    return layout_.is_lines() ? LineKeys(*layout_.lines).compare(a, b) : layout_.compare(a.data(), b.data());
  }

  const Input& input_;
  const RecordLayout& layout_;
};

bool all_follow(const Input& input, const RecordLayout& layout, bool reversed) {
  const Prober prober(input, layout);
  const std::uint64_t probes =
      std::max(kProbedRecordsOfOne, kProbedRecords / std::max<std::size_t>(1, input.files().size()));
  std::uint64_t first = 0;
  for (const InputFile& file : input.files()) {
    if (!prober.follow(reversed, first, file.bytes_of_records(), probes)) return false;
    first += file.bytes_of_records();
  }
  return true;
}

}  // namespace

SeemingOrder seeming_order(const Input& input, const RecordLayout& layout) {
  if (input.files().size() > kMaxProbedInputs) return SeemingOrder::kNone;
  if (all_follow(input, layout, false)) return SeemingOrder::kSorted;
  if (!layout.is_lines() && all_follow(input, layout, true)) return SeemingOrder::kReversed;
  return SeemingOrder::kNone;
}

}  // namespace hetsort::sort
