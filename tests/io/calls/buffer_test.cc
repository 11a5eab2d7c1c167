// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
#include "io/calls/buffer.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <limits>
#include <new>
#include <utility>
#include <vector>

namespace hetsort::io::test {
namespace {

std::uintptr_t place(const Buffer& buffer) { return reinterpret_cast<std::uintptr_t>(buffer.data()); }

TEST(Buffer, is_aligned_for_direct_transfers_and_zeroed_at_any_size) {
  for (const std::size_t bytes : {1, 99, 4096, 4097, 2'097'151, 2'097'152, 5'000'000}) {
    const Buffer buffer(bytes);
    EXPECT_EQ(buffer.size_bytes(), bytes);
    EXPECT_EQ(buffer.span().size(), bytes);
    EXPECT_EQ(place(buffer) % Buffer::kAlignmentBytes, 0U);
    EXPECT_EQ(std::count(buffer.span().begin(), buffer.span().end(), std::byte{0}), static_cast<long>(bytes));
    std::fill(buffer.data(), buffer.data() + Buffer::rounded(bytes), std::byte{1});  // the rounding is usable, too
  }
}

TEST(Buffer, big_ones_begin_on_a_huge_page) {
  std::vector<Buffer> buffers;
  for (std::size_t i = 0; i < 20; ++i) {
    buffers.emplace_back(Buffer::kHugePageBytes + i * 12'345);
    EXPECT_EQ(place(buffers.back()) % Buffer::kHugePageBytes, 0U);
  }
}

TEST(Buffer, keeps_its_contents_while_it_grows) {
  Buffer buffer;
  std::size_t before = 0;
  for (const std::size_t bytes : {10, 4096, 5000, 2'000'000, 2'097'152, 9'000'000, 100}) {
    buffer.grow(bytes);
    EXPECT_EQ(buffer.size_bytes(), std::max(bytes, before));
    EXPECT_EQ(std::count(buffer.data(), buffer.data() + before, std::byte{7}), static_cast<long>(before)) << bytes;
    before = buffer.size_bytes();
    std::fill(buffer.data(), buffer.data() + before, std::byte{7});
  }
}

TEST(Buffer, gives_whole_pages_of_a_part_back) {
  Buffer buffer(5 * Buffer::kAlignmentBytes);
  std::fill(buffer.data(), buffer.data() + buffer.size_bytes(), std::byte{7});
  discard_pages(buffer.span().subspan(1, 3 * Buffer::kAlignmentBytes));
  EXPECT_EQ(std::count(buffer.span().begin(), buffer.span().end(), std::byte{0}), 2 * Buffer::kAlignmentBytes);
  EXPECT_EQ(buffer.data()[Buffer::kAlignmentBytes - 1], std::byte{7});
  discard_pages({});
}

TEST(Buffer, none_and_nothing_are_empty) {
  EXPECT_EQ(Buffer().data(), nullptr);
  EXPECT_EQ(Buffer(0).size_bytes(), 0U);
  EXPECT_TRUE(Buffer(0).span().empty());
}

TEST(Buffer, moves_leave_the_source_empty) {
  Buffer first(5000);
  first.data()[4999] = std::byte{7};
  Buffer second(std::move(first));
  EXPECT_EQ(first.data(), nullptr);  // NOLINT(bugprone-use-after-move): that is what is shown
  Buffer third(10);
  third = std::move(second);
  EXPECT_EQ(third.size_bytes(), 5000U);
  EXPECT_EQ(third.data()[4999], std::byte{7});
  EXPECT_EQ(second.size_bytes(), 0U);  // NOLINT(bugprone-use-after-move)
}

TEST(Buffer, what_cannot_be_had_is_bad_alloc) {
  EXPECT_THROW(Buffer(std::size_t{1} << 60), std::bad_alloc);
  EXPECT_THROW(Buffer{~std::size_t{0}}, std::bad_alloc);
}

}  // namespace
}  // namespace hetsort::io::test
