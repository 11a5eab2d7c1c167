// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
//
// Problems the tests share: the platforms of the papers, and random ones from a printed seed.
#pragma once

#include <algorithm>
#include <cstdint>
#include <ostream>
#include <random>
#include <string>
#include <vector>

#include "partition/plan.h"
#include "partition/problem.h"
#include "partition/strategy.h"

namespace hetsort::partition {  // for PrintTo

/// How test names show it.
inline void PrintTo(const Strategy* strategy, std::ostream* stream) {
  std::string name(strategy->name);
  std::replace(name.begin(), name.end(), '-', '_');
  *stream << name;
}

}  // namespace hetsort::partition

namespace hetsort::partition::test {

/// The 16 processors of Genaud, Giersch, Vivien 2003, the root (dinadan) first.
Problem grid_2003(std::int64_t records = 817101);

/// A shares problem with these costs, named by their place.
Problem problem_with(std::int64_t records, std::vector<CostPtr> costs);

/// A random non-decreasing cost of a random kind. Costs are distinct from node to node.
CostPtr random_cost(std::mt19937_64& random);

/// A random shares problem of random kinds; half of them have caps that hold the records.
Problem random_problem(std::mt19937_64& random, int max_nodes, std::int64_t max_records);

/// A random arranged scatter: affine or linear receive costs, any non-decreasing compute costs.
Problem random_scatter(std::mt19937_64& random, int max_nodes, std::int64_t max_records);

/// Adds what a strategy of another library needs of a problem. A program of tests that has such strategies sets it
/// before main(). By default it adds nothing.
using CompleteProblem = void (*)(const Strategy& strategy, Problem& problem);
CompleteProblem& complete_problem();

/// A generator and the message that repeats it: put `random.note` into the test's failure text.
struct Seeded {
  explicit Seeded(std::uint64_t seed) : engine(seed), note("seed " + std::to_string(seed)) {}
  std::mt19937_64 engine;
  std::string note;
};

/// The seed of this run: HETSORT_SEED when it is set, else a fixed one.
std::uint64_t test_seed();

/// The shares of a plan, in node order.
std::vector<std::int64_t> shares_of(const Plan& plan);

std::int64_t sum_of(const std::vector<std::int64_t>& shares);

}  // namespace hetsort::partition::test
