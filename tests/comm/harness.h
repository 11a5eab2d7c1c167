// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
//
// The suite of the communicator runs over ranks that are threads of one process and, from the same sources, under
// mpirun. Linking harness_in_process.cc or harness_mpi.cc selects one of the two.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <cstring>
#include <functional>
#include <ostream>
#include <string>
#include <thread>
#include <vector>

#include "tests/machinery/in_process.h"
#include "tests/seeds.h"

namespace hetsort::comm {  // for PrintTo

/// How test names show it.
inline void PrintTo(ExchangeMode mode, std::ostream* stream) {
  *stream << (mode == ExchangeMode::kInline ? "inline" : mode == ExchangeMode::kThread ? "thread" : "threads");
}

}  // namespace hetsort::comm

namespace hetsort::comm::test {

using hetsort::test::case_seed;
using hetsort::test::cases;
using hetsort::test::environment_number;
using hetsort::test::kSanitized;
using hetsort::test::kSeeksRaces;
using hetsort::test::seed_note;
using hetsort::test::test_seed;

struct Setting {
  int ranks = 1;  ///< under mpirun, the number of its ranks
  ExchangeMode mode = ExchangeMode::kThread;
};

inline std::string name_of(ExchangeMode mode) { return testing::PrintToString(mode); }

/// How test names show it.
inline void PrintTo(const Setting& setting, std::ostream* stream) {
  *stream << setting.ranks << "_ranks_" << name_of(setting.mode);
}

inline std::ostream& operator<<(std::ostream& stream, const Setting& setting) {
  return stream << setting.ranks << " ranks, mode " << name_of(setting.mode) << ", "
                << "HETSORT_TEST_SEED=" << test_seed();
}

/// All settings of the suite.
std::vector<Setting> settings();

/// The number of ranks of a job that asks for `wanted`. Under mpirun it is the number of mpirun's ranks.
int ranks_for(int wanted);
/// Whether this process has the job's rank 0.
bool has_first_rank();
/// Whether all ranks are in this process.
bool has_all_ranks();
/// Runs the body on all ranks once, and returns how the ranks of this process ended. Under mpirun only the
/// communicator's options are used.
std::vector<machinery::RankEnd> run_once(int ranks, std::uint64_t seed, const machinery::InProcessOptions& options,
                                         const machinery::RankBody& body);

/// Runs the body on all ranks and calls look(end) for each rank of this process. Ranks in one process repeat this with
/// several seeds.
void on_ranks(const Setting& setting, const machinery::RankBody& body,
              const std::function<void(const machinery::RankEnd&)>& look);

/// Runs a body that must succeed on all ranks.
inline void on_ranks(const Setting& setting, const machinery::RankBody& body) {
  on_ranks(setting, body, [](const machinery::RankEnd& end) {
    EXPECT_EQ(end.message, "");
    EXPECT_EQ(end.conclusion, "");
  });
}

/// Waits for messages as the exchange does: in inline mode the waiting thread makes the MPI calls. Throws: PeerFailed.
template <class Ready>
void wait_until(Communicator& ranks, const Ready& ready) {
  while (!ready()) {
    ranks.check();
    if (!ranks.progress()) std::this_thread::sleep_for(std::chrono::microseconds(50));
  }
}

/// Returns rank 0's path on all ranks. Collective.
inline std::string path_for_all(const std::string& path, Communicator& ranks) {
  const auto own = std::as_bytes(std::span(path));
  const Bytes chosen = ranks.broadcast(ranks.rank() == 0 ? Bytes(own.begin(), own.end()) : Bytes{});
  return {reinterpret_cast<const char*>(chosen.data()), chosen.size()};
}

class CommSuite : public ::testing::TestWithParam<Setting> {};

inline std::string setting_name(const ::testing::TestParamInfo<Setting>& info) {
  return "ranks" + std::to_string(info.param.ranks) + "_" + name_of(info.param.mode);
}

/// Pseudo-random bytes that depend on the seed only.
inline Bytes pattern(std::size_t count, std::uint64_t seed) {
  Bytes bytes(count);
  std::uint64_t state = seed * 0x9E3779B97F4A7C15U + 1;
  for (std::size_t i = 0; i < count; i += 8) {
    state ^= state << 13U;
    state ^= state >> 7U;
    state ^= state << 17U;
    std::memcpy(&bytes[i], &state, std::min<std::size_t>(8, count - i));
  }
  return bytes;
}

}  // namespace hetsort::comm::test
