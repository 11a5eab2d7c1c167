// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
#include "sort/model/wait_profile.h"

#include <gtest/gtest.h>

#include <chrono>
#include <numeric>
#include <thread>

#include "sort/model/monitor.h"

namespace hetsort::sort::test {
namespace {

double length_of(const std::vector<WaitSpan>& spans) {
  return std::accumulate(spans.begin(), spans.end(), 0.0,
                         [](double sum, const WaitSpan& span) { return sum + span.part * (span.end - span.begin); });
}

TEST(WaitProfile, shows_when_a_rank_waited) {
  WaitProfile waits(10);
  waits.add(8, 9, 1, 3);  // before the phase
  waits.add(12, 16, 1, -1);
  waits.add(16, 20, 0.5, 2);
  EXPECT_DOUBLE_EQ(waits.seconds(), 6);
  const std::vector<WaitSpan> spans = waits.spans(30);
  ASSERT_EQ(spans.size(), 2U);
  EXPECT_DOUBLE_EQ(spans[0].begin, 12);
  EXPECT_DOUBLE_EQ(spans[0].end, 16);
  EXPECT_DOUBLE_EQ(spans[0].part, 1);
  EXPECT_DOUBLE_EQ(spans[1].end, 20);
  EXPECT_DOUBLE_EQ(spans[1].part, 0.5);
  ASSERT_EQ(waits.ranks().size(), 1U);
  EXPECT_EQ(waits.ranks()[0].rank, 2);
  EXPECT_DOUBLE_EQ(waits.ranks()[0].seconds, 2);
}

TEST(WaitProfile, keeps_its_size_however_long_a_phase_is) {
  WaitProfile waits(0);
  for (int second = 0; second < 100'000; second += 2) waits.add(second, second + 1, 1, second % 14);
  EXPECT_NEAR(waits.seconds(), 50'000, 1e-6);
  const std::vector<WaitSpan> spans = waits.spans(100'000);
  EXPECT_LE(spans.size(), 32U);
  EXPECT_NEAR(length_of(spans), 50'000, 3'000);
  EXPECT_EQ(waits.ranks().size(), WaitProfile::kMaxRanks);
}

constexpr auto kWait = std::chrono::milliseconds(2);

void wait_as(Monitor& monitor, std::size_t thread, Monitor::Role role) {
  const Monitor::Activity activity(monitor, thread, "works", role);
  const Monitor::Wait wait("waits", 5);
  std::this_thread::sleep_for(kWait);
}

TEST(Monitor, a_worker_that_waits_for_a_rank_does_not_work) {
  Monitor monitor;
  monitor.begin_phase("one");
  wait_as(monitor, 0, Monitor::Role::kWorker);
  monitor.begin_phase("two");
  {
    const Monitor::Activity activity(monitor, 0, "works");
    const Monitor::Wait wait("waits for its disk");
    std::this_thread::sleep_for(kWait);
  }
  monitor.end_phases();
  const std::vector<PhaseTime> phases = monitor.phases();
  ASSERT_EQ(phases[0].waited_for.size(), 1U);
  EXPECT_EQ(phases[0].waited_for[0].rank, 5);
  EXPECT_GE(phases[0].waited_for[0].seconds, 0.002);
  EXPECT_LE(phases[0].worked_seconds, phases[0].end - phases[0].begin - 0.002);
  EXPECT_TRUE(phases[1].waits.empty());
  EXPECT_DOUBLE_EQ(phases[1].worked_seconds, phases[1].end - phases[1].begin);
}

TEST(Monitor, a_thread_beside_the_workers_waits_for_the_rank_once_they_have_ended) {
  Monitor monitor;
  monitor.begin_phase("one");
  {
    const Monitor::Activity worker(monitor, 0, "works");
    std::thread([&] { wait_as(monitor, 1, Monitor::Role::kBeside); }).join();
  }
  monitor.begin_phase("two");
  wait_as(monitor, 1, Monitor::Role::kBeside);
  monitor.end_phases();
  EXPECT_TRUE(monitor.phases()[0].waits.empty());
  EXPECT_FALSE(monitor.phases()[1].waits.empty());
}

TEST(Monitor, a_rank_works_at_least_as_long_as_its_processors_need) {
  Monitor monitor;
  monitor.set_processors(1e-9);
  monitor.begin_phase("one");
  wait_as(monitor, 0, Monitor::Role::kWorker);
  monitor.end_phases();
  const PhaseTime phase = monitor.phases().front();
  EXPECT_FALSE(phase.waits.empty());
  EXPECT_DOUBLE_EQ(phase.worked_seconds, phase.end - phase.begin);
}

}  // namespace
}  // namespace hetsort::sort::test
