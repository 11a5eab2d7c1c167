// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
//
// The segments of a rank's input. Each has consecutive records and becomes runs of its own.
#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

namespace hetsort::sort {

/// Size of a stream whose end is unknown; sums with it do not overflow.
inline constexpr std::uint64_t kToTheEnd = std::uint64_t{1} << 62;

/// Consecutive records of a rank's input. No run spans two segments.
struct InputSegment {
  std::uint64_t first_byte = 0;  ///< place in the rank's input; in a stream, the end of the segment before
  std::uint64_t bytes = 0;       ///< kToTheEnd is for streams
  /// Number of its first record in the whole input of all ranks, which breaks ties.
  std::uint64_t first_record = 0;
};

/// Hands out the segments of one rank's input. Thread safety: one call at a time, from any thread.
class InputSegments {
 public:
  InputSegments() = default;
  InputSegments(const InputSegments&) = delete;
  InputSegments& operator=(const InputSegments&) = delete;
  virtual ~InputSegments() = default;

  /// Maximum number of segments, at least 1: memory is planned for an index of each of them.
  virtual std::uint64_t most() const = 0;
  /// The next segment; none after the last one. All together have at most the bytes that memory was planned for.
  /// Throws: what the source throws.
  virtual std::optional<InputSegment> next() = 0;

  /// Claims the last segment of next() up to byte `wanted_bytes`. Must be called before these bytes become part of a
  /// run. Returns the claimed length: `wanted_bytes` or more, or less if the segment ends there because others have
  /// taken the rest. Throws: what the source throws.
  virtual std::uint64_t claim(std::uint64_t wanted_bytes) { return wanted_bytes; }
};

/// Segments that are known in advance.
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

/// Makes the segments of a rank's input of `bytes`, whose first record is number `first_record` of the whole input.
/// Segments of a stream are in its order, without gaps, and need no claim.
using TakeSegments = std::function<std::unique_ptr<InputSegments>(std::uint64_t bytes, std::uint64_t first_record)>;

}  // namespace hetsort::sort
