// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
#include "io/shared_buffer.h"

#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <functional>
#include <optional>

namespace hetsort::io::test {
namespace {

constexpr std::size_t kSharedBytes = 10'000;

/// Whether `body` returns true in a child process.
bool is_true_in_child(const std::function<bool()>& body) {
  const pid_t child = ::fork();
  if (child == 0) ::_exit(body() ? 0 : 1);
  int status = 1;
  EXPECT_EQ(::waitpid(child, &status, 0), child);
  return status == 0;
}

TEST(SharedBuffer, another_process_writes_what_this_one_reads) {
  const std::optional<SharedBuffer> mine = SharedBuffer::create(kSharedBytes);
  ASSERT_TRUE(mine);
  EXPECT_EQ(mine->span().size(), kSharedBytes);
  EXPECT_EQ(std::ranges::count(mine->span(), std::byte{0}), static_cast<long>(kSharedBytes));
  EXPECT_TRUE(is_true_in_child([&] {
    const std::optional<SharedBuffer> theirs = SharedBuffer::open(mine->name(), kSharedBytes);
    if (theirs) std::ranges::fill(theirs->span(), std::byte{7});
    return theirs.has_value();
  }));
  EXPECT_EQ(std::ranges::count(mine->span(), std::byte{7}), static_cast<long>(kSharedBytes));
}

TEST(SharedBuffer, stays_mapped_when_its_creator_has_freed_it) {
  std::optional<SharedBuffer> first = SharedBuffer::create(kSharedBytes);
  ASSERT_TRUE(first);
  std::optional<SharedBuffer> second = SharedBuffer::open(first->name(), kSharedBytes);
  ASSERT_TRUE(second);
  std::ranges::fill(first->span(), std::byte{7});
  const SharedBuffer::Name name = first->name();
  first.reset();
  EXPECT_EQ(std::ranges::count(second->span(), std::byte{7}), static_cast<long>(kSharedBytes));
  EXPECT_FALSE(SharedBuffer::open(name, kSharedBytes));
}

TEST(SharedBuffer, nothing_else_is_taken_for_it) {
  const std::optional<SharedBuffer> mine = SharedBuffer::create(kSharedBytes);
  ASSERT_TRUE(mine);
  EXPECT_FALSE(SharedBuffer::open({}, kSharedBytes));
  EXPECT_FALSE(SharedBuffer::open(mine->name(), 2 * kSharedBytes));
  SharedBuffer::Name other = mine->name();
  other.proof[31] ^= 1;
  EXPECT_FALSE(SharedBuffer::open(other, kSharedBytes));
  other = mine->name();
  other.descriptor = 0;
  EXPECT_FALSE(SharedBuffer::open(other, kSharedBytes));
}

TEST(SharedBuffer, none_is_made_or_mapped_where_address_space_is_limited) {
  const std::optional<SharedBuffer> mine = SharedBuffer::create(kSharedBytes);
  ASSERT_TRUE(mine);
  EXPECT_TRUE(is_true_in_child([&] {
    rlimit limit{std::size_t{1} << 40, std::size_t{1} << 40};
    if (::setrlimit(RLIMIT_AS, &limit) != 0 || ::getrlimit(RLIMIT_AS, &limit) != 0) return false;
    const bool is_limited = limit.rlim_cur != RLIM_INFINITY;  // QEMU accepts the limit and does not set it
    return SharedBuffer::create(kSharedBytes).has_value() != is_limited &&
           SharedBuffer::open(mine->name(), kSharedBytes).has_value() != is_limited;
  }));
}

}  // namespace
}  // namespace hetsort::io::test
