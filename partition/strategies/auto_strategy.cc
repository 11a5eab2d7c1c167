// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
#include "partition/strategies/auto_strategy.h"

#include <array>
#include <string_view>

namespace hetsort::partition {

namespace {

struct Candidate {
  std::string_view name;
  std::string_view reason;
};

bool suits(const Problem& problem, const Strategy& strategy) {
  return strategy.unsuitable(problem).empty() && !(strategy.slow && strategy.slow(problem));
}

}  // namespace

AutoChoice choose_for_shares(const Problem& problem) {
  if (problem.speed_shape)
    return {choose_strategy("lambert"), "only speeds are known, and it is exact for n ln n work"};
  const StrategyChoice phases = choose_strategy("phases");
  if (suits(problem, *phases.strategy))
    return {phases, "the cluster file describes what bounds a whole run, and it plans for that"};
  const StrategyChoice threshold = choose_strategy("threshold");
  if (suits(problem, *threshold.strategy)) return {threshold, "it is exact for costs that rise"};
  return {choose_strategy("dp"), "some costs fall somewhere, and it takes such curves"};
}

std::optional<AutoChoice> choose_for_scatter(const Problem& arranged) {
  constexpr std::array<Candidate, 3> kCandidates{
      Candidate{"scatter-closed", "rank 0 sends the input, and it is exact for linear costs"},
      Candidate{"scatter-exact", "rank 0 sends the input, and it is exact for costs that rise"},
      Candidate{"scatter-lp", "rank 0 sends the input, more records than scatter-exact would soon have planned"}};
  for (const Candidate& candidate : kCandidates) {
    const StrategyChoice choice = choose_strategy(candidate.name);
    if (suits(arranged, *choice.strategy)) return AutoChoice{choice, std::string(candidate.reason)};
  }
  return std::nullopt;
}

}  // namespace hetsort::partition
