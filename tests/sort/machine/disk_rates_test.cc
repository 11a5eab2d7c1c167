// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
#include "sort/machine/disk_rates.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <filesystem>
#include <vector>

#include "tests/io/scratch.h"

namespace hetsort::sort::test {
namespace {

constexpr std::uint64_t kProbeBlock = std::uint64_t{1} << 20;

TEST(DiskRates, are_bytes_by_seconds) {
  const std::vector<double> rates =
      writing_rates(std::vector<ProbeWrites>{{8 * kProbeBlock, 0.08}, {4 * kProbeBlock, 0.1}});
  EXPECT_DOUBLE_EQ(rates[0], 100.0 * kProbeBlock);
  EXPECT_DOUBLE_EQ(rates[1], 40.0 * kProbeBlock);
}

TEST(DiskRates, of_short_probes_are_no_better_than_can_be_told) {
  const std::vector<double> rates = writing_rates(
      std::vector<ProbeWrites>{{8 * kProbeBlock, 0.009}, {8 * kProbeBlock, 0.016}, {4 * kProbeBlock, 0.1}});
  EXPECT_DOUBLE_EQ(rates[0], 400.0 * kProbeBlock);
  EXPECT_DOUBLE_EQ(rates[1], 400.0 * kProbeBlock);
  EXPECT_DOUBLE_EQ(rates[2], 40.0 * kProbeBlock);
}

TEST(DiskRates, are_unknown_if_no_disk_is_known_to_be_slow) {
  const std::vector<double> unknown(2, 0);
  EXPECT_EQ(writing_rates(std::vector<ProbeWrites>{{8 * kProbeBlock, 0.009}, {64 * kProbeBlock, 0.019}}), unknown);
}

TEST(DiskRates, are_unknown_if_a_probe_has_written_too_little) {
  const std::vector<double> unknown(2, 0);
  EXPECT_EQ(writing_rates(std::vector<ProbeWrites>{{8 * kProbeBlock, 0.08}, {3 * kProbeBlock, 0.1}}), unknown);
  EXPECT_EQ(writing_rates(std::vector<ProbeWrites>{{8 * kProbeBlock, 0.08}, {}}), unknown);
  EXPECT_TRUE(writing_rates({}).empty());
}

TEST(DiskRates, a_probe_writes_no_more_than_it_may_and_leaves_nothing) {
  const io::test::Scratch scratch;
  WritingProbe probe(scratch / "", 6 * kProbeBlock + 1);
  const ProbeWrites written = probe.finish();
  EXPECT_LE(written.bytes, 6 * kProbeBlock);
  EXPECT_EQ(written.bytes % kProbeBlock, 0);
  EXPECT_GE(written.seconds, 0);
  EXPECT_TRUE(std::filesystem::is_empty(scratch / ""));
}

TEST(DiskRates, a_probe_that_cannot_write_has_written_nothing) {
  const io::test::Scratch scratch;
  WritingProbe probe(scratch / "missing", 6 * kProbeBlock);
  EXPECT_EQ(probe.finish().bytes, 0);
}

}  // namespace
}  // namespace hetsort::sort::test
