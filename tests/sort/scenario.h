// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
//
// Sorts on several ranks, drawn by a seed from all combinations of inputs, plans, modes and outputs.
#pragma once

#include <array>
#include <ostream>
#include <random>
#include <string>
#include <vector>

#include "sort/model/shares.h"
#include "tests/sort/ranks.h"
#include "tests/sort/support.h"

namespace hetsort::sort::test {

/// How the input is distributed to the ranks.
enum class Spread : std::uint8_t { kAlike, kRandom, kOneEmpty, kAllOnOne, kOneSharedFile, kRootFile, kRootPipe };
/// How test names show it.
inline void PrintTo(Spread spread, std::ostream* stream) {
  constexpr std::array kNames{"alike",           "random",    "one_empty", "all_on_one",
                              "one_shared_file", "root_file", "root_pipe"};
  *stream << kNames.at(static_cast<std::size_t>(spread));
}
enum class Destination : std::uint8_t { kOwnFiles, kOneFile, kPipe };
/// How the output is shared. kStrategy: by a strategy and speeds that are drawn too. kRates: by rates that are known
/// only once runs are formed. kEmulated: several equal processes a rank, one after the other.
enum class Plan : std::uint8_t { kEqual, kUnequal, kSomeNothing, kAllToOne, kStrategy, kRates, kEmulated };

inline constexpr std::uint64_t kAllRanks = ~std::uint64_t{0};

struct Scenario {
  InputRequest input;
  int ranks = 1;
  comm::ExchangeMode mode = comm::ExchangeMode::kThread;
  Spread spread{};
  Plan plan{};
  std::uint64_t tight_ranks = 0;  ///< bit r: rank r has the minimum of memory, else ample memory
  std::uint64_t more_bytes = 0;   ///< memory beyond the minimum, for tight ranks of `partly_ranks`
  std::uint64_t partly_ranks = 0;
  std::size_t threads = 1;
  std::uint64_t block_bytes = 0;
  /// Maximum delay of a message; where ranks are processes, some file calls wait instead. 0 = no delay.
  int longest_delay_microseconds = 100;
  double rendezvous = 0.5;  ///< see machinery::InProcessOptions
  Destination destination{};
  std::size_t header_bytes = 0;  ///< header of every input file
  std::size_t volumes = 1;       ///< files of each rank's output; more than one only with files of its own
  int ranks_per_host = 1;
  bool unique = false;  ///< only the first of equal records is written
};

/// Whether all ranks have one input, and one output.
inline bool has_one_input(const Scenario& scenario) {
  return scenario.spread >= Spread::kOneSharedFile || scenario.ranks == 1;
}
inline bool has_ample_memory(const Scenario& scenario, int rank) { return (scenario.tight_ranks >> rank) % 2 == 0; }
inline bool has_one_output(const Scenario& scenario) {
  return scenario.destination == Destination::kOneFile ||
         (scenario.ranks == 1 && scenario.destination == Destination::kOwnFiles);
}

std::string describe(const Scenario& scenario);
/// The scenario of a seed. The mode depends on the seed modulo 3; under mpirun the number of ranks is that of the job.
Scenario draw_scenario(std::uint64_t seed);
/// How many of the records each rank has before the sort, and after it.
std::vector<std::uint64_t> spread_records(const Scenario& scenario);
std::vector<std::uint64_t> plan_records(const Scenario& scenario);
/// For kRates: the work that replaces the measured work of each rank.
std::vector<Work> work_of_ranks(const Scenario& scenario);
/// The shares that the sort is given: plan_records(), and the parts of ranks that emulate processes.
Shares plan_shares(const Scenario& scenario);

/// Maximum bytes of a drawn scenario.
inline constexpr std::size_t kMaxBytes = kSanitized ? std::size_t{2} << 20 : std::size_t{8} << 20;

}  // namespace hetsort::sort::test
