// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
//
// One interface for every way of sharing records. A strategy is one file in strategies/ that defines one constant
//
//   extern const Strategy NAME_strategy{.name = "NAME", ...};
//
// and one line in the table of strategy.cc. A library beside this one adds its strategies with add_strategies(). All
// are pure functions of the problem.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "problem.h"

namespace hetsort::partition {

/// A better plan that a search found, and when.
struct SearchStep {
  double seconds = 0;   ///< time since the search began
  double makespan = 0;  ///< makespan of the plan; with waiting, if the problem has a program
};

/// The answer of a strategy. Shares sum to the problem's records.
struct Shares {
  std::vector<std::int64_t> records;  ///< one a node, in node order
  std::optional<double> lower_bound;  ///< a bound the strategy proved on the way, for problem.nodes[].compute
  std::optional<double> guarantee;    ///< the makespan exceeds the optimum by no more than this
  std::string note;                   ///< a remark for the user, such as the grid that was used
  /// The number of equal processes that each node runs one after the other; empty where the strategy has none.
  std::vector<std::int64_t> processes{};
  /// The records that each node reads of a shared input, if they differ from those that it ends with; else empty.
  std::vector<std::int64_t> input{};
  std::vector<SearchStep> history{};  ///< better and better plans that a search found
  std::string explanation{};          ///< one sentence that explains a plan of a whole run, or empty
};

struct Strategy {
  enum class Kind { kShares, kScatter };

  std::string_view name{};
  std::string_view parameter{};  ///< its name as in "power:E"; empty = the strategy takes none
  std::string_view summary{};    ///< one line for --help
  Kind kind = Kind::kShares;

  /// Why this strategy cannot plan this problem; empty when it can. Fast.
  std::string (*unsuitable)(const Problem&) = nullptr;

  /// Computes the shares. Requires: a valid problem for which unsuitable() is empty, and, with a parameter, its value.
  /// Throws: PlanError (a parameter out of range, a problem too large for the method).
  Shares (*share)(const Problem&, double parameter) = nullptr;

  /// The parameter a comparison uses when the user names none.
  double (*default_parameter)(const Problem&) = nullptr;

  /// True when share() may take long for this problem, so that a comparison leaves it out.
  bool (*slow)(const Problem&) = nullptr;

  /// The parameter if the user names none. Without it the user must name one.
  std::optional<double> usual_parameter{};
};

/// Every strategy of the table in strategy.cc, in its order, and then those that were added.
const std::vector<const Strategy*>& all_strategies();

/// Adds strategies of another library. Those that are in the table already are left out. Requires: their names are
/// in no other line of the table; nothing has a reference to all_strategies(). Thread safety: not while other threads
/// plan, so a program adds them when it starts.
void add_strategies(std::span<const Strategy* const> strategies);

/// A strategy and its parameter, as the user wrote them: "lambert", "power:1.5".
struct StrategyChoice {
  const Strategy* strategy = nullptr;
  double parameter = 0;
  std::string text;
};

/// Finds a strategy. Throws: PlanError for an unknown name (listing the known ones), a missing or superfluous
/// parameter, or one that is no number.
StrategyChoice choose_strategy(std::string_view text);

}  // namespace hetsort::partition
