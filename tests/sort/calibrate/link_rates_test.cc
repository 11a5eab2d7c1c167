// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
//
// Real transfers between ranks of one process, and rates of simulated ones.
#include "sort/calibrate/link_rates.h"

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <limits>
#include <stdexcept>
#include <thread>
#include <vector>

#include "tests/machinery/in_process.h"
#include "tests/sort/inputs.h"

namespace hetsort::sort::test {
namespace {

TEST(TransferFlows, arrive_at_once_and_are_timed_by_their_receivers) {
  const std::vector<Flow> flows{{0, 1, 3'000'000}, {1, 0, 1}, {2, 0, std::uint64_t{1} << 18}, {0, 3, 700'000}};
  for (const comm::ExchangeMode mode :
       {comm::ExchangeMode::kInline, comm::ExchangeMode::kThread, comm::ExchangeMode::kThreads}) {
    machinery::InProcessOptions options;
    options.communicator.mode = mode;
    machinery::run_ranks(4, test::test_seed(), options, [&](comm::Communicator& ranks) {
      const int tag = ranks.take_tags(2);
      for (int round = 0; round < 3; ++round) {
        const std::vector<FlowTime> times = transfer_flows(ranks, tag, flows).flows;
        ASSERT_EQ(times.size(), flows.size());
        for (std::size_t i = 0; i < flows.size(); ++i) {
          EXPECT_EQ(times[i].all > 0, flows[i].to == ranks.rank()) << i;
          EXPECT_EQ(times[i].half > 0, flows[i].to == ranks.rank()) << i;
          EXPECT_LE(times[i].half, times[i].all) << i;
        }
      }
    });
  }
}

TEST(TransferFlows, do_not_fill_the_memory_of_a_slow_receiver) {
  machinery::InProcessOptions options;
  options.longest_delay_microseconds = 3000;
  options.rendezvous = 0;  // all messages leave at once
  std::atomic<const comm::Communicator*> sender{nullptr};
  std::int64_t most_behind = 0;
  machinery::run_ranks(2, test::test_seed(), options, [&](comm::Communicator& ranks) {
    const int tag = ranks.take_tags(2);
    if (ranks.rank() == 0) sender = &ranks;
    ranks.barrier();
    std::atomic<bool> is_over{false};
    std::thread watch([&] {
      while (ranks.rank() == 1 && !is_over) {
        // A message is counted as sent once that is complete, which may be after its arrival.
        const auto received = static_cast<std::int64_t>(ranks.bytes_received());
        most_behind = std::max(most_behind, static_cast<std::int64_t>(sender.load()->bytes_sent()) - received);
        std::this_thread::sleep_for(std::chrono::microseconds(100));
      }
    });
    transfer_flows(ranks, tag, {{0, 1, 8'000'000}});
    is_over = true;
    watch.join();
    ranks.barrier();
  });
  // `received` is read first, so that a message more may have come and gone meanwhile.
  EXPECT_GT(most_behind, 0);
  EXPECT_LT(most_behind, std::int64_t{2} << 20);
}

/// Every transfer takes the seconds that seconds_of() says, however many bytes it has.
class FixedBench final : public sort::Bench {
 public:
  explicit FixedBench(int rank) : rank_(rank) {}

  static double seconds_of(const Flow& flow) { return 1 + flow.from + 100.0 * flow.to; }

  std::vector<double> transfer(const std::vector<Flow>& flows) override {
    std::vector<double> seconds;
    for (const Flow& flow : flows) seconds.push_back(flow.to == rank_ ? seconds_of(flow) : 0);
    return seconds;
  }
  double now_seconds() override { return 0; }
  double job_start_seconds() override { return 0; }
  DiskRates measure_disk(double) override { return {}; }
  SortTimes sort_alone(std::uint64_t) override { return {}; }
  SortTimes sort_together(const std::vector<std::uint64_t>&, const std::vector<std::uint64_t>&, bool) override {
    return {};
  }

 private:
  int rank_;
};

TEST(MeasureLinks, exchanges_one_number_for_each_pair_of_many_ranks) {
  constexpr int kRanks = 40;
  constexpr double kFirstBytes = 1 << 18;
  machinery::run_ranks(kRanks, test_seed(), {}, [](comm::Communicator& ranks) {
    FixedBench bench(ranks.rank());
    const std::uint64_t before = ranks.bytes_received();
    const LinkRates rates = measure_links(bench, 1e-3, ranks);
    // Each pair is measured alone, then twice among the flows from its host, to it, and of all hosts. Lists have their
    // length beside their numbers. A rank may receive numbers twice: from some ranks, and of all ranks.
    constexpr std::uint64_t kNumbers = std::uint64_t{kRanks} * kRanks * 2 * (1 + 2 * 3);
    EXPECT_LE(ranks.bytes_received() - before, 2 * kNumbers * sizeof(double));
    for (int from = 0; from < kRanks; ++from)
      for (int to = 0; to < kRanks; ++to)
        EXPECT_EQ(rates.between[static_cast<std::size_t>(from)][static_cast<std::size_t>(to)],
                  from == to ? 0 : kFirstBytes / FixedBench::seconds_of({from, to, 0}));
  });
}

TEST(SecondsOfFlows, are_those_that_the_receivers_report) {
  const std::vector<Flow> flows{{0, 2, 1}, {1, 0, 1}, {1, 2, 1}, {2, 1, 1}, {0, 1, 1}};
  EXPECT_EQ(seconds_of_flows(flows, {{5}, {1, 2}, {3, 4}}), (std::vector<double>{3, 5, 4, 1, 2}));
  EXPECT_TRUE(seconds_of_flows({}, {{}, {}}).empty());
  // No transfer takes no time.
  EXPECT_EQ(seconds_of_flows({flows.data() + 1, 1}, {{0}, {}, {}}), std::vector<double>{1e-9});
  const double bad = std::numeric_limits<double>::quiet_NaN();
  EXPECT_EQ(seconds_of_flows({flows.data() + 1, 1}, {{bad}, {}, {}}), std::vector<double>{1e-9});
}

TEST(SecondsOfFlows, are_refused_if_a_rank_reports_more_or_fewer_than_it_received) {
  const std::vector<Flow> flows{{0, 1, 1}, {1, 0, 1}};
  EXPECT_NO_THROW(seconds_of_flows(flows, {{1}, {1}}));
  EXPECT_THROW(seconds_of_flows(flows, {{1}, {}}), std::runtime_error);
  EXPECT_THROW(seconds_of_flows(flows, {{1, 1}, {}}), std::runtime_error);
  EXPECT_THROW(seconds_of_flows(flows, {{1}, {1, 1}}), std::runtime_error);
}

}  // namespace
}  // namespace hetsort::sort::test
