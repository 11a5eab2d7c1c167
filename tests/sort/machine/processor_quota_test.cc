// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
#include "sort/machine/processor_quota.h"

#include <unistd.h>

#include "tests/io/scratch.h"

namespace hetsort::sort::test {
namespace {

using io::test::Scratch;
using io::test::write_all;

/// What a kernel with both versions shows to a process in /a/b of either.
class Kernel {
 public:
  Kernel() {
    put("proc/self/cgroup", "3:memory:/elsewhere\n2:cpu,cpuacct:/a/b\n0::/a/b\n");
    put("proc/self/mountinfo",
        "31 23 0:27 / /one rw - cgroup cgroup rw,cpu,cpuacct\n32 23 0:28 / /two rw - cgroup2 cgroup2 rw\n"
        "33 23 0:29 / /memory rw - cgroup cgroup rw,memory\n");
  }
  void put(const std::string& path, const std::string& text) const {
    std::filesystem::create_directories(std::filesystem::path(scratch_ / path).parent_path());
    write_all(scratch_ / path, text);
  }
  double stolen() const { return stolen_seconds({scratch_ / "proc", scratch_.path()}); }
  double throttled() const { return throttled_seconds({scratch_ / "proc", scratch_.path()}); }
  std::optional<ProcessorQuota> quota() const { return read_processor_quota({scratch_ / "proc", scratch_.path()}); }

 private:
  Scratch scratch_;
};

void expect_quota(const Kernel& kernel, double processors, double period_seconds) {
  const std::optional<ProcessorQuota> quota = kernel.quota();
  ASSERT_TRUE(quota);
  EXPECT_DOUBLE_EQ(quota->processors, processors);
  EXPECT_DOUBLE_EQ(quota->period_seconds, period_seconds);
}

TEST(StolenSeconds, are_the_mean_of_the_processors) {
  const double ticks = static_cast<double>(::sysconf(_SC_CLK_TCK));
  Kernel kernel;
  EXPECT_EQ(kernel.stolen(), 0);
  kernel.put("proc/stat",
             "cpu  9 8 7 6 5 4 3 500 2 1\ncpu0 1 1 1 1 1 1 1 100 0 0\ncpu1 1 1 1 1 1 1 1 400 0 0\nintr 7\n");
  EXPECT_DOUBLE_EQ(kernel.stolen(), 500 / ticks / 2);
  kernel.put("proc/stat", "cpu  9 8 7 6 5 4 3\ncpu0 9 8 7 6 5 4 3\n");
  EXPECT_EQ(kernel.stolen(), 0);
  EXPECT_GE(stolen_seconds(), 0);
}

TEST(ThrottledSeconds, are_those_of_all_groups_in_both_versions) {
  Kernel kernel;
  EXPECT_EQ(kernel.throttled(), 0);
  kernel.put("two/a/b/cpu.stat", "usage_usec 9\nnr_periods 5\nnr_throttled 4\nthrottled_usec 1500000\n");
  kernel.put("one/a/cpu.stat", "nr_periods 5\nnr_throttled 4\nthrottled_time 250000000\n");
  EXPECT_DOUBLE_EQ(kernel.throttled(), 1.75);
  kernel.put("two/a/b/cpu.stat", "throttled_usec much\n");
  EXPECT_DOUBLE_EQ(kernel.throttled(), 0.25);
  EXPECT_GE(throttled_seconds(), 0);
}

TEST(ProcessorQuota, is_none_where_nothing_limits) {
  Kernel kernel;
  EXPECT_FALSE(kernel.quota());
  kernel.put("two/a/b/cpu.max", "max 100000\n");
  kernel.put("one/a/b/cpu.cfs_quota_us", "-1\n");
  kernel.put("one/a/b/cpu.cfs_period_us", "100000\n");
  EXPECT_FALSE(kernel.quota());
}

TEST(ProcessorQuota, of_version_two_is_read) {
  Kernel kernel;
  kernel.put("two/a/b/cpu.max", "150000 100000\n");
  expect_quota(kernel, 1.5, 0.1);
}

TEST(ProcessorQuota, of_version_one_is_read) {
  Kernel kernel;
  kernel.put("one/a/b/cpu.cfs_quota_us", "3330\n");
  kernel.put("one/a/b/cpu.cfs_period_us", "10000\n");
  expect_quota(kernel, 0.333, 0.01);
}

TEST(ProcessorQuota, is_that_of_the_group_with_the_fewest_processors) {
  Kernel kernel;
  kernel.put("two/a/b/cpu.max", "200000 100000\n");
  kernel.put("two/a/cpu.max", "50000 200000\n");
  kernel.put("two/cpu.max", "max 100000\n");
  expect_quota(kernel, 0.25, 0.2);
}

TEST(ProcessorQuota, nonsense_limits_nothing) {
  for (const char* const text : {"", "many", "100000", "0 100000", "100000 0", "-5 100000"}) {
    Kernel kernel;
    kernel.put("two/a/b/cpu.max", text);
    EXPECT_FALSE(kernel.quota()) << text;
  }
  EXPECT_FALSE(read_processor_quota({"/nonexistent", "/nonexistent"}));
}

TEST(ProcessorSeconds, grow_with_what_the_process_does) {
  const double before = processor_seconds();
  while (processor_seconds() < before + 0.01) continue;
  EXPECT_GT(before, 0);
}

}  // namespace
}  // namespace hetsort::sort::test
