// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
#include "sort/machine/energy.h"

#include <gtest/gtest.h>

#include <filesystem>

#include "tests/io/scratch.h"

namespace hetsort::sort::test {
namespace {

class Energy : public ::testing::Test {
 protected:
  void counter(const std::string& name, const std::string& what, std::uint64_t energy) {
    std::filesystem::create_directories(scratch_ / name);
    io::test::write_all(scratch_ / (name + "/name"), what + "\n");
    io::test::write_all(scratch_ / (name + "/energy_uj"), std::to_string(energy) + "\n");
    io::test::write_all(scratch_ / (name + "/max_energy_range_uj"), "9000000\n");
  }
  io::test::Scratch scratch_;
};

TEST_F(Energy, is_the_sum_of_packages_and_memory_across_an_overflow) {
  counter("intel-rapl:0", "package-0", 1'000'000);
  counter("intel-rapl:0:0", "core", 1'000'000);
  counter("intel-rapl:0:1", "dram", 8'000'000);
  counter("intel-rapl:1", "psys", 0);
  const EnergyMeter meter(scratch_.path());
  counter("intel-rapl:0", "package-0", 3'500'000);
  counter("intel-rapl:0:0", "core", 2'000'000);
  counter("intel-rapl:0:1", "dram", 500'000);
  counter("intel-rapl:1", "psys", 7'000'000);
  ASSERT_TRUE(meter.joules());
  EXPECT_DOUBLE_EQ(*meter.joules(), 2.5 + 1.5);
}

TEST_F(Energy, is_not_known_without_counters) {
  EXPECT_FALSE(EnergyMeter(scratch_.path()).joules());
  EXPECT_FALSE(EnergyMeter("/nowhere").joules());
  counter("intel-rapl:0", "package-0", 1);
  const EnergyMeter meter(scratch_.path());
  std::filesystem::remove_all(scratch_ / "intel-rapl:0");
  EXPECT_FALSE(meter.joules());
}

}  // namespace
}  // namespace hetsort::sort::test
