// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
#include "sort/select/verdict.h"

#include <gtest/gtest.h>

#include <cmath>
#include <random>

#include "tests/seeds.h"
#include "tests/sort/inputs.h"
#include "tests/sort/select/keys_in_memory.h"

namespace hetsort::sort::test {
namespace {

/// The summary of all ranks, each with `own_marks` marks, merged two and two as the tree does.
OpenRecords summary_of(std::vector<KeysInMemory>& ranks, std::size_t own_marks, std::size_t most_marks) {
  std::vector<OpenRecords> parts;
  for (std::size_t rank = 0; rank < ranks.size(); ++rank) {
    const std::vector<std::uint64_t> places{rank};
    std::vector<OpenRun> runs{{0, ranks[rank].records(0)}};
    const double turns = 0.6180339887498949 * static_cast<double>(rank);
    parts.push_back(summarise({ranks[rank], places, 8}, runs, own_marks, turns - std::floor(turns)));
  }
  for (std::size_t step = 1; step < parts.size(); step *= 2)
    for (std::size_t rank = 0; rank + step < parts.size(); rank += 2 * step)
      parts[rank].add(parts[rank + step], most_marks);
  return parts.front();
}

struct JudgedCuts {
  std::uint64_t missed = 0;          // splitters outside of their brackets
  std::uint64_t widest_bracket = 0;  // records
};

/// Judges the middles of all equal shares, and compares with the truth.
JudgedCuts outcome_of(std::vector<KeysInMemory>& ranks, const Judgement& by, std::size_t own_marks) {
  const OpenRecords all = summary_of(ranks, own_marks, by.most_marks);
  std::vector<std::pair<std::string, std::uint64_t>> truth;
  for (std::size_t rank = 0; rank < ranks.size(); ++rank)
    for (std::uint64_t at = 0; at < ranks[rank].records(0); ++at) truth.emplace_back(ranks[rank].key(0, at), rank + 1);
  std::ranges::sort(truth);
  EXPECT_EQ(all.summary.records, truth.size());
  std::vector<std::uint64_t> targets;
  for (std::uint64_t share = 1; share < 16; ++share) targets.push_back(truth.size() * share / 16);
  const auto place = [&](const std::optional<Mark>& mark, std::uint64_t otherwise) {
    if (!mark) return otherwise;
    const auto at = std::ranges::lower_bound(truth, std::pair(mark->key, mark->run));
    return static_cast<std::uint64_t>(at - truth.begin());
  };
  JudgedCuts outcome;
  std::size_t splitter = 0;
  for (const Verdict& verdict : judge(all, targets, by)) {
    for (std::uint64_t i = 0; i < verdict.splitters; ++i, ++splitter) {
      if (verdict.kind != Verdict::Kind::kOpen) continue;
      const std::uint64_t low = place(verdict.bracket.low, 0);
      const std::uint64_t high = place(verdict.bracket.high, truth.size());
      outcome.missed += targets[splitter] < low || targets[splitter] > high ? 1 : 0;
      outcome.widest_bracket = std::max(outcome.widest_bracket, high - low);
    }
  }
  EXPECT_EQ(splitter, targets.size());
  return outcome;
}

std::vector<KeysInMemory> random_ranks(std::size_t count, std::size_t records) {
  std::mt19937_64 random(test_seed());
  std::vector<KeysInMemory> ranks;
  for (std::size_t rank = 0; rank < count; ++rank) {
    std::vector<std::uint64_t> keys(records);
    for (std::uint64_t& key : keys) key = random();
    ranks.emplace_back(std::vector<std::vector<std::uint64_t>>{std::move(keys)});
  }
  return ranks;
}

TEST(Judge, certain_brackets_contain_every_cut) {
  SCOPED_TRACE(seed_note());
  std::vector<KeysInMemory> ranks = random_ranks(100, 300);
  EXPECT_EQ(outcome_of(ranks, {100, 64, true}, 64).missed, 0U);
}

TEST(Judge, estimated_brackets_of_many_ranks_are_narrow_and_rarely_wrong) {
  SCOPED_TRACE(seed_note());
  std::vector<KeysInMemory> ranks = random_ranks(500, 400);
  const JudgedCuts certain = outcome_of(ranks, {500, 2'000, true}, 20);
  const JudgedCuts estimated = outcome_of(ranks, {500, 2'000, false}, 20);
  EXPECT_LE(estimated.missed, 1U);
  EXPECT_LE(estimated.widest_bracket, certain.widest_bracket / 4);
}

TEST(Judge, estimates_hold_although_all_ranks_have_the_same_records) {
  SCOPED_TRACE(seed_note());
  std::vector<KeysInMemory> ranks = random_ranks(1, 400);
  const KeysInMemory alike = ranks.front();
  while (ranks.size() < 100) ranks.push_back(alike);
  EXPECT_LE(outcome_of(ranks, {100, 2'000, false}, 20).missed, 1U);
}

TEST(Judge, a_cut_outside_of_the_records_is_beside_the_search) {
  OpenRecords all{.records_before = 10, .summary = {5, {}}};
  const std::vector<std::uint64_t> targets{9, 15, 16};
  const std::vector<Verdict> verdicts = judge(all, targets, {});
  ASSERT_EQ(verdicts.size(), 3U);
  EXPECT_EQ(verdicts[0].kind, Verdict::Kind::kBelow);
  EXPECT_EQ(verdicts[1].kind, Verdict::Kind::kEnd);
  EXPECT_EQ(verdicts[2].kind, Verdict::Kind::kAbove);
}

TEST(Verdicts, any_survive_the_wire_and_garbage_does_not_pass) {
  const std::vector<Verdict> sent{{.kind = Verdict::Kind::kOpen,
                                   .splitters = 3,
                                   .is_certain = false,
                                   .takes_all = true,
                                   .bracket = {Mark{"abc", 1, 2}, {}}},
                                  {.kind = Verdict::Kind::kFound, .splitters = 1, .bracket = {Mark{"abd", 0, 0}, {}}}};
  comm::Packer packer;
  pack(packer, sent);
  const comm::Bytes wire = packer.take();
  comm::Unpacker unpacker(wire);
  const std::vector<Verdict> back = unpack_verdicts(unpacker);
  unpacker.end();
  ASSERT_EQ(back.size(), 2U);
  EXPECT_EQ(back[0].splitters, 3U);
  EXPECT_FALSE(back[0].is_certain);
  EXPECT_TRUE(back[0].takes_all);
  EXPECT_EQ(back[0].bracket.low->position, 2U);
  EXPECT_FALSE(back[0].bracket.high);
  EXPECT_EQ(back[1].bracket.low->key, "abd");
  for (std::size_t length = 0; length < wire.size(); ++length) {
    const comm::Bytes cut(wire.begin(), wire.begin() + static_cast<std::ptrdiff_t>(length));
    comm::Unpacker shorter(cut);
    EXPECT_THROW(static_cast<void>(unpack_verdicts(shorter)), std::runtime_error);
  }
  comm::Bytes damaged = wire;
  damaged[8] = std::byte{9};
  comm::Unpacker of_damaged(damaged);
  EXPECT_THROW(static_cast<void>(unpack_verdicts(of_damaged)), std::runtime_error);
}

}  // namespace
}  // namespace hetsort::sort::test
