// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
#include "io/temp/spill_packer.h"

#include <gtest/gtest.h>

#include <random>
#include <vector>

#include "tests/seeds.h"

namespace hetsort::io::test {
namespace {

using hetsort::test::test_seed;

/// The number of blocks, of so many, that are compressed if the disk holds the thread up for `wait` seconds a block.
std::size_t packed_of(SpillPacker& packer, std::size_t blocks, double& waited, double wait) {
  std::size_t packed = 0;
  for (std::size_t at = 0; at < blocks; ++at) {
    std::vector<std::byte> block(4096, std::byte{'x'});
    packed += packer.pack(block, waited).exist() ? 1 : 0;
    waited += wait;
  }
  return packed;
}

TEST(SpillPacker, compresses_as_long_as_the_disk_is_slower) {
  SpillPacker packer(SpillCompression::kAuto);
  double waited = 0;
  EXPECT_EQ(packed_of(packer, 100, waited, 0), 0U);
  EXPECT_GT(packed_of(packer, 100, waited, 10), 80U);
  packed_of(packer, 130, waited, 0);
  EXPECT_EQ(packed_of(packer, 100, waited, 0), 0U);
}

/// The number of blocks, of so many, that are not compressed if the disk holds up those alone.
std::size_t plain_of(SpillPacker& packer, std::size_t blocks) {
  std::size_t plain = 0;
  for (std::size_t at = 0; at < blocks; ++at) {
    std::vector<std::byte> block(4096, std::byte{'x'});
    if (!packer.pack(block, 10.0 * static_cast<double>(plain)).exist()) ++plain;
  }
  return plain;
}

TEST(SpillPacker, looks_less_and_less_often_at_a_disk_that_stays_slow) {
  SpillPacker packer(SpillCompression::kAuto);
  EXPECT_LT(plain_of(packer, 5000), 60U);
}

TEST(SpillPacker, begins_with_what_another_one_has_found_out) {
  SpillPace pace;
  for (const std::size_t plain : {6U, 0U}) {
    SpillPacker packer(SpillCompression::kAuto, &pace);
    EXPECT_EQ(plain_of(packer, 30), plain);
  }
  // Packers of few blocks also find out that the disk has become fast.
  std::size_t packed = 0;
  for (std::size_t run = 0; run < 20; ++run) {
    double waited = 0;
    SpillPacker packer(SpillCompression::kAuto, &pace);
    packed += packed_of(packer, 10, waited, 0);
  }
  EXPECT_LT(packed, 150U);
}

TEST(SpillPacker, leaves_blocks_as_they_are_that_do_not_shrink) {
  SpillPacker packer(SpillCompression::kZstd);
  std::mt19937_64 random(test_seed());
  std::vector<std::byte> block(3 * kPieceBytes + 100);
  for (std::byte& byte : block) byte = static_cast<std::byte>(random());
  const std::vector<std::byte> before = block;
  EXPECT_FALSE(packer.pack(block, 0).exist());
  EXPECT_TRUE(block == before);
}

}  // namespace
}  // namespace hetsort::io::test
