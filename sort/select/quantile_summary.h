// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
//
// The summaries that ranks exchange while splitters are selected: some records of a multiset, in order, each with
// bounds on how many records of the multiset stand before it. Summaries merge without losing their bounds and are
// thinned to any size, so a reduction of them costs the same whatever the data (Greenwald and Khanna, Power-conserving
// computation of order-statistics over sensor networks, PODS 2004, section 3: merge and prune).
#pragma once

#include <compare>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "comm/communicator.h"

namespace hetsort::sort {

/// A place in the total order of all records: by key, then by input order, which is (run, position in the run). Cuts
/// are before a mark.
struct Mark {
  std::string key;
  std::uint64_t run = 0;  ///< place of the run among all runs of all ranks, from 1; 0 is before them all
  std::uint64_t position = 0;

  // NOLINTNEXTLINE(modernize-use-nullptr): what a defaulted <=> is compared with
  auto operator<=>(const Mark&) const = default;  // char_traits<char> compares as unsigned bytes
};

struct SummaryMark {
  Mark mark;
  std::uint64_t fewest_before = 0;  ///< lower bound on the records before the mark
  std::uint64_t most_before = 0;
  bool is_record = true;  ///< the mark is one of the records, not just a place between them
};

struct QuantileSummary {
  std::uint64_t records = 0;
  std::vector<SummaryMark> marks;  ///< ascending

  /// Thins to at most about `most` marks, evenly spread over the records. `phase`: where the first one is, from 0 to 1
  /// of the distance between two.
  void thin(std::size_t most, double phase = 0);
};

/// The summary of the union of two disjoint multisets. Work: linear.
QuantileSummary merge(const QuantileSummary& a, const QuantileSummary& b);

/// The records among which one or more splitters still lie, over all the ranks combined so far.
struct OpenRecords {
  std::uint64_t records_before = 0;  ///< exact number of records before them
  bool locates_cheaply = true;       ///< no rank reads from disk to find the position of a mark
  QuantileSummary summary{};

  /// Adds the open records of further ranks, and thins the summary to about `most_marks`.
  void add(const OpenRecords& other, std::size_t most_marks);
};

/// Stands for the length of keys of lines, which have no common length.
inline constexpr std::size_t kAnyKeyBytes = 0;

/// Bytes of a mark in a message, and of what stands before the marks of a search.
std::size_t encoded_mark_bytes(std::size_t key_bytes);
std::size_t encoded_search_bytes();

comm::Bytes encode(const std::vector<OpenRecords>& open, std::size_t key_bytes);
/// Throws: std::runtime_error when `bytes` is no encoding with keys of this length, or if marks do not ascend or their
/// bounds are impossible.
std::vector<OpenRecords> decode(const comm::Bytes& bytes, std::size_t key_bytes);

}  // namespace hetsort::sort
