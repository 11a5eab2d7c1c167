// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
#include "sort/checkpoint/divide_runs.h"

#include <algorithm>
#include <cstddef>
#include <functional>
#include <iterator>
#include <limits>
#include <map>
#include <stdexcept>
#include <utility>

namespace hetsort::sort {

namespace {

/// A run, and the ranks that can read it.
struct Candidate {
  OfferedRun run{};
  std::vector<std::size_t> ranks{};
};

/// All runs, the longest first.
std::vector<Candidate> candidates_of(const std::vector<RankOffer>& offers) {
  std::map<OfferedRun, std::vector<std::size_t>> readers;
  for (std::size_t rank = 0; rank < offers.size(); ++rank)
    for (const OfferedRun& run : offers[rank].runs) readers[run].push_back(rank);
  std::vector<Candidate> candidates;
  candidates.reserve(readers.size());
  for (auto& [run, ranks] : readers) candidates.push_back({run, std::move(ranks)});
  std::ranges::stable_sort(candidates, std::ranges::greater(), [](const auto& each) { return each.run.range.records; });
  return candidates;
}

/// Chooses candidates without common records, the first ones first.
std::vector<Candidate> without_overlaps(std::vector<Candidate> candidates) {
  std::map<std::uint64_t, std::uint64_t> taken;  // the first record of each run that was chosen, and its end
  std::erase_if(candidates, [&](const Candidate& candidate) {
    const RecordRange& range = candidate.run.range;
    const auto next = taken.lower_bound(range.first_record);
    if (next != taken.end() && next->first < range.end_record()) return true;
    if (next != taken.begin() && std::prev(next)->second > range.first_record) return true;
    taken.emplace(range.first_record, range.end_record());
    return false;
  });
  return candidates;
}

/// The rank whose share has a record; the last one if none has.
std::size_t rank_with(const std::vector<RankOffer>& offers, std::uint64_t record) {
  for (std::size_t rank = 0; rank < offers.size(); ++rank)
    for (const RecordRange& range : offers[rank].share)
      if (record >= range.first_record && record < range.end_record()) return rank;
  return offers.size() - 1;
}

}  // namespace

std::vector<std::uint64_t> numbers_of(const RankOffer& offer) {
  std::vector<std::uint64_t> numbers{offer.share.size()};
  for (const RecordRange& range : offer.share) numbers.insert(numbers.end(), {range.first_record, range.records});
  for (const OfferedRun& run : offer.runs)
    numbers.insert(numbers.end(), {run.journal, run.range.first_record, run.range.records});
  return numbers;
}

RankOffer offer_of(std::span<const std::uint64_t> numbers) {
  const auto refuse = [] { throw std::runtime_error("a rank offers impossible runs: network or memory changed them"); };
  RankOffer offer;
  if (numbers.empty() || numbers[0] > numbers.size() / 2) refuse();
  const auto range_at = [&](std::size_t at) {
    const RecordRange range{numbers[at], numbers[at + 1]};
    if (range.records > std::numeric_limits<std::uint64_t>::max() - range.first_record) refuse();
    return range;
  };
  const std::size_t behind = 1 + 2 * numbers[0];
  if (behind > numbers.size() || (numbers.size() - behind) % 3 != 0) refuse();
  for (std::size_t at = 1; at < behind; at += 2) offer.share.push_back(range_at(at));
  for (std::size_t at = behind; at < numbers.size(); at += 3) offer.runs.push_back({numbers[at], range_at(at + 1)});
  return offer;
}

std::vector<std::vector<OfferedRun>> divide_runs(const std::vector<RankOffer>& offers) {
  std::vector<std::vector<OfferedRun>> runs(offers.size());
  for (const Candidate& candidate : without_overlaps(candidates_of(offers))) {
    const RecordRange& range = candidate.run.range;
    const std::size_t wanted = rank_with(offers, range.first_record + range.records / 2);
    const auto distance = [&](std::size_t rank) { return rank < wanted ? wanted - rank : rank - wanted; };
    runs[*std::ranges::min_element(candidate.ranks, {}, distance)].push_back(candidate.run);
  }
  for (std::vector<OfferedRun>& of_rank : runs) std::ranges::sort(of_rank, {}, &OfferedRun::range);
  return runs;
}

std::vector<InputSegment> missing_segments(std::span<const InputSegment> whole, std::span<const RecordRange> ranges,
                                           std::uint64_t record_bytes) {
  std::vector<InputSegment> missing;
  for (const InputSegment& segment : whole) {
    const std::uint64_t end = segment.first_record + segment.bytes / record_bytes;
    std::uint64_t at = segment.first_record;
    const auto add_up_to = [&](std::uint64_t record) {
      if (record > at)
        missing.push_back(
            {segment.first_byte + (at - segment.first_record) * record_bytes, (record - at) * record_bytes, at});
    };
    for (const RecordRange& range : ranges) {
      if (range.end_record() <= at || range.first_record >= end) continue;
      add_up_to(range.first_record);
      at = range.end_record();
    }
    add_up_to(end);
  }
  return missing;
}

}  // namespace hetsort::sort
