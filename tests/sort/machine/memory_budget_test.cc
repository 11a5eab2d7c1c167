// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
#include "sort/machine/memory_budget.h"

#include <sys/resource.h>

#include "io/calls/buffer.h"
#include "sort/machine/control_group.h"
#include "tests/io/scratch.h"

namespace hetsort::sort::test {
namespace {

using io::test::in_child;
using io::test::Scratch;
using io::test::write_all;

constexpr std::uint64_t kMiB = std::uint64_t{1} << 20;

/// A machine of 1000 MiB, 600 available, as a tree of files.
class Machine {
 public:
  Machine() {
    put("proc/meminfo", "MemTotal:        1024000 kB\nMemFree:          102400 kB\nMemAvailable:     614400 kB\n");
    put("proc/self/statm", "100 50 10 5 0 20 0\n");
  }
  void put(const std::string& path, const std::string& text) const {
    std::filesystem::create_directories(std::filesystem::path(scratch_ / path).parent_path());
    write_all(scratch_ / path, text);
  }
  MemoryLimits limits() const { return read_memory_limits({scratch_ / "proc", scratch_.path()}); }

  void version_two(const std::string& group) const {
    put("proc/self/cgroup", "0::" + group + "\n");
    put("proc/self/mountinfo", "30 23 0:26 / /sys/fs/cgroup rw,nosuid shared:4 - cgroup2 cgroup2 rw,nsdelegate\n");
  }
  void version_one(const std::string& group) const {
    put("proc/self/cgroup", "5:devices:/\n4:cpu,memory:" + group + "\n0::/\n");
    put("proc/self/mountinfo",
        "30 23 0:26 / /sys/fs/cgroup/cpu rw - cgroup cgroup rw,cpu\n"
        "31 23 0:27 / /sys/fs/cgroup/memory rw - cgroup cgroup rw,memory\n");
  }

