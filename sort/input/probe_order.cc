// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
#include "sort/input/probe_order.h"

#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

#include "sort/model/record_order.h"

namespace hetsort::sort {

namespace {

constexpr std::uint64_t kProbedRecords = 1024;
constexpr std::uint64_t kProbedRecordsOfOne = 16;
// A shorter stretch is taken for disorder.
constexpr std::size_t kProbedRecordsOfStretch = 8;
// Maximum number of stretches. With more, each would have too few blocks to be read at full rate.
constexpr std::size_t kMaxStretches = 64;
// A line that is longer counts as disorder.
constexpr std::size_t kMaxProbedLine = std::size_t{64} << 10;
// Bytes that are read first: most lines are shorter.
constexpr std::size_t kProbedBytes = std::size_t{1} << 10;

/// A record or line and where it begins in the whole input.
struct Probed {
  std::uint64_t at = 0;
  std::vector<std::byte> record;
};

/// Reads records of one input, whose bytes are [first, end) of all.
class Prober {
 public:
  Prober(const Input& input, const RecordLayout& layout, bool reversed, std::uint64_t first, std::uint64_t end)
      : input_(input), layout_(layout), reversed_(reversed), first_(first), end_(end) {}

  /// Adds to `borders` where each stretch behind the first one begins. Returns false if there is no order. Requires:
  /// `borders` has only the begin of the first stretch.
  bool find_borders(std::uint64_t probes, std::vector<std::uint64_t>& borders) const {
    const std::uint64_t records = (end_ - first_) / layout_.record_bytes;
    const std::uint64_t count = std::min(records, probes);
    std::optional<Probed> before;
    std::size_t followed = 0;
    for (std::uint64_t i = 0; i < count; ++i) {
      std::optional<Probed> next = first_behind(first_ + i * (records / count) * layout_.record_bytes);
      if (!next) return false;
      if (before && !follows(before->record, next->record)) {
        if (followed < kProbedRecordsOfStretch || borders.size() == kMaxStretches) return false;
        const std::optional<std::uint64_t> border = border_between(*before, *next);
        if (!border) return false;
        borders.push_back(*border);
        followed = 0;
      }
      ++followed;
      before = std::move(next);
    }
    return borders.size() == 1 || followed >= kProbedRecordsOfStretch;
  }

 private:
  /// The first record or line that begins at or behind `at`, or the last line of the input; null if it could not be
  /// read, or if the line at `at` or that one is long.
  std::optional<Probed> first_behind(std::uint64_t at) const {
    if (!layout_.is_lines()) return record_at(at);
    const LineKeys keys(*layout_.lines);
    Probed found{input_.line_start(at, at + kMaxProbedLine), {}};
    if (found.at >= end_ || found.at > at + kMaxProbedLine) return std::nullopt;
    std::vector<std::byte>& line = found.record;
    for (const std::size_t bytes : {kProbedBytes, kMaxProbedLine}) {
      line.resize(bytes);
      line.resize(input_.peek(found.at, line));
      line.resize(static_cast<std::size_t>(keys.end_of_line(line.data(), line.data() + line.size()) - line.data()));
      if (keys.is_whole(line)) return found;
    }
    return std::nullopt;
  }
  std::optional<Probed> record_at(std::uint64_t at) const {
    Probed found{at, std::vector<std::byte>(layout_.record_bytes)};
    if (input_.peek(at, found.record) < layout_.record_bytes) return std::nullopt;
    return found;
  }
  bool follows(const std::vector<std::byte>& a, const std::vector<std::byte>& b) const {
    const int order = layout_.is_lines() ? LineKeys(*layout_.lines).compare(a, b) : layout_.compare(a.data(), b.data());
    // Reversal makes equal lines change places, which does not matter if all their bytes are equal.
    return reversed_ ? order > 0 || (layout_.is_lines() && a == b) : order <= 0;
  }

  /// Where a stretch ends that has the record `last` but not the record `other` behind it: the records between them
  /// follow `last` as long as they belong to it.
  std::optional<std::uint64_t> border_between(const Probed& last, const Probed& other) const {
    std::uint64_t inside = last.at;
    std::uint64_t border = other.at;
    // The border is at `border`, or where a record begins within (inside, right).
    for (std::uint64_t right = border; right - inside > layout_.record_bytes;) {
      const std::uint64_t middle = inside + (right - inside) / layout_.record_bytes / 2 * layout_.record_bytes;
      const std::optional<Probed> found = first_behind(middle);
      if (!found) return std::nullopt;
      if (found->at >= right) {
        right = middle;
      } else if (follows(last.record, found->record)) {
        inside = found->at;
      } else {
        border = found->at;
        right = middle;
      }
    }
    return border;
  }

  const Input& input_;
  const RecordLayout& layout_;
  bool reversed_;
  std::uint64_t first_;
  std::uint64_t end_;
};

std::vector<Stretch> stretches_of(const Input& input, const RecordLayout& layout, bool reversed) {
  const std::uint64_t probes =
      std::max(kProbedRecordsOfOne, kProbedRecords / std::max<std::size_t>(1, input.files().size()));
  std::vector<Stretch> stretches;
  std::uint64_t first = 0;
  for (const InputFile& file : input.files()) {
    const std::uint64_t end = first + file.bytes_of_records();
    std::vector<std::uint64_t> borders{first};
    if (!Prober(input, layout, reversed, first, end).find_borders(probes, borders)) return {};
    borders.push_back(end);
    for (std::size_t i = 0; i + 1 < borders.size(); ++i)
      stretches.push_back({&file, file.header_bytes + borders[i] - first, file.header_bytes + borders[i + 1] - first});
    first = end;
  }
  if (stretches.size() > kMaxStretches) return {};
  return stretches;
}

}  // namespace

SeemingOrder seeming_order(const Input& input, const RecordLayout& layout) {
  if (input.files().size() > kMaxStretches) return {};
  SeemingOrder order{stretches_of(input, layout, false)};
  if (order.stretches.empty()) order = {stretches_of(input, layout, true), true};
  return order;
}

}  // namespace hetsort::sort
