// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
#include "sort/machine/warm_memory.h"

#include <random>

#include "tests/io/scratch.h"

namespace hetsort::sort::test {
namespace {

using io::test::Scratch;
using io::test::write_all;

bool reports_with(const std::string& text) {
  const Scratch scratch;
  const std::string folder = scratch / "sys/module/page_reporting/parameters";
  std::filesystem::create_directories(folder);
  write_all(folder + "/page_reporting_order", text);
  return reports_free_pages({scratch / "proc", scratch.path()});
}

TEST(WarmMemory, a_machine_that_reports_free_pages_is_recognized) {
  EXPECT_TRUE(reports_with("9\n"));
  EXPECT_TRUE(reports_with("0\n"));
  EXPECT_TRUE(reports_with("10\n"));
  // Reporting is off: the value is the largest order plus one, or the largest number.
  EXPECT_FALSE(reports_with("11\n"));
  EXPECT_FALSE(reports_with("4294967295\n"));
  EXPECT_FALSE(reports_with("-1\n"));
  EXPECT_FALSE(reports_with("many\n"));
  EXPECT_FALSE(reports_with(""));
  const Scratch scratch;
  EXPECT_FALSE(reports_free_pages({scratch / "proc", scratch.path()}));
}

TEST(WarmMemory, what_was_never_freed_is_not_waited_for) {
  WarmMemory memory(true);
  memory.keep(1 << 20);
  EXPECT_EQ(memory.wait_seconds(1000, 60), 0);
}

TEST(WarmMemory, nothing_waits_where_free_pages_are_not_reported) {
  WarmMemory memory(false);
  memory.keep(3 << 20);
  memory.release(1000);
  memory.work_ended(1000.5);
  memory.keep(0);
  EXPECT_EQ(memory.wait_seconds(1001, 60), 0);
}

TEST(WarmMemory, short_work_waits_only_when_the_next_report_is_near) {
  WarmMemory memory(true);
  memory.release(1000);
  memory.work_ended(1000.5);
  EXPECT_EQ(memory.wait_seconds(1000.75, 0.5), 0);
  EXPECT_NEAR(memory.wait_seconds(1001.75, 0.5), 0.55, 1e-9);
  EXPECT_EQ(memory.wait_seconds(1002.5, 0.5), 0);
}

TEST(WarmMemory, what_long_work_freed_after_the_moment_brings_the_next_one) {
  WarmMemory memory(true);
  memory.release(1000);
  memory.work_ended(1003);
  EXPECT_NEAR(memory.wait_seconds(1003.5, 3), 1.8, 1e-9);
}

/// Simulates Linux: the host reclaims all pages that are free at the moment of a report.
class FreePageReports {
 public:
  void freed(double now) {
    if (now >= at_) at_ = now + 2;
  }
  /// Whether a report falls into work that began at `begin` and took `seconds`.
  bool met(double begin, double seconds) const { return at_ > begin && at_ < begin + seconds; }

 private:
  double at_ = 0;
};

TEST(WarmMemory, no_work_of_up_to_two_seconds_meets_the_moment_whatever_its_rhythm) {
  std::mt19937_64 random(1);  // always the same numbers
  const auto between = [&](double low, double high) {
    return std::uniform_real_distribution<double>(low, high)(random);
  };
  for (int time = 0; time < 300; ++time) {
    WarmMemory memory(true);
    FreePageReports reports;
    double clock = 1000;
    double waited = 0;
    const double longest = between(0.05, 1.9);
    const double begin = clock;
    constexpr int kTimes = 40;
    for (int i = 0; i < kTimes; ++i) {
      clock += between(0.01, 0.4);  // memory is touched
      const double wait = memory.wait_seconds(clock, longest);
      ASSERT_GE(wait, 0);
      ASSERT_LE(wait, 2.3);
      waited += wait;
      clock += wait;
      memory.release(clock);
      reports.freed(clock);
      const double work = between(0.9, 1) * longest;
      EXPECT_FALSE(reports.met(clock, work)) << "work " << i << " of " << longest << " s at " << clock;
      clock += work;
      memory.work_ended(clock);
      reports.freed(clock);
    }
    // Short work does not wait each time.
    if (longest < 0.3) {
      EXPECT_LT(waited, (clock - begin) / 2);
    }
  }
}

}  // namespace
}  // namespace hetsort::sort::test