 private:
  Scratch scratch_;
};

TEST(MemoryLimits, without_groups_the_available_memory_binds) {
  const MemoryLimits limits = Machine().limits();
  EXPECT_EQ(limits.total, 1000 * kMiB);
  EXPECT_EQ(limits.available, 600 * kMiB);
  EXPECT_EQ(limits.control_group, std::nullopt);
  EXPECT_EQ(limits.usable(), 600 * kMiB);
  EXPECT_EQ(limits.physical(), 1000 * kMiB);
}

TEST(MemoryLimits, reservable_is_what_the_machine_or_the_address_space_has) {
  MemoryLimits limits{.total = 1000, .available = 10, .control_group = {}, .address_space = {}};
  EXPECT_EQ(limits.reservable(), 1000U);
  limits.control_group = 800;
  EXPECT_EQ(limits.reservable(), 800U);
  limits.address_space = 400;
  EXPECT_EQ(limits.reservable(), 300U);
}

TEST(MemoryLimits, the_page_cache_of_a_control_group_has_the_quarter_beside_the_default_budget) {
  MemoryLimits limits{.total = 1000, .available = 10, .control_group = {}, .address_space = {}};
  EXPECT_EQ(limits.cacheable_bytes(), std::numeric_limits<std::uint64_t>::max());
  limits.control_group = 800;
  EXPECT_EQ(limits.cacheable_bytes(), 200U);
}

TEST(MemoryLimits, version_two_takes_the_smallest_on_the_way_up) {
  Machine machine;
  machine.version_two("/slice/service/leaf");
  machine.put("sys/fs/cgroup/slice/service/leaf/memory.max", "max\n");
  machine.put("sys/fs/cgroup/slice/service/memory.max", "524288000\n");
  machine.put("sys/fs/cgroup/slice/memory.max", "209715200\n");
  const MemoryLimits limits = machine.limits();
  EXPECT_EQ(limits.control_group, 200 * kMiB);
  EXPECT_EQ(limits.usable(), 200 * kMiB);
  EXPECT_EQ(limits.physical(), 200 * kMiB);
}

TEST(MemoryLimits, version_two_counts_the_mark_above_which_it_slows_down) {
  Machine machine;
  machine.version_two("/leaf");
  machine.put("sys/fs/cgroup/leaf/memory.max", "524288000\n");
  machine.put("sys/fs/cgroup/leaf/memory.high", "314572800\n");
  EXPECT_EQ(machine.limits().control_group, 300 * kMiB);
}

TEST(MemoryLimits, version_two_without_any_limit_limits_nothing) {
  Machine machine;
  machine.version_two("/leaf");
  machine.put("sys/fs/cgroup/leaf/memory.max", "max\n");
  EXPECT_EQ(machine.limits().control_group, std::nullopt);
}

TEST(MemoryLimits, a_container_that_sees_its_group_as_the_root_finds_its_limit) {
  Machine machine;
  machine.version_two("/");
  machine.put("sys/fs/cgroup/memory.max", "104857600\n");
  EXPECT_EQ(machine.limits().control_group, 100 * kMiB);
}

TEST(MemoryLimits, version_one_takes_the_smallest_on_the_way_up) {
  Machine machine;
  machine.version_one("/docker/abc");
  machine.put("sys/fs/cgroup/memory/docker/abc/memory.limit_in_bytes", "9223372036854771712\n");
  machine.put("sys/fs/cgroup/memory/docker/memory.limit_in_bytes", "419430400\n");
  machine.put("sys/fs/cgroup/memory/memory.limit_in_bytes", "9223372036854771712\n");
  EXPECT_EQ(machine.limits().control_group, 400 * kMiB);
}

TEST(MemoryLimits, version_one_without_any_limit_limits_nothing) {
  Machine machine;
  machine.version_one("/");
  machine.put("sys/fs/cgroup/memory/memory.limit_in_bytes", "9223372036854771712\n");
  EXPECT_EQ(machine.limits().control_group, std::nullopt);
}

TEST(MemoryLimits, version_one_counts_limits_of_groups_above_what_is_seen) {
  Machine machine;
  machine.version_one("/");
  machine.put("sys/fs/cgroup/memory/memory.limit_in_bytes", "9223372036854771712\n");
  machine.put("sys/fs/cgroup/memory/memory.stat", "cache 1\nhierarchical_memory_limit 157286400\nrss 5\n");
  EXPECT_EQ(machine.limits().control_group, 150 * kMiB);
}

TEST(MemoryLimits, a_mount_of_a_part_of_the_hierarchy_is_matched_by_its_root) {
  Machine machine;
  machine.put("proc/self/cgroup", "4:memory:/docker/abc/inner\n");
  machine.put("proc/self/mountinfo", "31 23 0:27 /docker/abc /mnt/my\\040groups rw - cgroup cgroup rw,memory\n");
  machine.put("mnt/my groups/inner/memory.limit_in_bytes", "419430400\n");
  machine.put("mnt/my groups/memory.limit_in_bytes", "314572800\n");
  EXPECT_EQ(machine.limits().control_group, 300 * kMiB);
}

TEST(MemoryLimits, both_versions_side_by_side_count_both) {
  Machine machine;
  machine.put("proc/self/cgroup", "4:memory:/one\n0::/two\n");
  machine.put("proc/self/mountinfo",
              "31 23 0:27 / /m1 rw - cgroup cgroup rw,memory\n32 23 0:28 / /m2 rw - cgroup2 cgroup2 rw\n");
  machine.put("m1/one/memory.limit_in_bytes", "419430400\n");
  machine.put("m2/two/memory.max", "314572800\n");
  EXPECT_EQ(machine.limits().control_group, 300 * kMiB);
}

TEST(MemoryLimits, nonsense_and_missing_files_limit_nothing) {
  Machine machine;
  machine.put("proc/self/cgroup", "no colons\n:\n::\n0::/../../elsewhere\n7:memory\n");
  machine.put("proc/self/mountinfo", "\nshort\n - \n30 23 0:26 / /sys/fs/cgroup rw - cgroup2\n");
  machine.put("sys/fs/cgroup/memory.max", "12 apples\n");
  machine.put("proc/meminfo", "MemTotal: many kB\nMemAvailable\n");
  const MemoryLimits limits = machine.limits();
  EXPECT_EQ(limits.control_group, std::nullopt);
  EXPECT_GT(limits.total, 0U);
  EXPECT_EQ(limits.available, limits.total);
  const MemoryLimits nothing = read_memory_limits({"/nonexistent", "/nonexistent"});
  EXPECT_EQ(nothing.usable(), nothing.total);
}

TEST(MemoryLimits, old_kernels_estimate_what_is_available) {
  Machine machine;
  machine.put("proc/meminfo", "MemTotal: 1024000 kB\nMemFree: 102400 kB\nBuffers: 1 kB\nCached: 204800 kB\n");
  EXPECT_EQ(machine.limits().available, 300 * kMiB);
}

TEST(MemoryLimits, the_address_space_limit_counts_less_what_is_mapped) {
  // Sanitizers map up to all of the 128 TiB that there are and must go on mapping, so what is mapped comes from the
  // fixture, 100 pages, and the limit, 1 PiB, stops nobody.
  EXPECT_EQ(in_child([] {
              Machine machine;
              const rlimit limit{std::uint64_t{1} << 50, RLIM_INFINITY};
              machine.put("proc/meminfo", "MemTotal: 4398046511104 kB\nMemAvailable: 4398046511104 kB\n");
              if (::setrlimit(RLIMIT_AS, &limit) != 0) return 1;
              const MemoryLimits limits = machine.limits();
              const auto page = static_cast<std::uint64_t>(::sysconf(_SC_PAGESIZE));
              if (limits.address_space != limit.rlim_cur - 100 * page) return 2;
              return limits.usable() == limits.address_space ? 0 : 3;
            }),
            0);
}

TEST(MemoryLimits, this_machines_are_plausible) {
  const MemoryLimits limits = read_memory_limits();
  EXPECT_GT(limits.usable(), 0U);
  EXPECT_LE(limits.usable(), limits.total);
  EXPECT_LE(limits.physical(), limits.total);
}

TEST(ControlGroup, limits_as_the_kernel_writes_them) {
  EXPECT_EQ(parse_memory_limit("max\n"), std::nullopt);
  EXPECT_EQ(parse_memory_limit("9223372036854771712\n"), std::nullopt);
  EXPECT_EQ(parse_memory_limit("18446744073709551615"), std::nullopt);
  EXPECT_EQ(parse_memory_limit("99999999999999999999999"), std::nullopt);
  EXPECT_EQ(parse_memory_limit("-1"), std::nullopt);
  EXPECT_EQ(parse_memory_limit(""), std::nullopt);
  EXPECT_EQ(parse_memory_limit("0\n"), 0U);
  EXPECT_EQ(parse_memory_limit("4096"), 4096U);
}

TEST(PeakRss, grows_with_touched_memory) {
  const std::uint64_t before = peak_rss_bytes();
  const io::Buffer buffer(64 * kMiB);
  std::fill(buffer.span().begin(), buffer.span().end(), std::byte{1});
  EXPECT_GE(peak_rss_bytes(), 64 * kMiB);
  EXPECT_GE(peak_rss_bytes(), before);
}

}  // namespace
}  // namespace hetsort::sort::test
