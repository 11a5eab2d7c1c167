// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
#include "io/temp/spill.h"

#include <thread>

#include "io/error.h"
#include "tests/io/scratch.h"

namespace hetsort::io::test {
namespace {

using test::bytes_of;
using test::Faults;
using test::message_of;
using test::Scratch;

constexpr std::uint64_t kSpillBlock = 4096;

TEST(SpillSpace, blocks_take_turns_among_the_directories_and_no_two_share_a_place) {
  const Scratch one;
  const Scratch two;
  SpillSpace space({one.path(), two.path()}, kSpillBlock, false);
  std::set<std::pair<const File*, std::uint64_t>> places;
  std::set<const File*> files;
  for (int i = 0; i < 10; ++i) {
    const SpillPlace place = space.place(space.take());
    places.emplace(place.file, place.offset_bytes);
    files.insert(place.file);
    EXPECT_LT(place.offset_bytes, 5 * kSpillBlock);
  }
  EXPECT_EQ(places.size(), 10U);
  EXPECT_EQ(files.size(), 2U);
}

TEST(SpillSpace, released_blocks_are_used_again_first) {
  const Scratch scratch;
  SpillSpace space({scratch.path()}, kSpillBlock, false);
  for (int i = 0; i < 3; ++i) space.take();
  space.release(1);
  EXPECT_EQ(space.take(), 1U);
  EXPECT_EQ(space.take(), 3U);
}

TEST(SpillSpace, what_is_written_to_a_block_is_read_from_it_and_has_no_name) {
  const Scratch scratch;
  SpillSpace space({scratch.path()}, kSpillBlock, false);
  const SpillPlace place = space.place(space.take());
  place.file->write_at(bytes_of("block"), place.offset_bytes);
  std::string text(5, ' ');
  place.file->read_at(std::as_writable_bytes(std::span(text)), place.offset_bytes);
  EXPECT_EQ(text, "block");
  EXPECT_TRUE(scratch.names().empty());
}

TEST(SpillSpace, direct_space_is_reserved_and_a_full_disk_shows_at_once) {
  const Scratch scratch;
  SpillSpace space({scratch.path()}, kSpillBlock, true);
  const Faults faults("allocate:1+:ENOSPC");
  const std::string message = message_of<Error>([&] { space.reserve(100); });
  EXPECT_EQ(message.empty(), !space.direct()) << message;
  EXPECT_EQ(message.find("No space left on device") == std::string::npos, !space.direct()) << message;
}

TEST(SpillSpace, a_missing_directory_is_an_error_that_names_it) {
  const Scratch scratch;
  EXPECT_EQ(message_of<Error>([&] {
              SpillSpace({scratch.path(), scratch / "none"}, kSpillBlock, true);
            }),
            "create a file in " + scratch / "none" + ": No such file or directory");
}

TEST(SpillSpace, threads_never_get_the_same_block) {
  const Scratch scratch;
  SpillSpace space({scratch.path()}, kSpillBlock, false);
  std::vector<std::vector<std::uint64_t>> taken(4);
  std::vector<std::thread> threads;
  for (auto& blocks : taken) {
    threads.emplace_back([&] {
      for (int i = 0; i < 500; ++i) {
        blocks.push_back(space.take());
        if (i % 3 == 0) {
          space.release(blocks.back());
          blocks.pop_back();
        }
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  std::set<std::uint64_t> all;
  std::size_t count = 0;
  for (const auto& blocks : taken) {
    all.insert(blocks.begin(), blocks.end());
    count += blocks.size();
  }
  EXPECT_EQ(all.size(), count);
}

}  // namespace
}  // namespace hetsort::io::test
