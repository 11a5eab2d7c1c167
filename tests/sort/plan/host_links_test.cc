// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
#include "sort/plan/host_links.h"

#include <gtest/gtest.h>

#include <limits>

#include "comm/in_process.h"
#include "tests/sort/inputs.h"

namespace hetsort::sort::test {
namespace {

using Hosts = std::vector<std::size_t>;

/// The transfers of all rounds between ranks on hosts of their own.
std::vector<RoundRates> transfers(const std::vector<int>& distances, const std::vector<HostLink>& links) {
  std::vector<RoundRates> rates(links.size());
  for (std::size_t rank = 0; rank < links.size(); ++rank)
    for (const int distance : distances) {
      const std::size_t from = (rank + links.size() - static_cast<std::size_t>(distance)) % links.size();
      rates[rank].push_back(std::min(links[from].out, links[rank].in));
    }
  return rates;
}

TEST(HostLinks, are_as_fast_as_their_fastest_round) {
  const std::vector<HostLink> links{{1000, 1000}, {1000, 250}, {250, 250}, {250, 1000}};
  const std::vector<int> all{1, 2, 3};
  EXPECT_EQ(host_links(all, Hosts{0, 1, 2, 3}, transfers(all, links)), links);
}

TEST(HostLinks, add_up_the_transfers_of_the_ranks_of_a_host) {
  // Ranks 0 and 1 on host 0. Only at distance 2 do both of them send to the other host and receive from it.
  const std::vector<int> all{1, 2, 3};
  const std::vector<RoundRates> measured{{90, 50, 0}, {0, 50, 90}, {90, 40, 0}, {0, 40, 80}};
  const std::vector<HostLink> links = host_links(all, Hosts{0, 0, 1, 1}, measured);
  ASSERT_EQ(links.size(), 4U);
  EXPECT_EQ(links[0], links[1]);
  EXPECT_EQ(links[2], links[3]);
  EXPECT_DOUBLE_EQ(links[0].in, 95);  // 100 in, and 90 of the other host: links of one kind
  EXPECT_DOUBLE_EQ(links[0].out, 95);
}

TEST(HostLinks, of_one_kind_have_one_rate) {
  const std::vector<int> one{1};
  const std::vector<RoundRates> measured{{95}, {400}, {110}, {101}, {410}};
  const std::vector<HostLink> links = host_links(one, Hosts{0, 1, 2, 3, 4}, measured);
  for (const std::size_t rank : {0U, 2U, 3U}) EXPECT_DOUBLE_EQ(links[rank].in, 102);
  for (const std::size_t rank : {1U, 4U}) EXPECT_DOUBLE_EQ(links[rank].in, 405);
  EXPECT_DOUBLE_EQ(links[0].out, 405);  // into rank 1
}

TEST(HostLinks, without_a_measurement_get_the_median_of_the_others) {
  const std::vector<int> one{1};
  const std::vector<HostLink> links =
      host_links(one, Hosts{0, 1, 2, 3}, std::vector<RoundRates>{{0}, {100}, {200}, {400}});
  EXPECT_EQ(links[0].in, 200);
  EXPECT_EQ(links[3].out, 200);  // into rank 0
}

TEST(HostLinks, are_unknown_if_no_transfer_was_measured) {
  EXPECT_TRUE(host_links(std::vector<int>{1}, Hosts{0, 1}, std::vector<RoundRates>{{0}, {0}}).empty());
  EXPECT_TRUE(host_links(std::vector<int>{1}, Hosts{0, 0}, std::vector<RoundRates>{{5}, {5}}).empty());
  EXPECT_TRUE(host_links({}, {}, {}).empty());
}

TEST(HostLinks, far_from_all_others_are_limited) {
  const std::vector<HostLink> links =
      host_links(std::vector<int>{1}, Hosts{0, 1, 2}, std::vector<RoundRates>{{100}, {100}, {1}});
  EXPECT_EQ(links[2].in, 100.0 / 16);
  EXPECT_EQ(links[1].out, 100.0 / 16);
}

/// How a job of two ranks ends in which rank 1 reports `rates`.
std::string outcome_of_rates(const RoundRates& rates) {
  const ProbePlan plan{.distances = {1}, .messages = 16};
  std::string conclusion;
  for (const comm::RankEnd& end : comm::try_ranks(2, test_seed(), {}, [&](comm::Communicator& ranks) {
         const auto links = gather_links(plan, ranks.rank() == 1 ? rates : RoundRates{100}, 7, ranks);
         ASSERT_TRUE(links);
         EXPECT_EQ(links->input, (std::vector<std::uint64_t>{7, 7}));
         EXPECT_EQ(links->host, (Hosts{0, 1}));
       }))
    conclusion = end.conclusion;
  return conclusion;
}

TEST(GatheredLinks, are_those_of_all_ranks) {
  EXPECT_EQ(outcome_of_rates({100}), "");
  EXPECT_EQ(outcome_of_rates({0}), "");
}

TEST(GatheredLinks, with_impossible_rates_are_refused) {
  for (const double rate : {std::numeric_limits<double>::quiet_NaN(), std::numeric_limits<double>::infinity(), -1.0,
                            1e-300, 1e300, std::numeric_limits<double>::denorm_min()})
    EXPECT_NE(outcome_of_rates({rate}).find("an impossible rate of its link"), std::string::npos) << rate;
  EXPECT_NE(outcome_of_rates({}).find("another number of rounds"), std::string::npos);
  EXPECT_NE(outcome_of_rates({1, 1}).find("another number of rounds"), std::string::npos);
}

}  // namespace
}  // namespace hetsort::sort::test
