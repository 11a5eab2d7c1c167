// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
#include "gen/checksum/record_checksum.h"

#include <gtest/gtest.h>

#include "tests/gen/support.h"

namespace hetsort::gen::test {
namespace {

using test::bytes_of;
using test::reference_crc;

std::uint64_t bytewise_sum(const std::string& records, std::size_t record_bytes) {
  std::uint64_t total = 0;
  for (std::size_t at = 0; at < records.size(); at += record_bytes)
    total += reference_crc(std::string_view(records).substr(at, record_bytes));
  return total;
}

TEST(RecordChecksum, reference_is_zlibs_crc) { EXPECT_EQ(reference_crc("123456789"), 0xcbf43926U); }

RC_GTEST_PROP(RecordChecksum, every_kernel_equals_the_bytewise_sum, ()) {
  const auto count = *rc::gen::inRange<std::size_t>(0, 40);
  const auto bytes = *rc::gen::container<std::string>(count * kRecordBytes, rc::gen::arbitrary<char>());
  const std::uint64_t expected = bytewise_sum(bytes, kRecordBytes);
  for (const detail::ChecksumKernel kernel : detail::checksum_kernels())
    RC_ASSERT(kernel(bytes_of(bytes).data(), count) == expected);
  RC_ASSERT(record_checksum(bytes_of(bytes)) == expected);
}

TEST(RecordChecksum, every_single_bit_counts) {
  for (std::size_t bit = 0; bit < kRecordBytes * 8; ++bit) {
    std::string record(kRecordBytes, '\0');
    record[bit / 8] = static_cast<char>(1U << bit % 8);
    for (const detail::ChecksumKernel kernel : detail::checksum_kernels())
      ASSERT_EQ(kernel(bytes_of(record).data(), 1), reference_crc(record)) << bit;
  }
}

TEST(RecordChecksum, kernels_read_nothing_behind_the_records) {
  // On the heap, where a sanitizer sees it.
  for (std::size_t count = 1; count <= 9; ++count) {
    const std::vector<std::byte> records(count * kRecordBytes, std::byte{7});
    for (const detail::ChecksumKernel kernel : detail::checksum_kernels())
      EXPECT_EQ(kernel(records.data(), count), count * reference_crc(std::string(kRecordBytes, '\7')));
  }
}

RC_GTEST_PROP(RecordChecksum, records_of_any_size_equal_the_bytewise_sum, ()) {
  const auto record_bytes = *rc::gen::inRange<std::size_t>(1, 300);
  const auto count = *rc::gen::inRange<std::size_t>(0, 10);
  const auto bytes = *rc::gen::container<std::string>(count * record_bytes, rc::gen::arbitrary<char>());
  RC_ASSERT(record_checksum(bytes_of(bytes), record_bytes) == bytewise_sum(bytes, record_bytes));
}

}  // namespace
}  // namespace hetsort::gen::test
