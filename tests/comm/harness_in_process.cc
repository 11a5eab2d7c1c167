// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
#include "tests/comm/harness.h"

namespace hetsort::comm::test {

std::vector<Setting> settings() {
  std::vector<Setting> all;
  for (int ranks = 1; ranks <= 8; ++ranks) {
    if (kSanitized && ranks > 4 && ranks < 8) continue;  // sanitized tests take ten times as long
    if (kSeeksRaces && (ranks == 2 || ranks == 4)) continue;
    for (const ExchangeMode mode : {ExchangeMode::kInline, ExchangeMode::kThread, ExchangeMode::kThreads})
      all.push_back({ranks, mode});
  }
  return all;
}

int ranks_for(int wanted) { return wanted; }

bool has_first_rank() { return true; }

bool has_all_ranks() { return true; }

std::vector<machinery::RankEnd> run_once(int ranks, std::uint64_t seed, const machinery::InProcessOptions& options,
                                         const machinery::RankBody& body) {
  return machinery::try_ranks(ranks, seed, options, body);
}

void on_ranks(const Setting& setting, const machinery::RankBody& body,
              const std::function<void(const machinery::RankEnd&)>& look) {
  machinery::InProcessOptions options;
  options.communicator.mode = setting.mode;
  for (std::uint64_t round = 0; round < (kSanitized ? 2 : 3); ++round) {
    // In the first round all sends wait for their receives, in the second half of them, in the third none.
    options.rendezvous = round == 0 ? 1 : round == 1 ? 0.5 : 0;
    const std::uint64_t seed = test_seed() + round;
    SCOPED_TRACE(::testing::Message() << setting << ", round " << round);
    for (const machinery::RankEnd& end : run_once(setting.ranks, seed, options, body)) look(end);
  }
}

}  // namespace hetsort::comm::test
