// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
#include "io/checksum/checksum.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>
#include <xxhash.h>

#include <algorithm>

#include "io/checksum/fingerprint_kernels.h"
#include "tests/io/scratch.h"

namespace hetsort::io::test {
namespace {

using test::bytes_of;
using test::random_bytes;

TEST(Crc32, known_answers) {
  EXPECT_EQ(crc32(bytes_of("123456789")), 0xCBF43926U);
  EXPECT_EQ(crc32({}), 0U);
  EXPECT_EQ(crc32(bytes_of("The quick brown fox jumps over the lazy dog")), 0x414FA339U);
}

TEST(Crc32c, known_answers) {
  EXPECT_EQ(crc32c(bytes_of("123456789")), 0xE3069283U);
  EXPECT_EQ(crc32c({}), 0U);
  EXPECT_EQ(crc32c(std::vector<std::byte>(32)), 0x8A9136AAU);                   // RFC 3720, B.4
  EXPECT_EQ(crc32c(std::vector<std::byte>(32, std::byte{0xFF})), 0x62A8AB43U);  // the same
}

RC_GTEST_PROP(Crc, continues_where_it_stopped, ()) {
  const auto bytes = random_bytes(*rc::gen::inRange(0, 5000), *rc::gen::arbitrary<std::uint32_t>());
  const std::span<const std::byte> all(bytes);
  const std::size_t cut = *rc::gen::inRange<std::size_t>(0, bytes.size() + 1);
  RC_ASSERT(crc32(all.subspan(cut), crc32(all.first(cut))) == crc32(all));
  RC_ASSERT(crc32c(all.subspan(cut), crc32c(all.first(cut))) == crc32c(all));
}

TEST(Crc, every_flipped_bit_of_a_block_shows) {
  std::vector<std::byte> block = random_bytes(4096, 1);
  const std::uint32_t whole = crc32c(block);
  for (std::size_t bit = 0; bit < block.size() * 8; ++bit) {
    block[bit / 8] ^= static_cast<std::byte>(1U << (bit % 8));
    ASSERT_NE(crc32c(block), whole) << "bit " << bit;
    block[bit / 8] ^= static_cast<std::byte>(1U << (bit % 8));
  }
}

/// By the library's function, record by record.
std::uint64_t slowly(std::span<const std::byte> records, std::size_t record_bytes) {
  std::uint64_t sum = 0;
  for (; !records.empty(); records = records.subspan(record_bytes)) sum += XXH3_64bits(records.data(), record_bytes);
  return sum;
}

TEST(Fingerprint, known_answers) {
  EXPECT_EQ(fingerprint({}, 100), 0U);
  // XXH3-64 without a seed, of one record: from the library's command-line tool.
  EXPECT_EQ(fingerprint(bytes_of("a"), 1), 0xE6C632B61E964E1FU);
  EXPECT_EQ(fingerprint(bytes_of("aa"), 1), 2 * 0xE6C632B61E964E1FU);
  EXPECT_EQ(fingerprint(bytes_of("abc"), 3), 0x78AF5F94892F3950U);
}

TEST(Fingerprint, equals_the_sum_of_the_librarys_hashes_for_every_record_size) {
  const std::vector<std::byte> bytes = random_bytes(40'000, 2);
  for (std::size_t record_bytes = 1; record_bytes <= 600; ++record_bytes) {
    for (const std::size_t count : {0, 1, 2, 7, 8, 9, 31, 64}) {
      const auto records = std::span(bytes).first(count * record_bytes);
      ASSERT_EQ(fingerprint(records, record_bytes), slowly(records, record_bytes))
          << count << " records of " << record_bytes << " bytes";
    }
  }
}

TEST(Fingerprint, every_way_gives_the_same_sum) {
  const std::vector<std::byte> bytes = random_bytes(100 * 1003, 3);
  const std::uint64_t expected = slowly(bytes, 100);
  EXPECT_EQ(plain_fingerprint(bytes.data(), 1003, 100), expected);
  EXPECT_EQ(plain_fingerprint_of_benchmark_records(bytes.data(), 1003), expected);
  if (wide_fingerprint_serves(100)) {
    EXPECT_EQ(wide_fingerprint(bytes.data(), 1003, 100), expected);
  }
}

RC_GTEST_PROP(Fingerprint, order_does_not_matter_and_parts_add_up, ()) {
  const std::size_t record_bytes = *rc::gen::inRange<std::size_t>(1, 130);
  const std::size_t count = *rc::gen::inRange<std::size_t>(1, 60);
  const auto bytes = random_bytes(count * record_bytes, *rc::gen::arbitrary<std::uint32_t>());
  std::vector<std::byte> reversed;
  for (std::size_t i = count; i > 0; --i)
    reversed.insert(reversed.end(), bytes.begin() + static_cast<std::ptrdiff_t>((i - 1) * record_bytes),
                    bytes.begin() + static_cast<std::ptrdiff_t>(i * record_bytes));
  const std::span<const std::byte> all(bytes);
  const std::size_t cut = *rc::gen::inRange<std::size_t>(0, count + 1) * record_bytes;
  RC_ASSERT(fingerprint(reversed, record_bytes) == fingerprint(all, record_bytes));
  RC_ASSERT(fingerprint(all.first(cut), record_bytes) + fingerprint(all.subspan(cut), record_bytes) ==
            fingerprint(all, record_bytes));
}

TEST(Fingerprint, a_record_dropped_and_another_doubled_shows) {
  std::vector<std::byte> bytes = random_bytes(100 * 50, 4);
  const std::uint64_t whole = fingerprint(bytes, 100);
  std::copy_n(bytes.begin(), 100, bytes.begin() + 100);
  EXPECT_NE(fingerprint(bytes, 100), whole);
}

TEST(Fingerprint, reads_nothing_beyond_the_records) {
  for (const std::size_t record_bytes : {1, 96, 97, 100, 128, 129, 300}) {
    const std::vector<std::byte> exact = random_bytes(9 * record_bytes, 5);  // watched by AddressSanitizer
    EXPECT_EQ(fingerprint(exact, record_bytes), slowly(exact, record_bytes));
  }
}

}  // namespace
}  // namespace hetsort::io::test
