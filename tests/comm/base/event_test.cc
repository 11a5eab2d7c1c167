// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
#include "comm/base/event.h"

#include <gtest/gtest.h>

#include <memory>
#include <thread>

namespace hetsort::comm::test {

namespace {

constexpr std::chrono::hours kLong{1};

TEST(Event, a_signal_ends_a_sleep_with_and_without_a_bell) {
  for (const bool has_bell : {false, true}) {
    Event event;
    if (has_bell) event.open_bell();
    event.signal();
    EXPECT_FALSE(event.sleep(kLong)) << has_bell;
    std::thread other([&event] {
      std::this_thread::sleep_for(std::chrono::milliseconds(10));
      event.signal();
    });
    EXPECT_FALSE(event.sleep(kLong)) << has_bell;
    other.join();
  }
}

TEST(Event, a_ring_ends_a_sleep_and_is_known_as_one) {
  Event one;
  Event other;
  one.open_bell();
  other.open_bell();
  ASSERT_NE(one.bell().place, 0U);
  EXPECT_EQ(one.bell().place, other.bell().place);
  EXPECT_NE(one.bell().number, other.bell().number);
  other.ring(one.bell());
  EXPECT_TRUE(one.sleep(kLong));
  std::thread thread([&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
    other.ring(one.bell());
  });
  EXPECT_TRUE(one.sleep(kLong));
  thread.join();
  EXPECT_FALSE(one.sleep(std::chrono::milliseconds(1)));
}

TEST(Event, a_ring_is_seen_beside_signals) {
  Event one;
  Event other;
  one.open_bell();
  other.open_bell();
  one.signal();
  other.ring(one.bell());
  one.signal();
  EXPECT_TRUE(one.sleep(kLong));
}

TEST(Event, rings_for_a_thread_that_does_not_sleep_or_has_ended_do_not_wait) {
  auto one = std::make_unique<Event>();
  Event other;
  one->open_bell();
  other.open_bell();
  const BellAddress bell = one->bell();
  for (int i = 0; i < 1000; ++i) other.ring(bell);
  EXPECT_TRUE(one->sleep(kLong));
  one.reset();
  other.ring(bell);
  Event without;
  without.ring(other.bell());
  EXPECT_FALSE(other.sleep(std::chrono::milliseconds(1)));
}

TEST(Backoff, pauses_grow_with_the_wait_between_the_limits) {
  using std::chrono::milliseconds;
  Backoff backoff;
  const Backoff::Limits limits{milliseconds(2), milliseconds(20), 1};
  for (const int expected : {2, 2, 4, 8, 16, 20, 20}) EXPECT_EQ(backoff.next(limits), milliseconds(expected));
  backoff.reset();
  EXPECT_EQ(backoff.next(limits), milliseconds(2));
}

}  // namespace

}  // namespace hetsort::comm::test
