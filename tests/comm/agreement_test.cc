// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
#include "comm/agreement.h"

#include <map>

#include "tests/comm/harness.h"

namespace hetsort::comm::test {

namespace {

using CommAgreement = CommSuite;
INSTANTIATE_TEST_SUITE_P(All, CommAgreement, ::testing::ValuesIn(settings()), setting_name);

/// The error of each rank of this process when settings are compared; empty if they are the same on all ranks.
std::string mismatch(Communicator& ranks, const std::vector<SharedSetting>& settings) {
  try {
    require_same_on_all_ranks(ranks, settings);
  } catch (const JobMismatch& error) {
    return error.what();
  }
  return {};
}

TEST_P(CommAgreement, the_same_settings_pass_in_any_order) {
  on_ranks(GetParam(), [](Communicator& ranks) {
    const std::vector<SharedSetting> one{{"--trace", "t.json"}, {"--dry-run", ""}};
    const std::vector<SharedSetting> two{{"--dry-run", ""}, {"--trace", "t.json"}};
    EXPECT_EQ(mismatch(ranks, ranks.rank() % 2 == 0 ? one : two), "");
    EXPECT_EQ(mismatch(ranks, {}), "");
  });
}

TEST_P(CommAgreement, all_ranks_report_what_differs_with_both_values) {
  if (GetParam().ranks == 1) return;
  on_ranks(GetParam(), [](Communicator& ranks) {
    const bool last = ranks.rank() == ranks.size() - 1;
    std::vector<SharedSetting> mine{{"--strategy", last ? "equal" : "lambert"}, {"input", "in"}};
    mine.push_back({last ? "--trace" : "--dry-run", last ? "t.json" : ""});
    const int rank = ranks.size() - 1;
    EXPECT_EQ(mismatch(ranks, mine),
              "the ranks were started differently: rank " + std::to_string(rank) + " (" + ranks.host(rank) +
                  ") has no --dry-run, --strategy equal, --trace t.json; rank 0 (" + ranks.host(0) +
                  ") has --dry-run, --strategy lambert, no --trace; start all ranks with the same options");
    EXPECT_FALSE(ranks.failed());
  });
}

TEST_P(CommAgreement, the_first_of_several_ranks_that_differ_is_named) {
  if (GetParam().ranks < 3) return;
  on_ranks(GetParam(), [](Communicator& ranks) {
    const std::string text = mismatch(ranks, {{"--threads", std::to_string(ranks.rank())}});
    EXPECT_NE(text.find("rank 1 (" + ranks.host(1) + ") has --threads 1; rank 0"), std::string::npos) << text;
    EXPECT_NE(text.find("(" + std::to_string(ranks.size() - 1) + " ranks differ from rank 0)"), std::string::npos);
  });
}

TEST_P(CommAgreement, long_values_are_shown_where_they_differ) {
  if (GetParam().ranks == 1) return;
  on_ranks(GetParam(), [](Communicator& ranks) {
    const std::string name = ranks.rank() == 0 ? "ONE" : "TWO";
    const std::string text =
        mismatch(ranks, {{"inputs", std::string(100'000, 'a') + name + std::string(100'000, 'b')}});
    EXPECT_NE(text.find("ONE"), std::string::npos);
    EXPECT_NE(text.find("TWO"), std::string::npos);
    EXPECT_LT(text.size(), 400);
  });
}

TEST(CommAgreementOfModes, ranks_with_different_exchange_modes_are_compared) {
  const auto job = machinery::make_in_process_job(3, test_seed(), {});
  std::vector<std::thread> threads;
  std::vector<std::string> found(job.size());
  for (std::size_t rank = 0; rank < job.size(); ++rank)
    threads.emplace_back([&, rank] {
      CommunicatorOptions options;
      options.mode = static_cast<ExchangeMode>(rank);
      Communicator ranks(job[rank], options);
      found[rank] = mismatch(ranks, {{"--exchange", name_of(options.mode)}});
      EXPECT_EQ(ranks.conclude(), "");
    });
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(found[0],
            "the ranks were started differently: rank 1 (node1) has --exchange thread; rank 0 (node0) has --exchange "
            "inline (2 ranks differ from rank 0); start all ranks with the same options");
  EXPECT_EQ(found[1], found[0]);
  EXPECT_EQ(found[2], found[0]);
}

}  // namespace

}  // namespace hetsort::comm::test
