// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
//
// Sorts on several ranks, drawn by a seed from everything that can be combined.
#pragma once

#include <random>
#include <string>
#include <vector>

#include "sort/plan/shares.h"
#include "tests/sort/ranks.h"
#include "tests/sort/support.h"

namespace hetsort::sort::test {

/// How the records lie on the ranks.
enum class Spread : std::uint8_t { kAlike, kRandom, kOneEmpty, kAllOnOne, kOneSharedFile, kRootFile, kRootPipe };
enum class Destination : std::uint8_t { kOwnFiles, kOneFile, kPipe };
/// kStrategy: by a strategy and speeds drawn too. kRates: by rates that are known only once runs are formed. kEmulated:
/// several equal processes a rank, one after the other.
enum class Plan : std::uint8_t { kEqual, kUnequal, kSomeNothing, kAllToOne, kStrategy, kRates, kEmulated };

struct Scenario {
  InputRequest input;
  int ranks = 1;
  comm::ExchangeMode mode = comm::ExchangeMode::kThread;
  Spread spread{};
  Plan plan{};
  bool ample_memory = true;
  std::size_t threads = 1;
  std::uint64_t block_bytes = 0;
  /// Up to that much a message takes; where ranks are processes, some file calls wait instead. 0 = nothing waits.
  int longest_delay_microseconds = 100;
  double rendezvous = 0.5;  ///< see InProcessOptions
  Destination destination{};
};

/// Inputs lie in one file, and one output takes all.
inline bool has_one_input(const Scenario& scenario) {
  return scenario.spread >= Spread::kOneSharedFile || scenario.ranks == 1;
}
inline bool has_one_output(const Scenario& scenario) {
  return scenario.destination == Destination::kOneFile ||
         (scenario.ranks == 1 && scenario.destination == Destination::kOwnFiles);
}

std::string describe(const Scenario& scenario);
/// The scenario of a seed. Modes take turns over the seeds; under mpirun there are as many ranks as there are.
Scenario draw_scenario(std::uint64_t seed);
/// How many of the records lie on each rank before the sort, and after it.
std::vector<std::uint64_t> spread_records(const Scenario& scenario);
std::vector<std::uint64_t> plan_records(const Scenario& scenario);
/// For kRates: what the ranks are taken to have worked.
std::vector<Work> work_of_ranks(const Scenario& scenario);
/// What the sort is told: plan_records(), and the parts of ranks that emulate processes.
Shares plan_shares(const Scenario& scenario);

/// The most bytes of a drawn scenario.
inline constexpr std::size_t kMaxBytes = kSanitized ? std::size_t{2} << 20 : std::size_t{8} << 20;

}  // namespace hetsort::sort::test
