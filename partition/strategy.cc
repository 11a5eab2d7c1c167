// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
#include "partition/strategy.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>
#include <cmath>

#include "partition/error.h"

namespace hetsort::partition {

// The table of strategies: to add one, write strategies/NAME.cc and add its line here.
#define HETSORT_STRATEGIES(STRATEGY) \
  STRATEGY(equal)                    \
  STRATEGY(proportional)             \
  STRATEGY(taylor)                   \
  STRATEGY(lambert)                  \
  STRATEGY(lambert_asymptotic)       \
  STRATEGY(power)                    \
  STRATEGY(threshold)                \
  STRATEGY(dp)                       \
  STRATEGY(emulated)                 \
  STRATEGY(learned)                  \
  STRATEGY(phases)                   \
  STRATEGY(scatter_dp)               \
  STRATEGY(scatter_exact)            \
  STRATEGY(scatter_lp)               \
  STRATEGY(scatter_closed)

#define HETSORT_DECLARE(NAME) extern const Strategy NAME##_strategy;
HETSORT_STRATEGIES(HETSORT_DECLARE)
#undef HETSORT_DECLARE

namespace {

std::vector<const Strategy*>& table() {
#define HETSORT_ADDRESS(NAME) &NAME##_strategy,
  static std::vector<const Strategy*> strategies{HETSORT_STRATEGIES(HETSORT_ADDRESS)};
#undef HETSORT_ADDRESS
  return strategies;
}

const Strategy& find_strategy(std::string_view name) {
  std::vector<std::string_view> names;
  for (const Strategy* strategy : all_strategies()) {
    if (strategy->name == name) return *strategy;
    names.push_back(strategy->name);
  }
  throw PlanError(fmt::format("unknown strategy '{}'; known: {}", name, fmt::join(names, ", ")));
}

}  // namespace

const std::vector<const Strategy*>& all_strategies() { return table(); }

void add_strategies(std::span<const Strategy* const> strategies) {
  for (const Strategy* strategy : strategies)
    if (std::ranges::find(table(), strategy) == table().end()) table().push_back(strategy);
}

StrategyChoice choose_strategy(std::string_view text) {
  const std::size_t colon = text.find(':');
  const std::string_view name = text.substr(0, colon);
  const Strategy& strategy = find_strategy(name);
  StrategyChoice choice{.strategy = &strategy, .parameter = 0, .text = std::string(text)};
  if (colon == std::string_view::npos) {
    choice.parameter = strategy.usual_parameter.value_or(0);
    if (strategy.parameter.empty() || strategy.usual_parameter) return choice;
    throw PlanError(fmt::format("strategy '{0}' needs its parameter, as in {0}:{1}", name, strategy.parameter));
  }
  if (strategy.parameter.empty()) throw PlanError(fmt::format("strategy '{}' takes no parameter", name));
  const std::string_view value = text.substr(colon + 1);
  const char* last = value.data() + value.size();
  const auto [end, status] = std::from_chars(value.data(), last, choice.parameter);
  if (value.empty() || status != std::errc{} || end != last || !std::isfinite(choice.parameter))
    throw PlanError(fmt::format("strategy '{}': {} must be a number, not '{}'", name, strategy.parameter, value));
  return choice;
}

}  // namespace hetsort::partition
