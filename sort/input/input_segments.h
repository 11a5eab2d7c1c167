// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
//
// How a rank takes its input: segment by segment, each of consecutive records that become runs of their own.
#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

namespace hetsort::sort {

/// Of a stream that ends nobody knows when; far from overflows.
inline constexpr std::uint64_t kToTheEnd = std::uint64_t{1} << 62;

/// Consecutive records of a rank's input. No run spans two segments.
struct InputSegment {
  std::uint64_t first_byte = 0;  ///< within the rank's input; of a stream, where the segment before ended
  std::uint64_t bytes = 0;       ///< kToTheEnd is for streams
  /// Number of its first record in the whole input, that of all ranks: what stands there breaks ties.
  std::uint64_t first_record = 0;
};

/// Hands out the segments of one rank's input. Thread safety: one call at a time, from any thread.
class InputSegments {
 public:
  InputSegments() = default;
  InputSegments(const InputSegments&) = delete;
  InputSegments& operator=(const InputSegments&) = delete;
  virtual ~InputSegments() = default;

  /// How many there will be at most, 1 or more: memory is planned for an index of each.
  virtual std::uint64_t most() const = 0;
  /// The next segment; none at the end, and from then on. All together have no more bytes than memory was planned for.
  /// Throws: what the source throws.
  virtual std::optional<InputSegment> next() = 0;

  /// Before any byte of the segment that next() gave last is read for good: claims it up to byte `wanted_bytes`.
  /// Returns up to where it is this rank's now: `wanted_bytes` or more, or less where the segment ends, as others have
  /// taken what is behind. Throws: what the source throws.
  virtual std::uint64_t claim(std::uint64_t wanted_bytes) { return wanted_bytes; }
};

/// Segments that are known beforehand.
class ListedSegments : public InputSegments {
 public:
  explicit ListedSegments(std::vector<InputSegment> segments) : segments_(std::move(segments)) {}

  std::uint64_t most() const override { return std::max<std::uint64_t>(1, segments_.size()); }
  std::optional<InputSegment> next() override {
    if (handed_out_ == segments_.size()) return std::nullopt;
    return segments_[handed_out_++];
  }

 private:
  std::vector<InputSegment> segments_;
  std::size_t handed_out_ = 0;
};

/// Segments of the input of `bytes` that a rank was given, whose first record is number `first_record` of all. Those of
/// a stream come in its order, without gaps, and need no claim.
using TakeSegments = std::function<std::unique_ptr<InputSegments>(std::uint64_t bytes, std::uint64_t first_record)>;

}  // namespace hetsort::sort
