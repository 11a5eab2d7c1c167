// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
#include "io/compression/pieces.h"

#include <gtest/gtest.h>

#include <random>
#include <string>
#include <vector>

#include "tests/seeds.h"

namespace hetsort::io::test {
namespace {

using hetsort::test::seed_note;
using hetsort::test::test_seed;

/// Bytes that shrink at the front; further parts of them may be random.
std::vector<std::byte> some_bytes(std::size_t count, std::mt19937_64& random) {
  std::vector<std::byte> bytes(count);
  unsigned kinds = 2;
  for (std::size_t at = 0; at < count; ++at) {
    if (at > kPieceBytes && random() % 50'000 == 0) kinds = 1U << random() % 9;
    bytes[at] = static_cast<std::byte>(random() % kinds);
  }
  return bytes;
}

class Pieces : public testing::TestWithParam<std::string> {
 protected:
  const Compression format_ = GetParam() == "zstd" ? Compression::kZstd : Compression::kLz4;
};

TEST_P(Pieces, come_back_whole_and_one_by_one) {
  SCOPED_TRACE(seed_note());
  std::mt19937_64 random(test_seed());
  PiecePacker packer(format_);
  PieceUnpacker unpacker;
  for (int round = 0; round < 40; ++round) {
    const std::size_t count = round < 4 ? kPieceBytes * (1 + round / 2) + round % 2 : 1 + random() % 700'000;
    const std::vector<std::byte> block = some_bytes(count, random);
    std::vector<std::byte> packed = block;
    const PackedPieces pieces = packer.pack(packed);
    ASSERT_TRUE(pieces.exist() || count < 1000) << count;
    if (!pieces.exist()) continue;
    ASSERT_EQ(pieces.ends.size(), (count + kPieceBytes - 1) / kPieceBytes);
    // One more byte than the block: a compressed block is read to the end of its memory.
    std::vector<std::byte> memory(count + 1);
    const std::size_t at = memory.size() - pieces.bytes();
    std::copy_n(packed.begin(), pieces.bytes(), memory.begin() + static_cast<std::ptrdiff_t>(at));
    ASSERT_TRUE(unpacker.unpack_block(pieces, memory.data(), at));
    memory.pop_back();
    ASSERT_TRUE(memory == block) << count;
    const std::size_t piece = random() % pieces.ends.size();
    std::vector<std::byte> one(pieces.piece_bytes(piece));
    const std::span<const std::byte> from(packed.data() + pieces.begin(piece), packed.data() + pieces.ends[piece]);
    ASSERT_TRUE(unpacker.unpack(pieces, piece, from, one.data()));
    ASSERT_TRUE(std::equal(one.begin(), one.end(), block.begin() + static_cast<std::ptrdiff_t>(piece * kPieceBytes)));
  }
}

TEST_P(Pieces, that_are_damaged_do_no_harm) {
  SCOPED_TRACE(seed_note());
  std::mt19937_64 random(test_seed());
  const std::vector<std::byte> block = some_bytes(300'000, random);
  std::vector<std::byte> packed = block;
  const PackedPieces pieces = PiecePacker(format_).pack(packed);
  ASSERT_TRUE(pieces.exist());
  PieceUnpacker unpacker;
  for (int round = 0; round < 200; ++round) {
    std::vector<std::byte> memory(block.size());
    const std::size_t at = memory.size() - pieces.bytes();
    std::copy_n(packed.begin(), pieces.bytes(), memory.begin() + static_cast<std::ptrdiff_t>(at));
    for (int change = 0; change < 3; ++change)
      memory[at + random() % pieces.bytes()] ^= static_cast<std::byte>(1U << random() % 8);
    // What is damaged and does not show here shows in the checksum of the block.
    unpacker.unpack_block(pieces, memory.data(), at);
  }
  std::vector<std::byte> one(kPieceBytes);
  EXPECT_FALSE(unpacker.unpack(pieces, 0, std::span(packed).first(pieces.ends[0] - 1), one.data()));
  EXPECT_FALSE(unpacker.unpack(pieces, 0, std::span(packed).first(kPieceBytes + 1), one.data()));
}

INSTANTIATE_TEST_SUITE_P(Formats, Pieces, testing::Values("zstd", "lz4"),
                         [](const auto& format) { return format.param; });

}  // namespace
}  // namespace hetsort::io::test
